// CRC-32 (polynomial 0x04C11DB7, reflected). Note: the fast way multiplies without
// carries, 64 bytes at a time, or 256 with AVX-512, after Gopal et al., "Fast CRC Computation for
// Generic Polynomials Using PCLMULQDQ Instruction" (Intel, 2009), whose constants these are; eight
// tables serve processors without the instruction, and the ends of a block.
#include "core/crc32.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace rushlight {
namespace {

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Tables make_tables() {
  Tables t{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t c = i;
    for (int bit = 0; bit < 8; ++bit) c = (c >> 1) ^ (c & 1 ? 0xEDB88320U : 0);
    t[0][i] = c;
  }
  for (std::size_t k = 1; k < 8; ++k)
    for (std::size_t i = 0; i < 256; ++i) t[k][i] = (t[k - 1][i] >> 8) ^ t[0][t[k - 1][i] & 255];
  return t;
}
constexpr Tables kTables = make_tables();

std::uint32_t by_table(std::uint32_t c, const unsigned char* p, std::size_t n) noexcept {
  for (; n >= 8; n -= 8, p += 8) {
    std::uint64_t word;
    std::memcpy(&word, p, 8);
    word ^= c;
    c = 0;
    for (std::size_t k = 0; k < 8; ++k) c ^= kTables[7 - k][(word >> (8 * k)) & 255];
  }
  for (; n; --n, ++p) c = (c >> 8) ^ kTables[0][(c ^ *p) & 255];
  return c;
}

#if defined(__x86_64__)
// n is a multiple of 16 and at least 64.
[[gnu::target("pclmul,sse4.1")]] std::uint32_t by_folding(std::uint32_t c, const unsigned char* p,
                                                          std::size_t n) noexcept {
  const auto load = [](const unsigned char* at) __attribute__((target("pclmul,sse4.1"))) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
  };
  // x moved forward by the distance of the constants, joined with what lies there.
  const auto fold = [](__m128i x, __m128i by,
                       __m128i next) __attribute__((target("pclmul,sse4.1"))) {
    const __m128i low = _mm_clmulepi64_si128(x, by, 0x00), high = _mm_clmulepi64_si128(x, by, 0x11);
    return _mm_xor_si128(_mm_xor_si128(low, high), next);
  };
  const __m128i by_64_bytes = _mm_set_epi64x(0x1C6E41596, 0x154442BD4);
  const __m128i by_16_bytes = _mm_set_epi64x(0x0CCAA009E, 0x1751997D0);
  const __m128i by_8_bytes = _mm_set_epi64x(0, 0x163CD6124);
  const __m128i barrett = _mm_set_epi64x(0x1F7011641, 0x1DB710641);  // mu, polynomial
  const __m128i low_words = _mm_setr_epi32(~0, 0, ~0, 0);

  __m128i a = _mm_xor_si128(load(p), _mm_cvtsi32_si128(int(c)));
  __m128i b = load(p + 16), d = load(p + 32), e = load(p + 48);
  for (p += 64, n -= 64; n >= 64; p += 64, n -= 64) {
    a = fold(a, by_64_bytes, load(p));
    b = fold(b, by_64_bytes, load(p + 16));
    d = fold(d, by_64_bytes, load(p + 32));
    e = fold(e, by_64_bytes, load(p + 48));
  }
  a = fold(fold(fold(a, by_16_bytes, b), by_16_bytes, d), by_16_bytes, e);
  for (; n >= 16; p += 16, n -= 16) a = fold(a, by_16_bytes, load(p));

  a = _mm_xor_si128(_mm_srli_si128(a, 8), _mm_clmulepi64_si128(a, by_16_bytes, 0x10));
  a = _mm_xor_si128(_mm_srli_si128(a, 4),
                    _mm_clmulepi64_si128(_mm_and_si128(a, low_words), by_8_bytes, 0x00));
  __m128i q = _mm_clmulepi64_si128(_mm_and_si128(a, low_words), barrett, 0x10);
  q = _mm_clmulepi64_si128(_mm_and_si128(q, low_words), barrett, 0x00);
  return std::uint32_t(_mm_extract_epi32(_mm_xor_si128(a, q), 1));
}

// n is a multiple of 256.
[[gnu::target("vpclmulqdq,avx512f")]] std::uint32_t by_wide_folding(std::uint32_t c,
                                                                    const unsigned char* p,
                                                                    std::size_t n) noexcept {
  const auto load = [](const unsigned char* at) __attribute__((target("vpclmulqdq,avx512f"))) {
    return _mm512_loadu_si512(at);
  };
  const auto fold = [](__m512i x, __m512i by, __m512i next)
                        __attribute__((target("vpclmulqdq,avx512f"))) {
                          const __m512i low = _mm512_clmulepi64_epi128(x, by, 0x00),
                                        high = _mm512_clmulepi64_epi128(x, by, 0x11);
                          return _mm512_ternarylogic_epi64(low, high, next, 0x96);  // a ^ b ^ c
                        };
  const auto pairs = [](long long low, long long high)
                         __attribute__((target("vpclmulqdq,avx512f"))) {
                           return _mm512_set_epi64(high, low, high, low, high, low, high, low);
                         };
  // x^(8 * 256 + 32) and x^(8 * 256 - 32) modulo the polynomial, reflected, times 2.
  const __m512i by_256_bytes = pairs(0x11542778A, 0x1322D1430);
  const __m512i by_64_bytes = pairs(0x154442BD4, 0x1C6E41596);
  __m512i a = _mm512_xor_si512(load(p), _mm512_zextsi128_si512(_mm_cvtsi32_si128(int(c))));
  __m512i b = load(p + 64), d = load(p + 128), e = load(p + 192);
  for (p += 256, n -= 256; n; p += 256, n -= 256) {
    a = fold(a, by_256_bytes, load(p));
    b = fold(b, by_256_bytes, load(p + 64));
    d = fold(d, by_256_bytes, load(p + 128));
    e = fold(e, by_256_bytes, load(p + 192));
  }
  unsigned char rest[64];
  _mm512_storeu_si512(rest, fold(fold(fold(a, by_64_bytes, b), by_64_bytes, d), by_64_bytes, e));
  return by_folding(0, rest, sizeof rest);
}
#endif

}  // namespace

std::uint32_t crc32(std::uint32_t crc, const void* data, std::size_t length) noexcept {
  const auto* p = static_cast<const unsigned char*>(data);
  std::uint32_t c = ~crc;
#if defined(__x86_64__)
  static const bool folds = __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
  static const bool folds_wide =
      folds && __builtin_cpu_supports("vpclmulqdq") && __builtin_cpu_supports("avx512f");
  if (folds_wide && length >= 256) {
    const std::size_t whole = length & ~std::size_t(255);
    c = by_wide_folding(c, p, whole);
    p += whole;
    length -= whole;
  }
  if (folds && length >= 64) {
    const std::size_t whole = length & ~std::size_t(15);
    c = by_folding(c, p, whole);
    p += whole;
    length -= whole;
  }
#endif
  return ~by_table(c, p, length);
}

}  // namespace rushlight
