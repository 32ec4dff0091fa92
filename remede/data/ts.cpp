#include "remede/data/ts.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "remede/base/error.h"
#include "remede/data/number.h"

namespace remede {
namespace {

// Lines of a source, however long.
class Lines {
 public:
  static constexpr std::size_t kMax = std::size_t{1} << 30;

  explicit Lines(ByteSource source) : source_(std::move(source)) {}

  // Without its end. Valid until the next call.
  bool next(std::string_view& line) {
    text_.erase(0, used_);
    used_ = 0;
    std::size_t end = text_.find('\n');
    while (end == std::string::npos) {
      const std::size_t before = text_.size();
      if (before > kMax)
        fail("{}: line {}: expected lines of at most 1 GiB, got a longer one", source_.name, number_ + 1);
      text_.resize(before + kBlock);
      const std::size_t got = source_.read(text_.data() + before, kBlock);
      text_.resize(before + got);
      if (got == 0) {
        if (text_.empty()) return false;
        text_ += '\n';
      }
      end = text_.find('\n', before);
    }
    used_ = end + 1;
    ++number_;
    line = std::string_view(text_).substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    return true;
  }
  std::string where() const { return fmt::format("{}: line {}", source_.name, number_); }

 private:
  static constexpr std::size_t kBlock = std::size_t{1} << 17;
  ByteSource source_;
  std::string text_;
  std::size_t used_ = 0;
  std::uint64_t number_ = 0;
};

std::vector<std::string_view> cut(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

class TsTable {
 public:
  explicit TsTable(ByteSource source) : name_(source.name), lines_(std::move(source)) { read_head(); }

  std::size_t read(char* to, std::size_t room) {
    std::string_view line;
    while (at_ == text_.size()) {
      text_.clear();
      at_ = 0;
      if (!lines_.next(line)) return 0;
      if (!trim(line).empty() && line.front() != '#') add_case(trim(line));
    }
    const std::size_t n = std::min(room, text_.size() - at_);
    std::memcpy(to, text_.data() + at_, n);
    at_ += n;
    return n;
  }

 private:
  void read_head() {
    std::string_view line;
    while (lines_.next(line)) {
      line = trim(line);
      if (line.empty() || line.front() == '#') continue;
      if (line.front() != '@') fail("{}: expected @data before the first case, got {}", lines_.where(), shown(line));
      const std::size_t space = std::min(line.find(' '), line.size());
      const std::string key = lower(line.substr(0, space));
      if (key == "@data") return;
      take(key, trim(line.substr(space)));
    }
    fail("{}: expected @data and cases after it, got the end of the file", name_);
  }

  void take(const std::string& key, std::string_view value) {
    const bool yes = lower(value).starts_with("true");
    if (key == "@timestamps" && yes)
      fail("{}: expected series without time stamps, got @timeStamps true", lines_.where());
    if (key == "@classlabel" && yes) target_ = "class";
    if (key == "@targetlabel" && yes) target_ = "target";
    if (key == "@classlabel" && yes)
      for (const std::string_view label : cut(trim(value.substr(4)), ' '))
        if (!label.empty()) classes_.emplace_back(label);
  }

  void begin(std::size_t channels) {
    channels_ = channels;
    text_ = "id";
    for (std::size_t c = 1; c <= channels; ++c) text_ += fmt::format(",x{}", c);
    if (target_) text_ += "," + *target_;
    text_ += '\n';
  }

  void add_case(std::string_view line) {
    ++case_;
    std::vector<std::string_view> parts = cut(line, ':');
    std::string label;
    if (target_) {
      label = trim(parts.back());
      parts.pop_back();
      if (target_ == "class" && !classes_.empty() && label != "?" &&
          std::find(classes_.begin(), classes_.end(), label) == classes_.end())
        fail("{}: expected one of the classes that @classLabel names, got {}", lines_.where(), shown(label));
    }
    if (!channels_) begin(parts.size());
    if (parts.size() != *channels_)
      fail("{}: expected {} channels as in the first case, got {}", lines_.where(), *channels_, parts.size());
    std::vector<std::vector<std::string_view>> channel;
    for (std::size_t c = 0; c < parts.size(); ++c) {
      channel.push_back(cut(parts[c], ','));
      if (trim(parts[c]).empty()) fail("{}: channel {}: expected at least one value, got none", lines_.where(), c + 1);
      if (channel[c].size() != channel[0].size())
        fail("{}: expected channels of equal length within a case, got {} and {} values", lines_.where(),
             channel[0].size(), channel[c].size());
    }
    add_rows(channel, label);
  }

  void add_rows(const std::vector<std::vector<std::string_view>>& channel, const std::string& label) {
    const std::size_t steps = channel[0].size();
    for (std::size_t t = 0; t < steps; ++t) {
      fmt::format_to(std::back_inserter(text_), "{}", case_);
      for (std::size_t c = 0; c < channel.size(); ++c) {
        double value = 0.0;
        const CellKind kind = parse_cell(channel[c][t], value);
        if (kind == CellKind::kText || (kind == CellKind::kNumber && !std::isfinite(static_cast<float>(value))))
          fail("{}: channel {}, value {}: expected {}, got {}", lines_.where(), c + 1, t + 1, kFittingNumber,
               shown(channel[c][t]));
        text_ += ',';
        text_ += kind == CellKind::kMissing ? "" : channel[c][t];
      }
      if (target_) {
        text_ += ',';
        if (t + 1 == steps) text_ += quoted(label);
      }
      text_ += '\n';
    }
  }

  static std::string quoted(const std::string& label) {
    if (label.find_first_of(",\"") == std::string::npos) return label;
    std::string out = "\"";
    for (const char c : label) out += c == '"' ? "\"\"" : std::string(1, c);
    return out + "\"";
  }

  std::string name_;
  Lines lines_;
  std::optional<std::string> target_;  // name of the target column
  std::vector<std::string> classes_;   // as @classLabel names them
  std::optional<std::size_t> channels_;
  std::uint64_t case_ = 0;
  std::string text_;  // rows not handed out yet, from at_ on
  std::size_t at_ = 0;
};

}  // namespace

bool looks_like_ts(std::string_view head) {
  while (!head.empty()) {
    const std::size_t end = head.find('\n');
    const std::string_view line = trim(head.substr(0, end));
    if (line.starts_with('@')) return true;
    if (!line.empty() && line != "\r" && !line.starts_with('#')) return false;
    if (end == std::string_view::npos) return false;
    head.remove_prefix(end + 1);
  }
  return false;
}

ByteSource ts_as_table(ByteSource source) {
  ByteSource table;
  table.name = source.name;
  const auto made = std::make_shared<TsTable>(std::move(source));
  table.read = [made](char* to, std::size_t room) { return made->read(to, room); };
  return table;
}

}  // namespace remede
