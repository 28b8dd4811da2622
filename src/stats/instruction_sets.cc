// What Highway's headers want of its library. The library itself is not linked: whoever loads it
// waits while it measures the processor's clock, which takes longer than a short command.

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <vector>

// Whoever links this library may have Highway's own beside it.
#pragma GCC visibility push(hidden)
#include <hwy/targets.h>

namespace hwy {
namespace {

int64_t Detect() {
#if HWY_ARCH_X86
  __builtin_cpu_init();
  const bool ssse3 = __builtin_cpu_supports("ssse3");
  const bool sse4 = ssse3 && __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("sse4.2") &&
                    __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("aes");
  const bool avx2 = sse4 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                    __builtin_cpu_supports("lzcnt") && __builtin_cpu_supports("f16c");
  const bool avx3 = avx2 && __builtin_cpu_supports("avx512f") &&
                    __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd");
  const bool avx3_dl =
      avx3 && __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("vpclmulqdq") &&
      __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
      __builtin_cpu_supports("vaes") && __builtin_cpu_supports("avx512vpopcntdq") &&
      __builtin_cpu_supports("avx512bitalg") && __builtin_cpu_supports("gfni");
  return HWY_STATIC_TARGET | (ssse3 ? HWY_SSSE3 : 0) | (sse4 ? HWY_SSE4 : 0) |
         (avx2 ? HWY_AVX2 : 0) | (avx3 ? HWY_AVX3 : 0) | (avx3_dl ? HWY_AVX3_DL : 0);
#else
  return HWY_STATIC_TARGET;
#endif
}

}  // namespace

int64_t SupportedTargets() {
  static const int64_t targets = Detect();
  return targets;
}

ChosenTarget& GetChosenTarget() {
  static ChosenTarget chosen;
  return chosen;
}

// For assertions in headers, which builds without optimization and with sanitizers have.
void Abort(const char* file, int line, const char* format, ...) {
  std::fprintf(stderr, "%s:%d: ", file, line);
  va_list arguments;
  va_start(arguments, format);
  std::vfprintf(stderr, format, arguments);
  va_end(arguments);
  std::fputc('\n', stderr);
  std::abort();
}

}  // namespace hwy
#pragma GCC visibility pop
