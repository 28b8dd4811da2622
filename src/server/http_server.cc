#include "server/http_server.h"

#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/ip/host_name.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "server/responder.h"
#include "viewer/request_guard.h"

namespace msprobe::server {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using ErrorCode = beast::error_code;

constexpr uint32_t kMaxHeader = 16 << 10;
constexpr uint64_t kMaxBody = 1 << 20;
constexpr auto kPollInterval = std::chrono::milliseconds(100);
/// What a client still sends after an error answer is read and dropped for this long: closing at
/// once would reset the connection, and the answer would be lost.
constexpr auto kLingerTime = std::chrono::seconds(2);
constexpr size_t kMaxLinger = 4 << 20;

/// Bytes that are no HTTP request, not a connection that ended.
bool IsProtocolError(const ErrorCode& error) {
  static const ErrorCode kExample = http::error::bad_method;
  return error && error.category() == kExample.category() && error != http::error::end_of_stream &&
         error != http::error::partial_message;
}

struct Shared {
  const ServerOptions& options;
  std::optional<Responder> responder = {};  ///< once the address is known
  asio::thread_pool* workers = nullptr;
  std::atomic<size_t> connections{0};
};

/// One connection: read a request, answer it, again.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, Shared* shared) : stream_(std::move(socket)), shared_(*shared) {
    shared_.connections.fetch_add(1, std::memory_order_relaxed);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() { shared_.connections.fetch_sub(1, std::memory_order_relaxed); }

  void Run() {
    asio::dispatch(stream_.get_executor(), [self = shared_from_this()] { self->Read(); });
  }

 private:
  void Read() {
    parser_.emplace();
    parser_->header_limit(kMaxHeader);
    parser_->body_limit(kMaxBody);
    stream_.expires_after(shared_.options.timeout);
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](ErrorCode error, size_t) { self->OnRead(error); });
  }

  void OnRead(ErrorCode error) {
    if (error == http::error::header_limit || error == http::error::buffer_overflow) {
      Refuse(431, "the request's headers are too long");
    } else if (error == http::error::body_limit) {
      Refuse(413, "the request's body is too long");
    } else if (IsProtocolError(error)) {
      Refuse(400, "not a valid HTTP request");
    } else if (!error && !RefuseAmbiguous()) {
      // Answers may take long: they are made away from the thread that serves the sockets.
      asio::post(*shared_.workers, [self = shared_from_this()] { self->Answer(); });
    }
  }

  /// What a proxy on the way may read as another request, or as two, is refused: true. (Content
  /// lengths that contradict each other are an error of the parser.)
  bool RefuseAmbiguous() {
    const auto& message = parser_->get();
    const auto encoding = message.find(http::field::transfer_encoding);
    if (encoding != message.end() && !beast::iequals(encoding->value(), "chunked")) {
      Refuse(501, "the request's body is in a transfer encoding that is not known here",
             "send it chunked, or as it is with its Content-Length");
      return true;
    }
    for (const auto& [field, name] :
         {std::pair(http::field::host, "Host"), std::pair(http::field::origin, "Origin")}) {
      if (message.count(field) < 2) continue;
      Refuse(400, std::string("the request has more than one header ") + name, "send it once");
      return true;
    }
    return false;
  }

  void Answer() {
    const auto& message = parser_->get();
    const auto header = [&message](http::field field) {
      const auto value = message[field];
      return std::string_view(value.data(), value.size());
    };
    HttpRequest request;
    request.method = {message.method_string().data(), message.method_string().size()};
    request.target = {message.target().data(), message.target().size()};
    request.host = header(http::field::host);
    request.origin = header(http::field::origin);
    request.if_none_match = header(http::field::if_none_match);
    request.body = message.body();
    bool answered = true;
    try {
      Take(shared_.responder->Respond(request), message.keep_alive(),
           message.method() == http::verb::head);
    } catch (const std::exception&) {
      answered = false;  // out of memory: this connection ends, the server goes on
    }
    asio::post(stream_.get_executor(), [self = shared_from_this(), answered] {
      answered ? self->Write() : self->stream_.close();
    });
  }

  void Refuse(int status, std::string_view fact, std::string_view advice = {}) {
    Take(Responder::Error(status, fact, advice), false, false);
    Write();
  }

  void Take(HttpResponse answer, bool keep_alive, bool head) {
    response_ = {};
    response_.version(11);
    response_.result(static_cast<unsigned>(answer.status));
    for (const auto& [name, value] : answer.headers) response_.set(name, value);
    response_.keep_alive(keep_alive);
    const uint64_t size = answer.body.size();
    if (!head) response_.body() = std::move(answer.body);
    response_.content_length(size);
  }

  void Write() {
    stream_.expires_after(shared_.options.timeout);
    http::async_write(stream_, response_, [self = shared_from_this()](ErrorCode error, size_t) {
      self->OnWritten(error);
    });
  }

  void OnWritten(ErrorCode error) {
    if (error) return;
    if (response_.keep_alive()) {
      Read();
      return;
    }
    stream_.socket().shutdown(tcp::socket::shutdown_send, error);
    if (error) return;
    stream_.expires_after(kLingerTime);
    Linger();
  }

  void Linger() {
    buffer_.clear();
    stream_.async_read_some(buffer_.prepare(64 << 10),
                            [self = shared_from_this()](ErrorCode error, size_t size) {
                              self->lingered_ += size;
                              if (!error && self->lingered_ < kMaxLinger) self->Linger();
                            });
  }

  beast::tcp_stream stream_;
  Shared& shared_;
  beast::flat_buffer buffer_{kMaxHeader + kMaxBody};
  std::optional<http::request_parser<http::string_body>> parser_;
  http::response<http::string_body> response_;
  size_t lingered_ = 0;
};

/// Takes connections until it is told to stop.
class Listener {
 public:
  Listener(asio::io_context* context, Shared* shared)
      : context_(*context), acceptor_(*context), timer_(*context), shared_(*shared) {}

  Status Open(const std::string& host, uint16_t port);
  std::string address() const { return acceptor_.local_endpoint().address().to_string(); }
  std::string url() const;
  void Accept();

 private:
  asio::io_context& context_;
  tcp::acceptor acceptor_;
  asio::steady_timer timer_;
  Shared& shared_;
};

Status Listener::Open(const std::string& host, uint16_t port) {
  tcp::resolver resolver(context_);
  ErrorCode error;
  const auto found = resolver.resolve(viewer::WithoutBrackets(host), std::to_string(port),
                                      tcp::resolver::passive, error);
  if (error || found.empty()) {
    return InvalidArgumentError("'" + host + "' is no address of this machine",
                                "use 127.0.0.1, or 0.0.0.0 for every address");
  }
  const tcp::endpoint endpoint = *found.begin();
  acceptor_.open(endpoint.protocol(), error);
  // A browser that --open starts must not keep the port.
  if (!error) ::fcntl(acceptor_.native_handle(), F_SETFD, FD_CLOEXEC);
  if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (!error) return Status::Ok();
  const Status reason = IoError("cannot listen on port " + std::to_string(port), error.value());
  return {StatusCode::kIo, reason.fact(), "choose another one with --port, or 0 for a free one",
          host};
}

std::string Listener::url() const {
  const tcp::endpoint endpoint = acceptor_.local_endpoint();
  std::string host = endpoint.address().to_string();
  if (endpoint.address().is_unspecified()) host = asio::ip::host_name();
  if (endpoint.address().is_v6() && !endpoint.address().is_unspecified()) host = "[" + host + "]";
  return "http://" + host + ":" + std::to_string(endpoint.port()) + "/";
}

void Listener::Accept() {
  acceptor_.async_accept(asio::make_strand(context_), [this](ErrorCode error, tcp::socket socket) {
    if (error == asio::error::operation_aborted) return;
    const bool full =
        shared_.connections.load(std::memory_order_relaxed) >= shared_.options.max_connections;
    if (error || full) {
      // Out of descriptors, or enough to do: the backlog waits a little, browsers try again.
      socket.close(error);
      timer_.expires_after(kPollInterval);
      timer_.async_wait([this](ErrorCode) { Accept(); });
      return;
    }
    std::make_shared<Session>(std::move(socket), &shared_)->Run();
    Accept();
  });
}

}  // namespace

Status Serve(viewer::ViewerApi* api, const ServerOptions& options, const base::CancelToken& cancel,
             const std::function<void(const std::string& url)>& on_ready) {
  try {
    Shared shared{options};  // outlives the sessions that the context holds
    asio::io_context context;
    asio::thread_pool workers(std::max<size_t>(1, options.threads));
    shared.workers = &workers;
    Listener listener(&context, &shared);
    MSPROBE_RETURN_IF_ERROR(listener.Open(options.host, options.port));
    shared.responder.emplace(api, options.host, listener.address());
    on_ready(listener.url());
    listener.Accept();
    asio::steady_timer poll(context);
    std::function<void(ErrorCode)> check = [&](ErrorCode) {
      if (cancel.cancelled()) {
        context.stop();
        return;
      }
      poll.expires_after(kPollInterval);
      poll.async_wait(check);
    };
    check({});
    context.run();
    api->Shutdown();
    workers.join();
    return Status::Ok();
  } catch (const std::exception& error) {
    return InternalError(error.what());
  }
}

}  // namespace msprobe::server
