#include "remede/base/json.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "remede/base/error.h"
#include "remede/base/file.h"

namespace remede {
namespace {

using Json = nlohmann::ordered_json;
using Event = Json::parse_event_t;

// Follows the parser and stops it early.
class JsonGuard {
 public:
  explicit JsonGuard(const std::string& where) : where_(where) {}

  bool operator()(int depth, Event event, const Json& value) {
    switch (event) {
      case Event::object_start:
        keys_.emplace_back();
        [[fallthrough]];
      case Event::array_start:
        if (depth >= kMostFileNesting)
          fail("{}: expected lists and objects at most {} deep, got more", where_, kMostFileNesting);
        spend(kGroupCost);
        break;
      case Event::object_end:
        keys_.pop_back();
        break;
      case Event::key:
        add_key(value.get_ref<const std::string&>());
        break;
      case Event::value:
        spend(value.is_string() ? kTextCost : 1);
        break;
      case Event::array_end:
        break;
    }
    return true;
  }

 private:
  static constexpr std::size_t kFewKeys = 16;  // are found faster one by one
  struct Keys {
    std::vector<std::string> few;
    std::unordered_set<std::string> more;
  };

  void add_key(const std::string& key) {
    spend(kKeyCost);
    Keys& keys = keys_.back();
    if (keys.few.size() + keys.more.size() >= kMostFileKeys)
      fail("{}: expected at most {} keys in an object, got more", where_, kMostFileKeys);
    if (std::find(keys.few.begin(), keys.few.end(), key) != keys.few.end() || keys.more.contains(key))
      fail("{}: expected every key once, got {:?} twice", where_, key);
    if (keys.few.size() < kFewKeys) {
      keys.few.push_back(key);
    } else {
      keys.more.insert(key);
    }
  }

  void spend(std::size_t cost) {
    spent_ += cost;
    if (spent_ > kMostFileValues) fail("{}: expected at most {} values, got more", where_, kMostFileValues);
  }

  const std::string& where_;
  std::vector<Keys> keys_;  // of the objects that are open
  std::size_t spent_ = 0;
};

// The parser quotes what it read last, whatever bytes that was and however many.
std::string plain(std::string message) {
  const std::size_t start = message.find("] ");  // "[json.exception.parse_error.101] parse error at line 1, ..."
  if (start != std::string::npos) message.erase(0, start + 2);
  for (char& c : message)
    if (c < 0x20 || c > 0x7e) c = '?';
  constexpr std::size_t kLongest = 200;
  if (message.size() > kLongest) message = message.substr(0, kLongest) + "...";
  return message;
}

}  // namespace

nlohmann::ordered_json parse_json(std::string_view text, const std::string& where) {
  if (text.size() > kMostFileBytes) fail("{}: expected at most {} bytes, got {}", where, kMostFileBytes, text.size());
  JsonGuard guard(where);
  try {
    return Json::parse(text, [&guard](int depth, Event event, Json& value) { return guard(depth, event, value); });
  } catch (const Json::exception& error) {
    fail("{}: expected JSON, got a {}", where, plain(error.what()));
  }
}

std::string read_json_file(const std::string& path, std::size_t limit) {
  return read_file(path, limit, [&path](std::string_view head) {
    const std::size_t at = head.find_first_not_of(" \t\r\n");
    const auto first = at == std::string_view::npos ? '{' : head[at];
    if (first == '{' || first == '[' || head.starts_with("\xef\xbb\xbf")) return;
    const bool printable = first > 0x20 && first < 0x7f;
    fail("{}: expected JSON, which begins with '{{', got {}", path == "-" ? "standard input" : path,
         printable ? fmt::format("'{}'", first) : fmt::format("byte {:#04x}", static_cast<unsigned char>(first)));
  });
}

}  // namespace remede
