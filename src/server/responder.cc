#include "server/responder.h"

#include "formats/json/json_writer.h"
#include "server/assets.h"

namespace msprobe::server {

namespace {

constexpr std::string_view kApi = "/api/";
// The page needs nothing from elsewhere.
constexpr std::string_view kContentPolicy =
    "default-src 'self'; img-src 'self' data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'";

void AddCommonHeaders(std::string_view content_type, std::string_view caching,
                      HttpResponse* response) {
  response->headers.emplace_back("Content-Type", content_type);
  response->headers.emplace_back("Cache-Control", caching);
  response->headers.emplace_back("X-Content-Type-Options", "nosniff");
  response->headers.emplace_back("Referrer-Policy", "no-referrer");
  response->headers.emplace_back("Cross-Origin-Resource-Policy", "same-origin");
  response->headers.emplace_back("Content-Security-Policy", kContentPolicy);
}

}  // namespace

HttpResponse Responder::Error(int status, std::string_view fact, std::string_view advice) {
  HttpResponse response;
  response.status = status;
  formats::JsonWriter json(&response.body);
  json.BeginObject().Key("error").BeginObject();
  json.Key("fact").String(fact).Key("advice").String(advice).Key("path").String("");
  json.EndObject().EndObject();
  AddCommonHeaders("application/json", "no-store", &response);
  return response;
}

HttpResponse Responder::Respond(const HttpRequest& request) const {
  if (!guard_.AllowsHost(request.host)) {
    return Error(403, "the page was reached by a name that this server does not know",
                 "use the address that msprobe view printed, or give the name with --host");
  }
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (!reads && !viewer::RequestGuard::AllowsOrigin(request.origin, request.host)) {
    return Error(403, "the request comes from another site");
  }
  const size_t mark = std::min(request.target.find('?'), request.target.size());
  const std::string_view path = request.target.substr(0, mark);
  const std::string_view query = request.target.substr(std::min(mark + 1, request.target.size()));
  if (path.starts_with(kApi)) return RespondApi(request, path.substr(kApi.size()), query);
  if (!reads) return Error(405, "files can only be read");
  return RespondAsset(request, path);
}

HttpResponse Responder::RespondApi(const HttpRequest& request, std::string_view path,
                                   std::string_view query) const {
  const std::string_view method = request.method == "HEAD" ? "GET" : request.method;
  viewer::Response answer = api_.Handle({method, path, query, request.body});
  HttpResponse response;
  response.status = answer.status;
  response.body = std::move(answer.body);
  AddCommonHeaders(answer.content_type, "no-store", &response);
  return response;
}

HttpResponse Responder::RespondAsset(const HttpRequest& request, std::string_view path) {
  const EmbeddedFile asset = FindAsset(path);
  if (asset.name.empty()) return Error(404, "there is no such page");
  HttpResponse response;
  std::string tag = EntityTag(asset.bytes);
  if (request.if_none_match == tag)
    response.status = 304;
  else
    response.body = asset.bytes;
  AddCommonHeaders(ContentTypeOf(asset.name), "no-cache", &response);
  response.headers.emplace_back("ETag", std::move(tag));
  return response;
}

}  // namespace msprobe::server
