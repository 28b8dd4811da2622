// The bytes of a request, taken apart as the server does. Whatever they are, nothing is answered to
// a page of another site, and a header of an answer is one line.
#include <arpa/inet.h>

#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "server/responder.h"
#include "small_viewer.h"

namespace {

using namespace msprobe;
namespace beast = boost::beast;
namespace http = beast::http;

bool Equal(std::string_view a, std::string_view b) {
  return beast::iequals({a.data(), a.size()}, {b.data(), b.size()});
}

/// 127.x.y.z is this machine, whatever follows; pages of others have no such name.
bool IsLoopbackV4(std::string host) {
  host = host.substr(0, host.find(':'));
  in_addr address{};
  return host.starts_with("127.") && ::inet_pton(AF_INET, host.c_str(), &address) == 1;
}

/// Every spelling of ::1 in brackets.
bool IsLoopbackV6(std::string host) {
  const size_t end = host.find(']');
  if (!host.starts_with('[') || end == std::string::npos) return false;
  host = host.substr(1, end - 1);
  in6_addr address{};
  return ::inet_pton(AF_INET6, host.c_str(), &address) == 1 && IN6_IS_ADDR_LOOPBACK(&address);
}

bool IsOurs(std::string_view host) {
  if (IsLoopbackV4(std::string(host)) || IsLoopbackV6(std::string(host))) return true;
  return Equal(host.substr(0, host.find(':')), "localhost");
}

void Check(const server::HttpRequest& request, const server::HttpResponse& response) {
  if (response.status < 200 || response.status >= 600) std::abort();
  for (const auto& [name, value] : response.headers) {
    if (value.find_first_of("\r\n") != std::string::npos) std::abort();
  }
  if (response.status == 403) return;
  if (!IsOurs(request.host)) std::abort();
  const bool reads = request.method == "GET" || request.method == "HEAD";
  const std::string host(request.host);
  if (!reads && !Equal(request.origin, "http://" + host) &&
      !Equal(request.origin, "https://" + host)) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const server::Responder responder(&fuzz::SmallViewer(), "127.0.0.1");
  http::request_parser<http::string_body> parser;
  parser.header_limit(16 << 10);
  parser.body_limit(1 << 20);
  parser.eager(true);
  beast::error_code error;
  size_t used = 0;
  while (!error && !parser.is_done() && used < size) {
    const size_t taken = parser.put(beast::net::buffer(data + used, size - used), error);
    if (taken == 0) break;
    used += taken;
  }
  if (error || !parser.is_done()) return 0;
  const auto& message = parser.get();
  const auto header = [&message](http::field field) {
    const auto value = message[field];
    return std::string_view(value.data(), value.size());
  };
  const auto method = message.method_string();
  server::HttpRequest request;
  request.method = {method.data(), method.size()};
  request.target = {message.target().data(), message.target().size()};
  request.host = header(http::field::host);
  request.origin = header(http::field::origin);
  request.if_none_match = header(http::field::if_none_match);
  request.body = message.body();
  Check(request, responder.Respond(request));
  return 0;
}
