#include "viewer/request_guard.h"

#include <arpa/inet.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

namespace msprobe::viewer {

namespace {

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return lower;
}

/// An IPv6 address as browsers write it in the header Host, whatever its spelling; none if `text`
/// is no such address.
std::optional<std::string> ShortV6(std::string_view text) {
  const std::string name(WithoutBrackets(text));
  in6_addr v6{};
  char brief[INET6_ADDRSTRLEN] = {};
  if (::inet_pton(AF_INET6, name.c_str(), &v6) != 1 ||
      ::inet_ntop(AF_INET6, &v6, brief, sizeof(brief)) == nullptr) {
    return std::nullopt;
  }
  return "[" + std::string(brief) + "]";
}

bool IsAddress(const std::string& name) {
  in_addr v4{};
  if (::inet_pton(AF_INET, name.c_str(), &v4) == 1) return true;
  return name.starts_with('[') && ShortV6(name).has_value();
}

/// The header Host without its port, in one spelling.
std::string NameOf(std::string_view host_header) {
  const std::string name = Lower(HostWithoutPort(host_header));
  return name.starts_with('[') ? ShortV6(name).value_or("") : name;
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

RequestGuard::RequestGuard(std::string_view host, std::string_view address) {
  Allow(host);
  if (!address.empty()) Allow(address);
}

void RequestGuard::Allow(std::string_view host) {
  const std::string name = ShortV6(host).value_or(Lower(host));
  names_.push_back(name);
  if (name != "0.0.0.0" && name != "[::]") return;
  any_address_ = true;
  char own[256] = {};
  if (::gethostname(own, sizeof(own) - 1) == 0) names_.push_back(Lower(own));
}

bool RequestGuard::AllowsHost(std::string_view host_header) const {
  const std::string name = NameOf(host_header);
  if (name.empty()) return false;
  if (IsLoopback(name) || std::find(names_.begin(), names_.end(), name) != names_.end()) {
    return true;
  }
  return any_address_ && IsAddress(name);
}

bool RequestGuard::AllowsOrigin(std::string_view origin_header, std::string_view host_header) {
  const std::string origin = Lower(origin_header);
  const std::string host = Lower(host_header);
  return !host.empty() && (origin == "http://" + host || origin == "https://" + host);
}

}  // namespace msprobe::viewer
