#pragma once

#include <span>
#include <string>
#include <string_view>

namespace msprobe::server {

/// A file of the front end, compiled into the program.
struct EmbeddedFile {
  std::string_view name;
  std::string_view bytes;
};
std::span<const EmbeddedFile> EmbeddedFiles();

/// What is served at `path` ("/" is the page). Empty name: there is no such file.
EmbeddedFile FindAsset(std::string_view path);

std::string_view ContentTypeOf(std::string_view name);
/// A quoted entity tag of the bytes.
std::string EntityTag(std::string_view bytes);

}  // namespace msprobe::server
