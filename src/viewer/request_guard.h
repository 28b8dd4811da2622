#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace msprobe::viewer {

/// Decides by a request's headers whether it comes from our own page. A page of another site can
/// make a browser send requests here, and by DNS rebinding even read the answers; but it cannot
/// choose the headers Host and Origin.
class RequestGuard {
 public:
  /// `host` is what the server was told to listen on, `address` what that means: both are ours. A
  /// name may be rebound to this machine by whoever owns it, an address in digits may not.
  explicit RequestGuard(std::string_view host, std::string_view address = {});

  /// The name must be localhost, a loopback address or what the server listens on; if that is
  /// every address, any address in digits or this machine's name. Ports are free: they are changed
  /// by tunnels and say nothing about the site.
  bool AllowsHost(std::string_view host_header) const;

  /// For requests that change something: the origin must be the page that this server serves.
  static bool AllowsOrigin(std::string_view origin_header, std::string_view host_header);

 private:
  void Allow(std::string_view host);

  std::vector<std::string> names_;
  bool any_address_ = false;
};

/// An address to listen on as resolvers take it: "[::1]" → "::1".
std::string_view WithoutBrackets(std::string_view host);

/// Whether only this machine reaches what listens on `host`.
bool IsLoopback(std::string_view host);

/// "[::1]:80" → "[::1]", "a.b:80" → "a.b".
std::string_view HostWithoutPort(std::string_view host_header);

}  // namespace msprobe::viewer
