// The conversions behind half.h: of sixteen or eight elements in one instruction. Without it the
// bits are put together in ten or more, as dtype.h has it.
#include "half.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace rushlight {
namespace {

void widen_singly(float* to, const float16* from, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) to[i] = load(from + i);
}
void narrow_singly(float16* to, const float* from, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) store(to + i, from[i]);
}

#if defined(__x86_64__)
[[gnu::target("avx,f16c")]] void widen_eights(float* to, const float16* from, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps(to + i,
                     _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
  widen_singly(to + i, from + i, n - i);
}
[[gnu::target("avx,f16c")]] void narrow_eights(float16* to, const float* from, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
  narrow_singly(to + i, from + i, n - i);
}
[[gnu::target("avx512f")]] void widen_sixteens(float* to, const float16* from, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    const __m256i halves = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i));
    _mm512_storeu_ps(to + i, _mm512_maskz_cvtph_ps(0xffff, halves));
  }
  widen_eights(to + i, from + i, n - i);
}
[[gnu::target("avx512f")]] void narrow_sixteens(float16* to, const float* from, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + 16 <= n; i += 16)
    _mm256_storeu_si256(
        reinterpret_cast<__m256i*>(to + i),
        _mm512_maskz_cvtps_ph(0xffff, _mm512_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
  narrow_eights(to + i, from + i, n - i);
}
const bool kWide = __builtin_cpu_supports("avx512f");
const bool kConverts = __builtin_cpu_supports("avx") && __builtin_cpu_supports("f16c");
const auto widen_all = kWide ? widen_sixteens : kConverts ? widen_eights : widen_singly;
const auto narrow_all = kWide ? narrow_sixteens : kConverts ? narrow_eights : narrow_singly;
#else
constexpr auto widen_all = widen_singly;
constexpr auto narrow_all = narrow_singly;
#endif

}  // namespace

void widen(float* to, const float16* from, std::int64_t n) { widen_all(to, from, n); }
void narrow(float16* to, const float* from, std::int64_t n) { narrow_all(to, from, n); }

}  // namespace rushlight
