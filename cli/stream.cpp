// remede stream MODEL: rows from standard input, predictions to standard output, each as soon as it is there.
// Exit codes beyond the usual: 130 and 143 after Ctrl-C and SIGTERM, with the state saved.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <poll.h>
#include <unistd.h>

#include "cli/common.h"
#include "cli/declared.h"
#include "cli/files.h"
#include "cli/train_watch.h"
#include "cli/verbs.h"
#include "remede/base/error.h"
#include "remede/base/file.h"
#include "remede/base/text.h"
#include "remede/model/file.h"
#include "remede/model/ranges.h"
#include "remede/stream/lines.h"
#include <CLI/CLI.hpp>

namespace remede {
namespace {

using StreamClock = std::chrono::steady_clock;

struct StreamFlags {
  std::string model;
  std::string format = "auto";
  std::string id, time;
  std::size_t ids = LineOptions().most_ids;
  std::string state;
  double save_every = 1.0;  // seconds
  bool rewind = false;
  bool status = false;
  bool watch = false;
  std::string watch_data;
  bool quiet = false;
};

// Standard input in blocks, cut into lines.
class InputLines {
 public:
  // The next whole line, with a newline behind it; false: more has to be read. A line of more than kMostLine bytes is
  // dropped, and comes as an empty line with its size in `bytes` and `too_long`.
  bool next(std::string_view& line, std::size_t& bytes, bool& too_long) {
    const char* const begin = buffer_.data() + at_;
    const void* const found = std::memchr(begin, '\n', filled_ - at_);
    if (found == nullptr) {
      if (filled_ - at_ > LineSession::kMostLine) {
        dropped_ += filled_ - at_;
        at_ = filled_;
      }
      return false;
    }
    const auto size = static_cast<std::size_t>(static_cast<const char*>(found) - begin);
    line = {begin, size};
    bytes = size + 1 + dropped_;
    too_long = dropped_ > 0;
    dropped_ = 0;
    at_ += size + 1;
    return true;
  }

  // Reads what is there. False at the end of the input; a last line without a newline is then made whole.
  bool read() {
    std::memmove(buffer_.data(), buffer_.data() + at_, filled_ - at_);
    filled_ -= at_;
    at_ = 0;
    if (buffer_.size() < filled_ + kBlock) buffer_.resize(filled_ + kBlock);
    const ssize_t n = ::read(STDIN_FILENO, buffer_.data() + filled_, kBlock - 1);
    if (n < 0) {
      if (errno == EINTR || errno == EAGAIN) return true;
      fail("standard input: {}", std::strerror(errno));
    }
    filled_ += static_cast<std::size_t>(n);
    if (n > 0) return true;
    if (filled_ + dropped_ > 0) {
      buffer_[filled_++] = '\n';
      added_newline_ = true;
    }
    return false;
  }
  bool added_newline() const { return added_newline_; }
  bool empty() const { return at_ == filled_; }  // no further line

  void skip(std::uint64_t bytes) {
    std::uint64_t left = bytes;
    while (left > 0) {
      if (at_ == filled_ && (!read() || at_ == filled_))
        fail(
            "standard input: expected the {} bytes that the state includes, got {}: --rewind needs the same input from "
            "its beginning",
            bytes, bytes - left);
      const auto here = std::min<std::uint64_t>(left, filled_ - at_);
      at_ += static_cast<std::size_t>(here);
      left -= here;
    }
  }

 private:
  static constexpr std::size_t kBlock = std::size_t{1} << 18;
  std::vector<char> buffer_ = std::vector<char>(kBlock);
  std::size_t at_ = 0, filled_ = 0;
  std::size_t dropped_ = 0;  // bytes of a line that is too long
  bool added_newline_ = false;
};

class StreamRun {
 public:
  StreamRun(const StreamFlags& flags, const Model& model, const LineOptions& options)
      : flags_(flags), session_(model, options) {}

  void run() {
    load();
    if (!flags_.state.empty()) save();  // a place that cannot be written is an error now, not later
    SignalWatch signals;
    bool more = true;
    while (more && SignalWatch::caught() == 0) {
      wait();
      if (SignalWatch::caught() != 0) break;
      if (!readable_) {
        save_if_due();
        continue;
      }
      more = input_.read();
      answer_lines();
      save_if_due();
    }
    if (!flags_.state.empty()) save();
    finish();
    if (SignalWatch::caught() != 0) throw ExitWith{128 + SignalWatch::caught()};
  }

 private:
  void load() {
    if (flags_.state.empty() || !std::filesystem::exists(flags_.state)) return;
    session_.load(read_file(flags_.state), flags_.state);
    saved_bytes_ = session_.position().bytes;
    if (!flags_.quiet)
      print_error("{}: continuing after {} of the input, {} answered\n", flags_.state,
                  plural(static_cast<long long>(saved_bytes_), "byte"),
                  plural(static_cast<long long>(session_.position().rows), "row"));
    if (flags_.rewind) input_.skip(saved_bytes_);
  }

  // For input, for a signal, or until the state is to be saved.
  void wait() {
    int milliseconds = -1;
    if (!flags_.state.empty() && session_.position().bytes != saved_bytes_) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(due_ - StreamClock::now()).count();
      milliseconds = static_cast<int>(std::clamp<long long>(left + 1, 0, 1000000));
    }
    pollfd descriptor = {STDIN_FILENO, POLLIN, 0};
    readable_ = ::poll(&descriptor, 1, milliseconds) > 0;
  }

  void answer_lines() {
    constexpr std::size_t kMostKept = std::size_t{1} << 20;
    std::string_view line;
    std::size_t bytes = 0;
    bool too_long = false;
    while (input_.next(line, bytes, too_long)) {
      if (input_.added_newline() && input_.empty()) {  // the input ends within a line
        if (leave_last_line()) break;
        --bytes;
      }
      if (!(too_long ? session_.add_too_long(bytes) : session_.add(line, bytes, out_))) report();
      if (session_.watch() != nullptr && session_.watch()->full()) watch();
      if (out_.size() > kMostKept) flush();
    }
    flush();
  }

  // Of an input that goes on later, a line without its end may be half of one.
  bool leave_last_line() const {
    if (flags_.state.empty()) return false;
    if (!flags_.quiet) print_error("remede: the input ends within a line: it is left for the next run\n");
    return true;
  }

  void flush() {
    if (!out_.empty()) put(out_);
    out_.clear();
  }

  void report() {
    constexpr int kMostReported = 10;
    if (reported_ > kMostReported) return;
    if (reported_++ == kMostReported) {
      print_error("remede: further malformed lines are counted, not shown\n");
    } else {
      print_error("remede: {}\n", session_.problem());
    }
  }

  void watch() {
    for (const std::string& line : session_.watch()->take()) print_error("watch: {}\n", line);
  }

  void save_if_due() {
    if (flags_.state.empty() || StreamClock::now() < due_ || session_.position().bytes == saved_bytes_) return;
    save();
  }

  // What it says has been answered is written already. Saving takes a tenth of the time at most.
  void save() {
    constexpr int kPatience = 9;
    const StreamClock::time_point begin = StreamClock::now();
    write_file(flags_.state, session_.save());
    saved_bytes_ = session_.position().bytes;
    const StreamClock::time_point end = StreamClock::now();
    const auto every =
        std::chrono::duration_cast<StreamClock::duration>(std::chrono::duration<double>(flags_.save_every));
    due_ = end + std::max(every, kPatience * (end - begin));
  }

  void finish() {
    if (session_.watch() != nullptr) watch();
    if (flags_.quiet) return;
    const LinePosition& at = session_.position();
    print_error("answered: {}; malformed: {}; sequences: {}, forgotten for want of room: {}\n",
                plural(static_cast<long long>(at.rows), "row"), grouped(static_cast<long long>(at.malformed)),
                grouped(static_cast<long long>(session_.pool().size())),
                grouped(static_cast<long long>(session_.pool().evicted())));
  }

  const StreamFlags& flags_;
  LineSession session_;
  InputLines input_;
  std::string out_;
  bool readable_ = false;
  int reported_ = 0;
  std::uint64_t saved_bytes_ = 0;
  StreamClock::time_point due_ = StreamClock::now();
};

void print_status(const StreamFlags& flags) {
  LinePosition at;
  if (std::filesystem::exists(flags.state)) at = LineSession::saved_position(read_file(flags.state), flags.state);
  const nlohmann::ordered_json json = {
      {"bytes", at.bytes}, {"lines", at.lines}, {"rows", at.rows}, {"malformed", at.malformed}};
  put(json.dump() + "\n");
}

void stream(const StreamFlags& flags) {
  if (flags.state.empty() && (flags.rewind || flags.status))
    throw UsageError(fmt::format("stream: {}: expected --state FILE with it", flags.rewind ? "--rewind" : "--status"));
  if (flags.model == "-")
    throw UsageError("stream: expected the model from a file, got -: rows come from standard input");
  if (flags.status) return print_status(flags);
  Model model = load_model(flags.model);
  LineOptions options;
  options.format = flags.format == "csv"    ? LineFormat::kCsv
                   : flags.format == "json" ? LineFormat::kJson
                                            : LineFormat::kGuess;
  if (!flags.id.empty()) options.id = flags.id;
  if (!flags.time.empty()) options.time = flags.time;
  options.most_ids = flags.ids;
  options.watch = flags.watch || !flags.watch_data.empty();
  if (!flags.watch_data.empty()) note_ranges(model, read_dataset(flags.watch_data, model.schema, {}, false).sequences);
  StreamRun(flags, model, options).run();
}

}  // namespace

void add_stream(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand("stream", "Predict rows as they arrive");
  const auto flags = std::make_shared<StreamFlags>();
  reads_file(verb->add_option("model", flags->model, "Model file")->required()->type_name("MODEL"));
  verb->add_option("--format", flags->format,
                   "csv, json (one object per line) or auto: detected from the first line (default: auto)")
      ->type_name("FORMAT")
      ->check(one_of({"auto", "csv", "json"}));
  verb->add_option(
          "--id", flags->id,
          "Column of the sequence id; row: every row is a sequence; none: one sequence (default: as the model)")
      ->type_name("COLUMN");
  verb->add_option("--time", flags->time, "Column of the time; none: there is none (default: as the model)")
      ->type_name("COLUMN");
  verb->add_option("--ids", flags->ids,
                   "Sequences to remember; beyond that, the least recently used is forgotten (default: 1000000)")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 31));
  writes_file(verb->add_option("--state", flags->state, "File for the state; if it exists, the run continues from it"))
      ->type_name("FILE");
  verb->add_option("--save-every", flags->save_every, "Seconds between two saves of the state (default: 1)")
      ->type_name("SECONDS")
      ->check(CLI::NonNegativeNumber);
  verb->add_flag("--rewind", flags->rewind,
                 "The input starts from its beginning again: skip the rows that the state already includes");
  verb->add_flag("--status", flags->status, "Print the position of the state in the input as JSON and exit");
  verb->add_flag("--watch", flags->watch, "Report inputs whose distribution drifts away from the training data");
  reads_file(verb->add_option("--watch-data", flags->watch_data, "Report drift compared with these data instead")
                 ->type_name("FILE"));
  add_quiet_flag(*verb, flags->quiet);
  verb->footer(
      "Reads rows from standard input and answers each at once, in the format of the input. Rows of different ids may "
      "be\n"
      "interleaved; rows of one id are its steps in the order of arrival. Malformed lines are reported and counted.\n"
      "Examples:\n"
      "  tail -f sensors.csv | remede stream model.json\n"
      "  remede stream model.json --state live.state < rows.csv        saves its state, and continues from it");
  on_run(*verb, [flags] { stream(*flags); });
}

}  // namespace remede
