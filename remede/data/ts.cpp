#include "remede/data/ts.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "remede/base/error.h"
#include "remede/base/text.h"
#include "remede/data/csv.h"
#include "remede/data/number.h"

namespace remede {
namespace {

// Lines of a source, however long. Holds the line and one block more.
class Lines {
 public:
  static constexpr std::size_t kMax = std::size_t{1} << 30;

  explicit Lines(ByteSource source) : source_(std::move(source)) {}

  // Without its end. Valid until the next call.
  bool next(std::string_view& line) {
    const char* end = find_end(next_);
    for (std::size_t searched = filled_; end == nullptr; searched = filled_) {
      searched -= make_room();
      const std::size_t got = source_.read(buffer_.data() + filled_, buffer_.size() - filled_);
      filled_ += got;
      if (got == 0 && next_ == filled_) return false;
      if (got == 0) buffer_[filled_++] = '\n';  // the last line may end without one
      end = find_end(searched);
    }
    ++number_;
    line = std::string_view(buffer_.data() + next_, static_cast<std::size_t>(end - buffer_.data()) - next_);
    next_ += line.size() + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    return true;
  }
  std::string where() const { return fmt::format("{}: line {}", source_.name, number_); }

 private:
  static constexpr std::size_t kBlock = std::size_t{1} << 16;

  const char* find_end(std::size_t from) const {
    return from == filled_ ? nullptr
                           : static_cast<const char*>(std::memchr(buffer_.data() + from, '\n', filled_ - from));
  }

  // Room behind what is there, a block at least where it was none: what has been handed out goes, else the buffer
  // grows. Returns how far the text moved.
  std::size_t make_room() {
    if (filled_ < buffer_.size()) return 0;
    const std::size_t moved = next_;
    if (moved > 0) std::memmove(buffer_.data(), buffer_.data() + moved, filled_ - moved);
    filled_ -= moved;
    next_ = 0;
    if (filled_ > kMax)
      fail("{}: line {}: expected lines of at most 1 GiB, got a longer one", source_.name, number_ + 1);
    if (buffer_.size() - filled_ < kBlock) buffer_.resize(std::max(kBlock, 2 * buffer_.size()));
    return moved;
  }

  ByteSource source_;
  std::vector<char> buffer_;
  std::size_t filled_ = 0;
  std::size_t next_ = 0;  // where the next line begins
  std::uint64_t number_ = 0;
};

// Takes the text up to the next `at` off the front, and the `at` as well.
std::string_view take_up_to(std::string_view& text, char at) {
  const std::size_t end = std::min(text.find(at), text.size());
  const std::string_view front = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return front;
}

// The target column of the table.
constexpr std::string_view kClass = "class", kTarget = "target";

// Archives write comments with either sign.
bool is_comment(std::string_view trimmed) {
  return trimmed.empty() || trimmed == "\r" || trimmed.front() == '#' || trimmed.front() == '%';
}

// Holds one line of the file and at most kBatch bytes of rows.
class TsTable {
 public:
  explicit TsTable(ByteSource source) : name_(source.name), lines_(std::move(source)) { read_head(); }

  // What the file says its last value is.
  std::optional<Task> task() const {
    if (!target_) return std::nullopt;
    return *target_ == kClass ? Task::kClassification : Task::kRegression;
  }

  std::size_t read(char* to, std::size_t room) {
    while (at_ == text_.size()) {
      text_.clear();
      at_ = 0;
      if (steps_left_ == 0 && !begin_next_case()) return 0;
      while (steps_left_ > 0 && text_.size() < kBatch) add_row();
    }
    const std::size_t n = std::min(room, text_.size() - at_);
    std::memcpy(to, text_.data() + at_, n);
    at_ += n;
    return n;
  }

 private:
  static constexpr std::size_t kBatch = std::size_t{1} << 16;

  void read_head() {
    std::string_view line;
    while (lines_.next(line)) {
      line = trim(line);
      if (is_comment(line)) continue;
      if (line.front() != '@') fail("{}: expected @data before the first case, got {}", lines_.where(), shown(line));
      const std::size_t space = std::min(line.find_first_of(" \t"), line.size());
      const std::string key = lower(line.substr(0, space));
      if (key == "@data") return;
      take(key, trim(line.substr(space)));
    }
    fail("{}: expected @data and cases after it, got the end of the file", name_);
  }

  void take(const std::string& key, std::string_view value) {
    const bool yes = lower(value.substr(0, 4)) == "true";
    if (key == "@relation" || key == "@attribute")
      fail("{}: expected a .ts or CSV file, got {}, as in an ARFF or .tsf file", lines_.where(), key);
    if (key == "@timestamps" && yes)
      fail("{}: expected series without time stamps, got @timeStamps true", lines_.where());
    if (key == "@classlabel" && yes) target_ = kClass;
    if (key == "@targetlabel" && yes) target_ = kTarget;
    if (key != "@classlabel" || !yes) return;
    for (std::string_view labels = trim(value.substr(4)); !labels.empty();) {
      const std::string_view label = take_up_to(labels, ' ');
      if (!label.empty()) classes_.emplace(label);
    }
  }

  void begin_table(std::size_t channels) {
    if (channels > CsvReader::kMaxColumns)
      fail("{}: expected at most {} channels, got {}", lines_.where(), CsvReader::kMaxColumns, channels);
    text_ = "id";
    for (std::size_t c = 1; c <= channels; ++c) fmt::format_to(std::back_inserter(text_), ",x{}", c);
    if (target_) text_ += "," + *target_;
    text_ += '\n';
  }

  bool begin_next_case() {
    std::string_view line;
    while (lines_.next(line)) {
      line = trim(line);
      if (is_comment(line)) continue;
      begin_case(line);
      return true;
    }
    return false;
  }

  // Cuts the line into channels, and the label behind the last one.
  void begin_case(std::string_view line) {
    case_ = std::to_string(++cases_);
    label_.clear();
    if (target_) {
      const std::size_t colon = line.rfind(':');
      if (colon == std::string_view::npos)
        fail("{}: expected at least one channel and the {} behind it, got {}", lines_.where(), *target_, shown(line));
      label_ = trim(line.substr(colon + 1));
      line = line.substr(0, colon);
      if (target_ == kClass && !classes_.empty() && label_ != "?" && !classes_.contains(label_))
        fail("{}: expected one of the classes that @classLabel names, got {}", lines_.where(), shown(label_));
    }
    const auto channels = static_cast<std::size_t>(std::count(line.begin(), line.end(), ':')) + 1;
    if (cases_ == 1) begin_table(channels);
    if (cases_ > 1 && channels != channel_.size())
      fail("{}: expected {} channels as in the first case, got {}", lines_.where(), channel_.size(), channels);
    channel_.resize(channels);
    for (std::size_t c = 0; c < channels; ++c) {
      channel_[c] = take_up_to(line, ':');
      if (trim(channel_[c]).empty())
        fail("{}: channel {}: expected at least one value, got none", lines_.where(), c + 1);
      const auto steps = static_cast<std::size_t>(std::count(channel_[c].begin(), channel_[c].end(), ',')) + 1;
      if (c > 0 && steps != steps_)
        fail("{}: expected channels of equal length within a case, got {} and {} values", lines_.where(), steps_,
             steps);
      steps_ = steps_left_ = steps;
    }
  }

  void add_row() {
    text_ += case_;
    for (std::size_t c = 0; c < channel_.size(); ++c) {
      const std::string_view cell = take_up_to(channel_[c], ',');
      double value = 0.0;
      const CellKind kind = parse_cell(cell, value);
      if (kind == CellKind::kText || (kind == CellKind::kNumber && !std::isfinite(static_cast<float>(value))))
        fail("{}: channel {}, value {}: expected {}, got {}", lines_.where(), c + 1, steps_ - steps_left_ + 1,
             kFittingNumber, shown(cell));
      text_ += ',';
      if (kind == CellKind::kNumber) text_ += cell;
    }
    --steps_left_;
    if (target_) text_ += ',';
    if (target_ && steps_left_ == 0) add_quoted(label_);
    text_ += '\n';
  }

  void add_quoted(const std::string& label) {
    if (label.find_first_of(",\"") == std::string::npos) {
      text_ += label;
      return;
    }
    text_ += '"';
    for (const char c : label) text_.append(c == '"' ? 2 : 1, c);
    text_ += '"';
  }

  std::string name_;
  Lines lines_;
  std::optional<std::string> target_;        // name of the target column
  std::unordered_set<std::string> classes_;  // as @classLabel names them
  std::uint64_t cases_ = 0;                  // begun so far
  // The current case:
  std::string case_;                       // its number
  std::string label_;                      // its class or value
  std::vector<std::string_view> channel_;  // (channels) the values that are not rows yet
  std::size_t steps_ = 0;
  std::size_t steps_left_ = 0;
  std::string text_;  // rows not handed out yet, from at_ on
  std::size_t at_ = 0;
};

}  // namespace

bool looks_like_ts(std::string_view head) {
  while (!head.empty()) {
    const std::size_t end = head.find('\n');
    const std::string_view line = trim(head.substr(0, end));
    if (line.starts_with('@')) return true;
    if (!is_comment(line)) return false;
    if (end == std::string_view::npos) return false;
    head.remove_prefix(end + 1);
  }
  return false;
}

std::optional<Task> stated_task(const ByteSource& table, const Roles& roles) {
  if (roles.task || !table.task) return roles.task;
  const std::string_view column = *table.task == Task::kClassification ? kClass : kTarget;
  const bool own = roles.target.empty() || (roles.target.size() == 1 && roles.target[0] == column);
  return own ? table.task : std::nullopt;
}

ByteSource as_table(ByteSource source) {
  constexpr std::size_t kHead = std::size_t{1} << 16;
  std::string head;
  ByteSource whole = peeked(unpacked(std::move(source)), kHead, head);
  return looks_like_ts(head) ? ts_as_table(std::move(whole)) : std::move(whole);
}

ByteSource ts_as_table(ByteSource source) {
  ByteSource table;
  table.name = source.name;
  const auto made = std::make_shared<TsTable>(std::move(source));
  table.task = made->task();
  table.read = [made](char* to, std::size_t room) { return made->read(to, room); };
  return table;
}

}  // namespace remede
