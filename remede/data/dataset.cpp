#include "remede/data/dataset.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include <glob.h>
#include <unistd.h>

#include "remede/base/error.h"
#include "remede/data/csv.h"
#include "remede/data/raw.h"

namespace remede {
namespace {

// Files that match a pattern, in the order of their names' bytes.
std::vector<std::string> matching(const std::string& pattern) {
  glob_t found{};
  const int result = ::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found);
  std::vector<std::string> paths(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  if (result != 0 && result != GLOB_NOMATCH) fail("{}: cannot look for files", pattern);
  std::sort(paths.begin(), paths.end());
  return paths;
}

Dataset for_schema(RawDataset raw, const Schema& schema) {
  return encode(std::move(raw), {schema.inputs, schema.codes});
}

}  // namespace

std::vector<std::string> expand_path(const std::string& path) {
  if (path == "-" || ::access(path.c_str(), F_OK) == 0) return {path};
  std::vector<std::string> paths;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(',', begin), path.size());
    const std::string part = path.substr(begin, end - begin);
    begin = end + 1;
    if (part.find_first_of("*?[") == std::string::npos || ::access(part.c_str(), F_OK) == 0) {
      if (!part.empty()) paths.push_back(part);
      continue;
    }
    const std::vector<std::string> some = matching(part);
    if (some.empty()) fail("{}: expected files of that pattern, got none", part);
    paths.insert(paths.end(), some.begin(), some.end());
  }
  return paths.empty() ? std::vector<std::string>{path} : paths;
}

std::vector<TableSource> open_files(const std::string& path) {
  std::vector<TableSource> files;
  // Opened when they are read: a process may hold only so many files.
  for (const std::string& one : expand_path(path)) {
    if (files.empty() || one == "-") {
      files.emplace_back(open_bytes(one));
      continue;
    }
    ByteSource later;
    later.name = one;
    later.read = [one, source = ByteSource()](char* to, std::size_t room) mutable {
      if (!source.read) source = open_bytes(one);
      return source.read(to, room);
    };
    files.emplace_back(std::move(later));
  }
  return files;
}

Dataset read_dataset(const std::string& path, const Roles& roles) {
  RawDataset raw = read_raw(open_files(path), roles);
  const Code code = learn_code(raw);
  return encode(std::move(raw), code);
}

Dataset read_dataset(const std::string& path, const Schema& schema, const Roles& roles, bool need_target) {
  return for_schema(read_raw(open_files(path), schema, roles, need_target), schema);
}

Dataset read_dataset(ByteSource source, const Roles& roles) {
  std::vector<TableSource> files;
  files.emplace_back(std::move(source));
  RawDataset raw = read_raw(std::move(files), roles);
  const Code code = learn_code(raw);
  return encode(std::move(raw), code);
}

Dataset read_dataset(ByteSource source, const Schema& schema, const Roles& roles, bool need_target) {
  std::vector<TableSource> files;
  files.emplace_back(std::move(source));
  return for_schema(read_raw(std::move(files), schema, roles, need_target), schema);
}

void write_dataset(const std::string& path, const Dataset& data) {
  const Schema& schema = data.schema;
  const Sequences& sequences = data.sequences;
  const bool with_id = !data.ids.empty();
  const bool with_time = !data.times.empty();
  CsvWriter csv(path);
  if (with_id) csv.text(schema.id);
  if (with_time) csv.text(schema.time);
  for (const std::string& name : schema.inputs) csv.text(name);
  if (sequences.has_targets())
    for (const std::string& name : schema.targets) csv.text(name);
  csv.end_row();
  const auto n_x = static_cast<std::size_t>(sequences.n_x);
  const auto write_targets = [&](std::size_t step) {
    const bool there = sequences.weight[step] > 0.0F;
    if (schema.task == Task::kClassification) {
      csv.text(there ? schema.classes[static_cast<std::size_t>(sequences.label[step])] : "");
      return;
    }
    const std::size_t n_y = schema.targets.size();
    for (std::size_t k = 0; k < n_y; ++k)
      csv.number(there ? sequences.value[step * n_y + k] : std::numeric_limits<float>::quiet_NaN());
  };
  for (std::size_t s = 0; s < sequences.count(); ++s)
    for (auto step = static_cast<std::size_t>(sequences.offset[s]);
         step < static_cast<std::size_t>(sequences.offset[s + 1]); ++step) {
      if (with_id) csv.text(data.ids[s]);
      if (with_time) csv.text(data.times[step]);
      for (std::size_t k = 0; k < n_x; ++k) csv.number(sequences.x[step * n_x + k]);
      if (sequences.has_targets()) write_targets(step);
      csv.end_row();
    }
  csv.commit();
}

}  // namespace remede
