#include "formats/zip/inflate.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

namespace msprobe::formats {

namespace {

/// zlib counts in 32 bits: gives it the next piece of a longer buffer.
template <class Pointer, class Byte>
void Refill(std::span<Byte>* rest, Pointer* next, uInt* available) {
  if (*available > 0) return;
  const size_t piece = std::min<size_t>(rest->size(), std::numeric_limits<uInt>::max());
  *next = reinterpret_cast<Pointer>(const_cast<std::byte*>(rest->data()));
  *available = static_cast<uInt>(piece);
  *rest = rest->subspan(piece);
}

}  // namespace

bool Inflate(std::span<const std::byte> compressed, std::span<std::byte> out) {
  z_stream stream{};
  if (::inflateInit2(&stream, -MAX_WBITS) != Z_OK) return false;
  // One byte beyond the end shows a stream that is longer than it should be.
  Bytef beyond = 0;
  bool at_end_of_output = false;
  int code = Z_OK;
  while (code == Z_OK) {
    Refill(&compressed, &stream.next_in, &stream.avail_in);
    if (stream.avail_out == 0 && out.empty()) {
      if (at_end_of_output) break;
      at_end_of_output = true;
      stream.next_out = &beyond;
      stream.avail_out = 1;
    } else {
      Refill(&out, &stream.next_out, &stream.avail_out);
    }
    code = ::inflate(&stream, Z_NO_FLUSH);
  }
  const bool exact = code == Z_STREAM_END && out.empty() && stream.avail_in == 0 &&
                     compressed.empty() &&
                     (at_end_of_output ? stream.avail_out == 1 : stream.avail_out == 0);
  ::inflateEnd(&stream);
  return exact;
}

}  // namespace msprobe::formats
