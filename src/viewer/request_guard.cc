#include "viewer/request_guard.h"

#include <arpa/inet.h>
#include <unistd.h>

#include <algorithm>

namespace msprobe::viewer {

namespace {

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return lower;
}

bool IsAddress(const std::string& name) {
  in_addr v4{};
  if (::inet_pton(AF_INET, name.c_str(), &v4) == 1) return true;
  if (name.size() < 2 || name.front() != '[' || name.back() != ']') return false;
  in6_addr v6{};
  return ::inet_pton(AF_INET6, name.substr(1, name.size() - 2).c_str(), &v6) == 1;
}

}  // namespace

std::string_view HostWithoutPort(std::string_view host_header) {
  if (host_header.starts_with('[')) {
    const size_t end = host_header.find(']');
    return end == std::string_view::npos ? std::string_view() : host_header.substr(0, end + 1);
  }
  return host_header.substr(0, host_header.find(':'));
}

std::string_view WithoutBrackets(std::string_view host) {
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  return bracketed ? host.substr(1, host.size() - 2) : host;
}

bool IsLoopback(std::string_view host) {
  const std::string name(WithoutBrackets(host));
  in_addr v4{};
  if (::inet_pton(AF_INET, name.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24U == 127;
  in6_addr v6{};
  if (::inet_pton(AF_INET6, name.c_str(), &v6) == 1) return IN6_IS_ADDR_LOOPBACK(&v6);
  return Lower(name) == "localhost";
}

RequestGuard::RequestGuard(std::string_view host) : names_{"localhost", "127.0.0.1", "[::1]"} {
  const std::string name(WithoutBrackets(host));
  in6_addr v6{};
  const bool is_v6 = ::inet_pton(AF_INET6, name.c_str(), &v6) == 1;
  any_address_ = name == "0.0.0.0" || (is_v6 && IN6_IS_ADDR_UNSPECIFIED(&v6));
  names_.push_back(Lower(is_v6 ? "[" + name + "]" : name));
  if (!any_address_) return;
  char own[256] = {};
  if (::gethostname(own, sizeof(own) - 1) == 0) names_.push_back(Lower(own));
}

bool RequestGuard::AllowsHost(std::string_view host_header) const {
  const std::string name = Lower(HostWithoutPort(host_header));
  if (name.empty()) return false;
  if (std::find(names_.begin(), names_.end(), name) != names_.end()) return true;
  return any_address_ && IsAddress(name);
}

bool RequestGuard::AllowsOrigin(std::string_view origin_header, std::string_view host_header) {
  const std::string origin = Lower(origin_header);
  const std::string host = Lower(host_header);
  return !host.empty() && (origin == "http://" + host || origin == "https://" + host);
}

}  // namespace msprobe::viewer
