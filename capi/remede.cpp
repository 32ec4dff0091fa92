// The C interface: translates handles, errors and arrays, and does nothing else.
#include "capi/remede.h"

#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "remede/base/error.h"
#include "remede/model/checksum.h"
#include "remede/model/file.h"
#include "remede/model/predict.h"
#include "remede/schema/words.h"
#include "remede/stream/state.h"
#include "remede/stream/stream.h"

namespace remede::capi {

struct SharedModel {
  Model model;
  std::vector<std::string> outputs;
  std::uint64_t checksum = 0;
};

}  // namespace remede::capi

namespace {

using remede::capi::SharedModel;

thread_local std::string last_error;

int refuse(int status, const char* message) noexcept {
  try {
    last_error = message;
  } catch (...) {
    last_error.clear();
  }
  return status;
}

// Errors of the library as a status.
template <typename Action>
int guarded(const Action& action) noexcept {
  try {
    return action();
  } catch (const remede::Error& error) {
    return refuse(REMEDE_BAD_DATA, error.what());
  } catch (const std::bad_alloc&) {
    return refuse(REMEDE_NO_MEMORY, "not enough memory");
  } catch (const std::exception& error) {
    return refuse(REMEDE_INTERNAL_ERROR, error.what());
  }
}

int null_pointer() { return refuse(REMEDE_BAD_ARGUMENT, "expected a pointer, got null"); }

}  // namespace

struct remede_model {
  std::shared_ptr<const SharedModel> shared;
};

struct remede_stream {
  std::shared_ptr<const SharedModel> shared;
  remede::Stream stream;
};

namespace {

int keep(remede::Model model, remede_model** to) {
  auto shared = std::make_shared<SharedModel>();
  shared->outputs = model.classifies() ? model.schema.classes : model.output_names();
  shared->checksum = remede::checksum(model);
  shared->model = std::move(model);
  *to = new remede_model{std::move(shared)};
  return REMEDE_OK;
}

}  // namespace

int remede_api_version(void) { return REMEDE_API_VERSION; }
const char* remede_version(void) { return REMEDE_VERSION; }
const char* remede_last_error(void) { return last_error.c_str(); }

int remede_model_load(const char* path, remede_model** model) {
  if (path == nullptr || model == nullptr) return null_pointer();
  return guarded([&] { return keep(remede::load_model(path), model); });
}

int remede_model_parse(const char* json, size_t size, remede_model** model) {
  if (json == nullptr || model == nullptr) return null_pointer();
  return guarded([&] { return keep(remede::model_from_json({json, size}, "model"), model); });
}

void remede_model_free(remede_model* model) { delete model; }

size_t remede_model_inputs(const remede_model* model) {
  return model == nullptr ? 0 : model->shared->model.schema.inputs.size();
}
size_t remede_model_outputs(const remede_model* model) { return model == nullptr ? 0 : model->shared->outputs.size(); }
int remede_model_classifies(const remede_model* model) {
  return model != nullptr && model->shared->model.classifies() ? 1 : 0;
}
const char* remede_model_input_name(const remede_model* model, size_t input) {
  return input < remede_model_inputs(model) ? model->shared->model.schema.inputs[input].c_str() : nullptr;
}
const char* remede_model_output_name(const remede_model* model, size_t output) {
  return output < remede_model_outputs(model) ? model->shared->outputs[output].c_str() : nullptr;
}
uint64_t remede_model_checksum(const remede_model* model) { return model == nullptr ? 0 : model->shared->checksum; }

int remede_model_word(const remede_model* model, size_t input, const char* word, float* value) {
  if (model == nullptr || word == nullptr || value == nullptr) return null_pointer();
  return guarded([&] {
    if (input >= remede_model_inputs(model))
      return refuse(REMEDE_BAD_ARGUMENT, "expected the number of an input, got more");
    const remede::Schema& schema = model->shared->model.schema;
    const remede::InputCode* const code = schema.code_of(schema.inputs[input]);
    if (code == nullptr || code->gap)
      return refuse(REMEDE_BAD_ARGUMENT, "expected an input that is made from words, got one of numbers");
    const bool missing = *word == '\0';
    *value = missing ? std::numeric_limits<float>::quiet_NaN()
                     : remede::value_of_word(*code, word).value_or(std::numeric_limits<float>::quiet_NaN());
    return static_cast<int>(REMEDE_OK);
  });
}

int remede_predict(const remede_model* model, const float* x, size_t steps, float* y) {
  if (model == nullptr || y == nullptr || (x == nullptr && steps > 0 && remede_model_inputs(model) > 0))
    return null_pointer();
  return guarded([&] {
    remede::Stream stream(model->shared->model);
    const std::size_t n_x = remede_model_inputs(model), n_y = remede_model_outputs(model);
    for (std::size_t t = 0; t < steps; ++t) {
      const std::span<const float> answer = stream.step({x + t * n_x, n_x});
      std::memcpy(y + t * n_y, answer.data(), n_y * sizeof(float));
    }
    return static_cast<int>(REMEDE_OK);
  });
}

int remede_stream_new(const remede_model* model, remede_stream** stream) {
  if (model == nullptr || stream == nullptr) return null_pointer();
  return guarded([&] {
    *stream = new remede_stream{model->shared, remede::Stream(model->shared->model)};
    return static_cast<int>(REMEDE_OK);
  });
}

void remede_stream_free(remede_stream* stream) { delete stream; }

int remede_stream_step(remede_stream* stream, const float* x, float* y) {
  if (stream == nullptr || y == nullptr) return null_pointer();
  const std::size_t n_x = stream->shared->model.schema.inputs.size();
  if (x == nullptr && n_x > 0) return null_pointer();
  return guarded([&] {
    const std::span<const float> answer = stream->stream.step({x, n_x});
    std::memcpy(y, answer.data(), answer.size() * sizeof(float));
    return static_cast<int>(REMEDE_OK);
  });
}

int remede_stream_reset(remede_stream* stream) {
  if (stream == nullptr) return null_pointer();
  stream->stream.reset();
  return REMEDE_OK;
}

size_t remede_stream_state_size(const remede_stream* stream) {
  return stream == nullptr ? 0 : remede::state_bytes(stream->stream.state(), 0).size();
}

int remede_stream_save(const remede_stream* stream, void* bytes, size_t size) {
  if (stream == nullptr || bytes == nullptr) return null_pointer();
  return guarded([&] {
    const std::string state = remede::state_bytes(stream->stream.state(), stream->shared->checksum);
    if (size < state.size())
      return refuse(REMEDE_BAD_ARGUMENT, "expected room for remede_stream_state_size() bytes, got less");
    std::memcpy(bytes, state.data(), state.size());
    return static_cast<int>(REMEDE_OK);
  });
}

int remede_stream_restore(remede_stream* stream, const void* bytes, size_t size) {
  if (stream == nullptr || bytes == nullptr) return null_pointer();
  return guarded([&] {
    const std::string_view text(static_cast<const char*>(bytes), size);
    stream->stream.set_state(remede::state_from_bytes(text, stream->shared->checksum, stream->stream.state().size()));
    return static_cast<int>(REMEDE_OK);
  });
}
