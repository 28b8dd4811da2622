#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "base/cancel.h"
#include "msprobe/status.h"
#include "viewer/viewer_api.h"

namespace msprobe::server {

struct ServerOptions {
  std::string host = "127.0.0.1";
  uint16_t port = 0;    ///< 0: any free one
  size_t threads = 12;  ///< most of them may wait: see the viewer's limit of waiting requests
  size_t max_connections = 256;
  /// A request must be complete, and an answer taken, within this time; idle connections close.
  std::chrono::milliseconds timeout{15'000};
};

/// Serves the page and, below /api/, the viewer's API, until `cancel` is set. `on_ready` is told
/// the address ("http://127.0.0.1:8080/"). Errors: InvalidArgument (the host), Io (the port).
Status Serve(viewer::ViewerApi* api, const ServerOptions& options, const base::CancelToken& cancel,
             const std::function<void(const std::string& url)>& on_ready);

}  // namespace msprobe::server
