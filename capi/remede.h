/* remede.h: models of remede from C, and from every language that calls C.
 *
 * Handles are opaque. A function that can fail returns a status, REMEDE_OK (0) or an error code, and
 * remede_last_error() then returns a message of one line. If a call fails, nothing is written to its results.
 * A model may be used by any number of threads at once; a stream belongs to one thread at a time. Strings are owned by
 * the library: those of a model live as long as the model, the last error until the next call in the thread.
 *
 * Numbers are float (IEEE 754 binary32); a missing input is NaN. Answers are the same bits as those of the program, the
 * C++ library and the Python package.
 */
#ifndef REMEDE_H
#define REMEDE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Increases when programs compiled with an older header would no longer work; the name of the library then changes. */
#define REMEDE_API_VERSION 1

typedef struct remede_model remede_model;
typedef struct remede_stream remede_stream;

enum {
  REMEDE_OK = 0,
  REMEDE_BAD_ARGUMENT = 1, /* a null pointer, a number out of range */
  REMEDE_BAD_DATA = 2,     /* a file or bytes that cannot be read, or are not what they should be */
  REMEDE_NO_MEMORY = 3,
  REMEDE_INTERNAL_ERROR = 4
};

int remede_api_version(void);        /* of the library; compare it with REMEDE_API_VERSION */
const char* remede_version(void);    /* "0.1.0" */
const char* remede_last_error(void); /* of the last call in this thread that failed; "" before */

/* Models. Free each with remede_model_free(); a stream keeps its model alive. */
int remede_model_load(const char* path, remede_model** model);
int remede_model_parse(const char* json, size_t size, remede_model** model); /* the text of a model file */
void remede_model_free(remede_model* model);                                 /* null is fine */

size_t remede_model_inputs(const remede_model* model);
size_t remede_model_outputs(const remede_model* model);
int remede_model_classifies(const remede_model* model); /* 1: outputs are probabilities of classes; 0: values */
const char* remede_model_input_name(const remede_model* model, size_t input);   /* null if there is none */
const char* remede_model_output_name(const remede_model* model, size_t output); /* the class, or the value */
uint64_t remede_model_checksum(const remede_model* model); /* the same only for models that give the same answers */

/* The value of a word of a categorical column in an input that is made from it; NaN: missing. REMEDE_BAD_ARGUMENT if
 * the input is a number. */
int remede_model_word(const remede_model* model, size_t input, const char* word, float* value);

/* One whole sequence. x: (steps, inputs), y: (steps, outputs). */
int remede_predict(const remede_model* model, const float* x, size_t steps, float* y);

/* Streams: one live sequence each. */
int remede_stream_new(const remede_model* model, remede_stream** stream);
void remede_stream_free(remede_stream* stream);                          /* null is fine */
int remede_stream_step(remede_stream* stream, const float* x, float* y); /* x: (inputs), y: (outputs) */
int remede_stream_reset(remede_stream* stream);                          /* before the first step */

/* The memory of a stream as bytes, which can be restored in a stream of the same model on any machine. */
size_t remede_stream_state_size(const remede_stream* stream);
int remede_stream_save(const remede_stream* stream, void* bytes, size_t size); /* size: as above */
int remede_stream_restore(remede_stream* stream, const void* bytes, size_t size);

#ifdef __cplusplus
}
#endif

#endif
