#include "cli/train_data.h"

#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "cli/common.h"
#include "cli/files.h"
#include "remede/data/parts.h"
#include "remede/data/raw.h"
#include "remede/train/prepare.h"

namespace remede {
namespace {

Dataset read_parts_or_all(const TrainFlags& flags, const Config& config, std::optional<Dataset>& validation) {
  if (!flags.split.empty()) {
    Parts parts = read_parts(flags.data, flags.roles, flags.split, validation_fraction(config),
                             static_cast<std::uint64_t>(config.seed));
    if (config.validation_fraction && !parts.by_share)
      throw UsageError(
          fmt::format("train: --validation-fraction has no effect here: column '{}' says which rows are for validation",
                      flags.split));
    validation = std::move(parts.validation);
    return std::move(parts.training);
  }
  Dataset training = encode_for_fit(read_raw(open_files(flags.data), flags.roles), !flags.validation.empty(), config);
  if (!flags.validation.empty()) validation = read_dataset(flags.validation, training.schema, flags.roles, true);
  return training;
}

}  // namespace

std::optional<double> test_share(const TrainFlags& flags) {
  double share = 0;
  const char* const end = flags.test.data() + flags.test.size();
  const auto [at, error] = std::from_chars(flags.test.data(), end, share);
  if (flags.test.empty() || error != std::errc() || at != end) return std::nullopt;
  if (!(share > 0 && share < 1))
    throw UsageError(fmt::format("train: --test: expected a file or a share between 0 and 1, got '{}'", flags.test));
  return share;
}

Dataset read_training(const TrainFlags& flags, const Config& config, std::optional<Dataset>& validation,
                      std::optional<Dataset>& test) {
  if (const std::optional<double> share = test_share(flags)) {
    if (!flags.split.empty())
      throw UsageError("train: --test with a share cannot be combined with --split; give the test data as a file");
    TestParts parts =
        hold_out_test(read_raw(open_files(flags.data), flags.roles), *share, static_cast<std::uint64_t>(config.seed));
    Dataset training = encode_for_fit(std::move(parts.training), !flags.validation.empty(), config);
    if (!flags.validation.empty()) validation = read_dataset(flags.validation, training.schema, flags.roles, true);
    test = encode(std::move(parts.test), {training.schema.inputs, training.schema.codes});
    return training;
  }
  Dataset training = read_parts_or_all(flags, config, validation);
  if (!flags.test.empty()) test = read_dataset(flags.test, training.schema, flags.roles, true);
  return training;
}

Dataset read_test_beside(const TrainFlags& flags, const Dataset& sample, std::optional<Dataset>& test) {
  if (!flags.test.empty()) test = read_dataset(flags.test, sample.schema, flags.roles, true);
  return sample;
}

Dataset read_for_start(const TrainFlags& flags, const Model& start, std::optional<Dataset>& validation,
                       std::optional<Dataset>& test) {
  if (test_share(flags))
    throw UsageError("train: --test with a share cannot be combined with --start-from; give the test data as a file");
  const auto read = [&](const std::string& path) { return read_dataset(path, start.schema, flags.roles, true); };
  if (!flags.validation.empty()) validation = read(flags.validation);
  if (!flags.test.empty()) test = read(flags.test);
  return read(flags.data);
}

}  // namespace remede
