#include <cstddef>
#include <cstdint>
#include <span>

#include "formats/npy/npy_reader.h"
#include "stored_tensor_use.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto tensor = msprobe::formats::ReadNpy(std::as_bytes(std::span(data, size)), {});
  if (tensor.ok()) msprobe::fuzz::UseTensor(*tensor);
  return 0;
}
