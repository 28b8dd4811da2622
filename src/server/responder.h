#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "viewer/request_guard.h"
#include "viewer/viewer_api.h"

namespace msprobe::server {

struct HttpRequest {
  std::string_view method;
  std::string_view target;  ///< "/api/rows?file=…"
  std::string_view host;
  std::string_view origin;
  std::string_view if_none_match;
  std::string_view body;
};

struct HttpResponse {
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
};

/// What the server answers, apart from sockets. Thread-safe.
class Responder {
 public:
  /// `address`: what `host` means.
  Responder(viewer::ViewerApi* api, std::string_view host, std::string_view address = {})
      : api_(*api), guard_(host, address) {}

  HttpResponse Respond(const HttpRequest& request) const;
  /// An answer in the form of the API's errors.
  static HttpResponse Error(int status, std::string_view fact, std::string_view advice = {});

 private:
  HttpResponse RespondApi(const HttpRequest& request, std::string_view path,
                          std::string_view query) const;
  static HttpResponse RespondAsset(const HttpRequest& request, std::string_view path);

  viewer::ViewerApi& api_;
  viewer::RequestGuard guard_;
};

}  // namespace msprobe::server
