/* Steps a model through rows of numbers from standard input and prints its answers: ./live model.json < rows.txt
   A row has a number for each input, "nan" where it is missing. See docs/deploy.md for how to build it. */
#include <stdio.h>
#include <stdlib.h>

#include <remede.h>

static int complain(const char* what) {
  fprintf(stderr, "live: %s: %s\n", what, remede_last_error());
  return 1;
}

int main(int argc, char** argv) {
  remede_model* model = NULL;
  remede_stream* stream = NULL;
  if (argc != 2) {
    fprintf(stderr, "usage: live MODEL\n");
    return 2;
  }
  if (remede_model_load(argv[1], &model) != REMEDE_OK) return complain("the model");
  if (remede_stream_new(model, &stream) != REMEDE_OK) return complain("a stream");

  const size_t inputs = remede_model_inputs(model), outputs = remede_model_outputs(model);
  float* const x = malloc((inputs + 1) * sizeof *x);
  float* const y = malloc(outputs * sizeof *y);
  for (size_t o = 0; o < outputs; ++o) printf("%s%s", o == 0 ? "" : ",", remede_model_output_name(model, o));
  printf("\n");
  for (int more = 1; more;) {
    for (size_t i = 0; i < inputs && more; ++i) more = scanf("%f", &x[i]) == 1;
    if (!more) break;
    if (remede_stream_step(stream, x, y) != REMEDE_OK) return complain("a step");
    for (size_t o = 0; o < outputs; ++o) printf("%s%.9g", o == 0 ? "" : ",", (double)y[o]);
    printf("\n");
  }
  free(x);
  free(y);
  remede_stream_free(stream);
  remede_model_free(model);
  return 0;
}
