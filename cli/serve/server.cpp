// The HTTP server of `remede serve`, in the program remede-serve.
#include <atomic>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include <httplib.h>

#include "cli/common.h"
#include "cli/serve/serve.h"
#include "cli/train_watch.h"
#include "remede/base/error.h"
#include "remede/base/file.h"
#include "remede/base/text.h"
#include "remede/model/file.h"
#include "remede/pages/live.h"
#include "remede/stream/service.h"

namespace remede {
namespace {

constexpr const char* kJson = "application/json";
constexpr const char* kJsonLines = "application/x-ndjson";
constexpr const char* kEncoded = "X-Remede-Encoded";  // marks a request whose body came compressed

void reply(httplib::Response& to, const ServiceReply& said, const char* type = kJson) {
  to.status = said.status;
  to.set_content(said.text, said.status == 200 ? type : kJson);
}

void refuse(httplib::Response& to, int status, std::string_view words) {
  reply(to, {status, fmt::format("{{\"error\": \"{}\"}}\n", words)});
}

// For what the library refuses by itself.
std::string_view words_for(int status) {
  switch (status) {
    case 400:
      return "malformed request";
    case 404:
      return "expected /, /predict, /recent, /status, /sequence or /openapi.json";
    case 413:
      return "expected at most 16 MiB";
    case 414:
      return "expected a shorter address";
    default:
      return status >= 500 ? "internal error" : "request refused";
  }
}

// Another page in the user's browser may send requests here, under a name of its own that leads to this machine.
bool is_local(const httplib::Request& request) {
  std::string host = request.get_header_value("Host");
  host = host.substr(0, host.rfind(':'));
  return host == "localhost" || host == "127.0.0.1";
}

// The type of content without its parameters, in small letters.
std::string content_type(const httplib::Request& request) {
  std::string type = request.get_header_value("Content-Type");
  type = type.substr(0, type.find(';'));
  while (!type.empty() && type.back() == ' ') type.pop_back();
  for (char& c : type) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return type;
}

// The body; false: it was refused. The library limits what a length is given for, not what comes in chunks.
bool read_body(const httplib::ContentReader& content, std::string& body, httplib::Response& response) {
  bool too_much = false;
  const bool whole = content([&](const char* data, std::size_t size) {
    too_much = body.size() + size > RowService::kMostBytes;
    if (!too_much) body.append(data, size);
    return !too_much;
  });
  if (whole) return true;
  response.set_header("Connection", "close");  // what is left of the body is no request
  if (too_much || response.status == 413) {
    refuse(response, 413, words_for(413));
  } else {
    refuse(response, 400, "expected as many bytes as the request announces");
  }
  return false;
}

void predict_request(RowService& service, const httplib::Request& request, const httplib::ContentReader& content,
                     httplib::Response& response) {
  const std::string type = content_type(request);
  std::string body;
  if (!read_body(content, body, response)) return;
  if (request.has_header(kEncoded)) return refuse(response, 415, "expected a body that is not compressed");
  if (type == kJson) return reply(response, service.predict(body));
  if (type == kJsonLines) return reply(response, service.predict_lines(body), kJsonLines);
  refuse(response, 415, "expected Content-Type application/json or application/x-ndjson");
}

void recent_request(const RowService& service, const httplib::Request& request, httplib::Response& response) {
  constexpr std::size_t kMostRows = 1000;
  const std::string text = request.has_param("after") ? request.get_param_value("after") : "0";
  std::uint64_t after = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), after);
  if (error != std::errc() || end != text.data() + text.size())
    return refuse(response, 400, "after: expected the number of a row");
  reply(response, service.recent(after, kMostRows));
}

class HttpServer {
 public:
  HttpServer(const ServeFlags& flags, const Model& model, const LineOptions& options)
      : flags_(flags), service_(model, options), page_(live_page(model, all_cell_names(model))) {}

  void run() {
    load();
    configure();
    route();
    const SignalWatch signals;
    const int port = bind();
    if (!flags_.quiet) print_error("serving {} on http://127.0.0.1:{}; Ctrl-C ends it\n", flags_.model, port);
    std::thread keeper([this] { keep(); });
    server_.listen_after_bind();
    ended_ = true;
    keeper.join();
    save();
    finish();
  }

 private:
  void load() {
    if (flags_.state.empty()) return;
    if (std::filesystem::exists(flags_.state)) service_.load(read_file(flags_.state), flags_.state);
    saved_ = service_.position().rows;
    save(true);  // a place that cannot be written is an error now, not later
  }

  // A worker belongs to a connection as long as that is kept alive.
  void configure() {
    constexpr std::size_t kRequestsPerConnection = 1000000000;
    constexpr int kIdleSeconds = 5, kRequestSeconds = 10;
    const auto workers = static_cast<std::size_t>(flags_.connections);
    server_.new_task_queue = [workers] { return new httplib::ThreadPool(workers); };
    server_.set_keep_alive_max_count(kRequestsPerConnection);
    server_.set_keep_alive_timeout(kIdleSeconds);
    server_.set_read_timeout(kRequestSeconds);
    server_.set_write_timeout(kRequestSeconds);
    server_.set_payload_max_length(RowService::kMostBytes);
    server_.set_tcp_nodelay(true);
    server_.set_socket_options([](socket_t socket) {  // not shared: a second server on the same port is an error
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    });
    server_.set_pre_routing_handler([](const httplib::Request& request, httplib::Response& response) {
      if (!is_local(request)) {
        refuse(response, 403, "expected the Host localhost or 127.0.0.1");
        return httplib::Server::HandlerResponse::Handled;
      }
      // The library would unpack a body without a limit: it is taken as it came, and refused.
      if (request.has_header("Content-Encoding")) {
        auto& headers = const_cast<httplib::Headers&>(request.headers);
        headers.erase("Content-Encoding");
        headers.emplace(kEncoded, "yes");
      }
      return httplib::Server::HandlerResponse::Unhandled;
    });
    server_.set_error_handler([](const httplib::Request&, httplib::Response& response) {
      if (response.body.empty()) refuse(response, response.status, words_for(response.status));
    });
  }

  void route() {
    server_.Post("/predict",
                 [this](const httplib::Request& in, httplib::Response& out, const httplib::ContentReader& content) {
                   predict_request(service_, in, content, out);
                 });
    server_.Get("/predict", [](const httplib::Request&, httplib::Response& out) {
      out.set_header("Allow", "POST");
      refuse(out, 405, "expected POST");
    });
    server_.Get("/recent",
                [this](const httplib::Request& in, httplib::Response& out) { recent_request(service_, in, out); });
    server_.Get("/status", [this](const httplib::Request&, httplib::Response& out) { reply(out, service_.status()); });
    server_.Get("/openapi.json", [this](const httplib::Request&, httplib::Response& out) {
      reply(out, {200, service_.openapi(REMEDE_VERSION)});
    });
    server_.Get("/", [this](const httplib::Request&, httplib::Response& out) {
      out.set_header("Content-Security-Policy",
                     "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'");
      out.set_content(page_, "text/html; charset=utf-8");
    });
    server_.Delete("/sequence", [this](const httplib::Request& in, httplib::Response& out) {
      if (!in.has_param("id")) return refuse(out, 400, "expected the id of a sequence: /sequence?id=...");
      reply(out, service_.forget(in.get_param_value("id")));
    });
  }

  int bind() {
    constexpr const char* kHost = "127.0.0.1";
    if (flags_.port == 0) return server_.bind_to_any_port(kHost);
    if (!server_.bind_to_port(kHost, flags_.port))
      fail("port {}: expected a free port, got one in use or not allowed; --port 0 takes any free port", flags_.port);
    return flags_.port;
  }

  // Beside the server: saves the state when it is due, and ends the server on a signal.
  void keep() {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::milliseconds kBetweenLooks(20);
    const auto every = std::chrono::duration<double>(flags_.save_every);
    Clock::time_point saved = Clock::now();
    while (!ended_) {
      std::this_thread::sleep_for(kBetweenLooks);
      if (SignalWatch::caught() != 0 && server_.is_running()) server_.stop();
      if (Clock::now() - saved < every) continue;
      save();
      saved = Clock::now();
    }
  }

  void save(bool first = false) {
    if (flags_.state.empty()) return;
    const std::uint64_t rows = service_.position().rows;
    if (rows == saved_ && !first) return;
    write_file(flags_.state, service_.save());
    saved_ = rows;
  }

  void finish() const {
    const LinePosition at = service_.position();
    if (!flags_.quiet)
      print_error("answered: {}; malformed: {}\n", plural(static_cast<long long>(at.rows), "row"),
                  grouped(static_cast<long long>(at.malformed)));
    if (SignalWatch::caught() != 0) throw ExitWith{128 + SignalWatch::caught()};
  }

  const ServeFlags& flags_;
  RowService service_;
  const std::string page_;
  httplib::Server server_;
  std::atomic<bool> ended_ = false;
  std::uint64_t saved_ = 0;  // rows in the file
};

}  // namespace

void serve(const ServeFlags& flags) {
  const Model model = load_model(flags.model);
  LineOptions options;
  if (!flags.id.empty()) options.id = flags.id;
  if (!flags.time.empty()) options.time = flags.time;
  options.most_ids = flags.ids;
  HttpServer(flags, model, options).run();
}

}  // namespace remede
