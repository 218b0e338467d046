// The conversions behind half.h: of eight elements in one instruction. Without it the bits are put
// together in ten or more, as dtype.h has it.
#include "half.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace rushlight {

#if defined(__x86_64__)
namespace {

bool is_able() {
  static const bool able = __builtin_cpu_supports("avx") && __builtin_cpu_supports("f16c");
  return able;
}

[[gnu::target("avx,f16c")]] void widen_all(float* to, const float16* from, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps(to + i,
                     _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
  for (; i < n; ++i) to[i] = load(from + i);
}
[[gnu::target("avx,f16c")]] void narrow_all(float16* to, const float* from, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
  for (; i < n; ++i) store(to + i, from[i]);
}

}  // namespace

bool widen(float* to, const float16* from, std::int64_t n) {
  if (is_able()) widen_all(to, from, n);
  return is_able();
}
bool narrow(float16* to, const float* from, std::int64_t n) {
  if (is_able()) narrow_all(to, from, n);
  return is_able();
}
#else
bool widen(float*, const float16*, std::int64_t) { return false; }
bool narrow(float16*, const float*, std::int64_t) { return false; }
#endif

}  // namespace rushlight
