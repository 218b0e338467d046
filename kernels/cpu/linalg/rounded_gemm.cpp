// Both operands are small, as blocks of attention are, and packed whole.
#include "rounded_gemm.h"

#include <algorithm>

#include "amx.h"
#include "kernels/cpu/scratch.h"
#include "kernels/cpu/transpose.h"
#include "kernels/host_device.h"
#include "strided_matrix.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace rushlight {

#if defined(__x86_64__)
namespace {

using amx::kTile;
using Index = std::int64_t;
using Pair = Bfloat16Pair;
constexpr Index kWide = 2 * kTile, kLeast = 65536;  // products

__mmask16 lanes(Index n) { return __mmask16((1u << std::clamp<Index>(n, 0, 16)) - 1); }

// n floats, and zeros up to `width`, a multiple of 32.
[[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] void round_row(const float* from, Index n,
                                                                       Index width, Pair* to) {
  for (Index i = 0; i < width; i += kWide, to += kTile) {
    const __m512 low = _mm512_maskz_loadu_ps(lanes(n - i), from + i);
    const __m512 high = _mm512_maskz_loadu_ps(lanes(n - i - 16), from + i + 16);
    _mm512_storeu_si512(to, (__m512i)_mm512_cvtne2ps_pbh(high, low));
  }
}
using Halves = short __attribute__((vector_size(64)));
const auto kZip = (__m512i)Halves{0, 16, 1, 17, 2,  18, 3,  19, 4,  20, 5,  21, 6,  22, 7,  23,
                                  8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
// Two rows of up to 32 floats as pairs; the second may be null.
[[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] void round_pair(const float* first,
                                                                        const float* second,
                                                                        Index n, Pair* to) {
  for (Index i = 0; i < kWide; i += 16) {
    const __mmask16 some = lanes(n - i);
    const __m512 low = _mm512_maskz_loadu_ps(some, first + i);
    const __m512 high = second ? _mm512_maskz_loadu_ps(some, second + i) : _mm512_setzero_ps();
    const auto both = (__m512i)_mm512_cvtne2ps_pbh(high, low);  // [16 of each], to be zipped
    _mm512_storeu_si512(to + i, _mm512_maskz_permutexvar_epi16(~0u, kZip, both));
  }
}

CLONES_512 void put(const float* sums, Index rows, Index columns, float alpha, float beta,
                    float* out, Index ld) {
  for (Index r = 0; r < rows; ++r, sums += kWide, out += ld)
    for (Index c = 0; c < columns; ++c)
      out[c] = beta == 0 ? alpha * sums[c] : alpha * sums[c] + beta * out[c];
}

}  // namespace

void pack_panel(Matrix<const float> right, Index first, Index n, Index k, Index pairs, Pair* to) {
  const Index columns = std::min(kWide, n - first);
  if (right.transposed) {
    Scratch<Pair> rows(std::size_t(kWide * pairs));
    for (Index c = 0; c < kWide; ++c)
      round_row(right.data + (first + std::min(c, columns - 1)) * right.ld, c < columns ? k : 0,
                2 * pairs, rows.data() + c * pairs);
    return transpose(rows.data(), pairs, kWide, pairs, to, kWide);
  }
  const float* from = right.data + first;
  for (Index p = 0; p < pairs; ++p, from += 2 * right.ld, to += kWide) {
    if (2 * p < k)
      round_pair(from, 2 * p + 1 < k ? from + right.ld : nullptr, columns, to);
    else
      std::fill_n(to, kWide, Pair(0));
  }
}

void pack_rounded(Matrix<const float> rows, Index m, Index k, Index pairs, Pair* to) {
  for (Index i = 0; i < rounded_up(m, kWide); ++i)
    round_row(rows.data + std::min(i, m - 1) * rows.ld, i < m ? k : 0, 2 * pairs, to + i * pairs);
}

void multiply_panel(const Pair* rows, Index m, Index pairs, const Pair* panel, Index n, float alpha,
                    float beta, Matrix<float> out) {
  alignas(64) float sums[kWide * kWide];
  for (Index r = 0; r < m; r += kWide, rows += kWide * pairs) {
    amx::multiply({{rows, r + kTile < m ? rows + kTile * pairs : nullptr},
                   {},
                   pairs * Index(sizeof(Pair)),
                   kTile * Index(sizeof(Pair)),
                   panel,
                   kWide * Index(sizeof(Pair)),
                   amx::kPanelOffsets.data(),
                   pairs / kTile,
                   sums,
                   false,
                   panel,
                   0});
    put(sums, std::min(kWide, m - r), n, alpha, beta, out.data + r * out.ld, out.ld);
  }
}

bool rounded_gemm(Index m, Index n, Index k, float alpha, Matrix<const float> left,
                  Matrix<const float> right, float beta, Matrix<float> out) {
  const Index pairs = rounded_up((k + 1) / 2, kTile), lots = pairs / kTile;
  if (!amx::is_available() || left.transposed || lots > amx::kMostLots || m * n * k < kLeast)
    return false;
  Scratch<Pair> a(std::size_t(rounded_up(m, kWide) * pairs)), b(std::size_t(pairs * kWide));
  pack_rounded(left, m, k, pairs, a.data());
  const amx::Tiles tiles(kTile);
  for (Index c = 0; c < n; c += kWide) {
    pack_panel(right, c, n, k, pairs, b.data());
    multiply_panel(a.data(), m, pairs, b.data(), std::min(kWide, n - c), alpha, beta,
                   {out.data + c, out.ld});
  }
  return true;
}
#else
bool rounded_gemm(std::int64_t, std::int64_t, std::int64_t, float, Matrix<const float>,
                  Matrix<const float>, float, Matrix<float>) {
  return false;
}
void pack_panel(Matrix<const float>, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                Bfloat16Pair*) {}
void pack_rounded(Matrix<const float>, std::int64_t, std::int64_t, std::int64_t, Bfloat16Pair*) {}
void multiply_panel(const Bfloat16Pair*, std::int64_t, std::int64_t, const Bfloat16Pair*,
                    std::int64_t, float, float, Matrix<float>) {}
#endif

}  // namespace rushlight
