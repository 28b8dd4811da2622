#include "vis_use.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto& path = msprobe::fuzz::ScratchFile("compare_step0_rank1.vis");
  msprobe::fuzz::WriteFile(path, {reinterpret_cast<const char*>(data), size});
  msprobe::fuzz::ShowFile(msprobe::visfile::OpenVis(path, {}));
  return 0;
}
