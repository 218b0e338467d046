// The square blocks behind transpose.h: log2(n) rounds that zip the rows of the upper half with
// those of the lower one. Note: a power of two between rows puts them all into one
// set of the nearest cache, so each line is read whole and written whole, by way of a tile.
#include "transpose.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "../host_device.h"
#include "wide_vector.h"

namespace rushlight {
namespace {

using Index = std::int64_t;

template <class S>  // rows and columns of a block; of 32 bytes where zipping crosses few lanes
inline constexpr Index kBlock = sizeof(S) == 1   ? 16
                                : sizeof(S) == 8 ? 4
                                                 : 8;
template <class S>
inline constexpr Index kTile = 64 / sizeof(S);

template <class S>
struct VectorOfRow {
  using type __attribute__((vector_size(kBlock<S> * sizeof(S)), aligned(1), may_alias)) = S;
};

template <class S>
[[gnu::always_inline]] inline void zip(typename VectorOfRow<S>::type* t) {
  using Vector = typename VectorOfRow<S>::type;
  constexpr int n = int(kBlock<S>), half = n / 2;
  [&]<int... k>(std::integer_sequence<int, k...>) {
    Vector zipped[n];
#pragma GCC unroll 16
    for (int i = 0; i < half; ++i) {
      const Vector a = t[i], b = t[i + half];
      zipped[2 * i] = __builtin_shufflevector(a, b, (k / 2 + k % 2 * n)...);
      zipped[2 * i + 1] = __builtin_shufflevector(a, b, (half + k / 2 + k % 2 * n)...);
    }
#pragma GCC unroll 16
    for (int i = 0; i < n; ++i) t[i] = zipped[i];
  }(std::make_integer_sequence<int, n>{});
}

template <class S>
[[gnu::always_inline]] inline void block(const S* src, Index lds, S* dst, Index ldd) {
  using Vector = typename VectorOfRow<S>::type;
  constexpr int n = int(kBlock<S>);
  Vector t[n];
#pragma GCC unroll 16
  for (int i = 0; i < n; ++i) t[i] = *reinterpret_cast<const Vector*>(src + i * lds);
#pragma GCC unroll 4
  for (int round = 1; round < n; round *= 2) zip<S>(t);
#pragma GCC unroll 16
  for (int i = 0; i < n; ++i) *reinterpret_cast<Vector*>(dst + i * ldd) = t[i];
}

// Of bytes, two blocks side by side: 16 rows of 32, whose halves zip within their lanes.
[[gnu::always_inline]] inline void two_blocks(const std::uint8_t* src, Index lds, std::uint8_t* dst,
                                              Index ldd) {
  using Half = typename VectorOfRow<std::uint8_t>::type;
  using Vector __attribute__((vector_size(32), aligned(1), may_alias)) = std::uint8_t;
  constexpr int n = 16, half = n / 2;
  Vector t[n];
#pragma GCC unroll 16
  for (int i = 0; i < n; ++i) t[i] = *reinterpret_cast<const Vector*>(src + i * lds);
#pragma GCC unroll 4
  for (int round = 1; round < n; round *= 2)
    [&]<int... k>(std::integer_sequence<int, k...>) {
      Vector zipped[n];
#pragma GCC unroll 16
      for (int i = 0; i < half; ++i) {
        const Vector a = t[i], b = t[i + half];
        zipped[2 * i] = __builtin_shufflevector(a, b, (k / n * n + k % n / 2 + k % 2 * 2 * n)...);
        zipped[2 * i + 1] =
            __builtin_shufflevector(a, b, (k / n * n + half + k % n / 2 + k % 2 * 2 * n)...);
      }
#pragma GCC unroll 16
      for (int i = 0; i < n; ++i) t[i] = zipped[i];
    }(std::make_integer_sequence<int, 2 * n>{});
#pragma GCC unroll 16
  for (int i = 0; i < n; ++i) {
    Half halves[2];
    std::memcpy(halves, &t[i], sizeof halves);
    *reinterpret_cast<Half*>(dst + i * ldd) = halves[0];
    *reinterpret_cast<Half*>(dst + (n + i) * ldd) = halves[1];
  }
}

template <class S>
[[gnu::always_inline]] inline void blocks(const S* src, Index lds, Index rows, Index cols, S* dst,
                                          Index ldd) {
  constexpr Index n = kBlock<S>;
  if (rows < n || cols < n) {
    for (Index c = 0; c < cols; ++c)
      for (Index r = 0; r < rows; ++r) dst[c * ldd + r] = src[r * lds + c];
    return;
  }
  // The last block may begin with rows or columns of the one before.
  Index c = 0;
  if constexpr (sizeof(S) == 1)
    for (; c + 2 * n <= cols; c += 2 * n)
      for (Index i = 0; i < rows; i += n) {
        const Index r = std::min(i, rows - n);
        two_blocks(src + r * lds + c, lds, dst + c * ldd + r, ldd);
      }
  for (; c < cols; c += n) {
    const Index k = std::min(c, cols - n);
    for (Index i = 0; i < rows; i += n) {
      const Index r = std::min(i, rows - n);
      block(src + r * lds + k, lds, dst + k * ldd + r, ldd);
    }
  }
}

// n rows or columns, `ld` apart on their dense side, as the channels of an image: constants, so
// that gcc zips or unzips whole vectors (it does not where loops are left for it to unroll).
template <class S, int n, int ld = n>
[[gnu::always_inline]] inline void join(const S* __restrict src, Index lds, Index cols,
                                        S* __restrict dst) {
  for (Index c = 0; c < cols; ++c)
#pragma GCC unroll 4
    for (int r = 0; r < n; ++r) dst[c * ld + r] = src[r * lds + c];
}
template <class S, int n, int ld = n>
[[gnu::always_inline]] inline void part(const S* __restrict src, Index rows, S* __restrict dst,
                                        Index ldd) {
  for (Index r = 0; r < rows; ++r)
#pragma GCC unroll 4
    for (int c = 0; c < n; ++c) dst[c * ldd + r] = src[r * ld + c];
}

// In vectors of the processor's whole width; not for a few rows or columns. Of many rows of floats
// the loads and stores that straddle two lines cost more than is gained.
template <class S>
bool transpose_wide(const S* src, Index lds, Index rows, Index cols, S* dst, Index ldd) {
#if defined(__x86_64__)
  if constexpr (sizeof(S) >= 4) {
    using T = std::conditional_t<sizeof(S) == 4, float, double>;  // moved as bits
    constexpr Index n = Wide<T>::kLanes;
    if (rows <= n / 2 || cols <= n / 2 || (sizeof(S) == 4 && rows > 4 * n)) return false;
    if (!uses_wide_vectors()) return false;
    for (Index r = 0; r < rows; r += n)
      transpose_lanes(reinterpret_cast<const T*>(src + r * lds), lds, rows - r, cols,
                      reinterpret_cast<T*>(dst + r), ldd, first_lanes(std::min(n, rows - r)));
    return true;
  }
#endif
  return false;
}

}  // namespace

template <class S>
CLONES void transpose_words(const S* src, Index lds, Index rows, Index cols, S* dst, Index ldd) {
  if (rows == 2 && ldd == 2) return join<S, 2>(src, lds, cols, dst);
  if (rows == 3 && ldd == 3) return join<S, 3>(src, lds, cols, dst);
  if (rows == 3 && ldd == 4) return join<S, 3, 4>(src, lds, cols, dst);
  if (rows == 4 && ldd == 4) return join<S, 4>(src, lds, cols, dst);
  if (cols == 2 && lds == 2) return part<S, 2>(src, rows, dst, ldd);
  if (cols == 3 && lds == 3) return part<S, 3>(src, rows, dst, ldd);
  if (cols == 3 && lds == 4) return part<S, 3, 4>(src, rows, dst, ldd);
  if (cols == 4 && lds == 4) return part<S, 4>(src, rows, dst, ldd);
  if (transpose_wide(src, lds, rows, cols, dst, ldd)) return;
  constexpr Index n = kTile<S>;
  if (rows < n || cols < n) return blocks(src, lds, rows, cols, dst, ldd);
  alignas(64) S tile[n * n];
  const Index whole_rows = rows / n * n, whole_cols = cols / n * n;
  for (Index r = 0; r < whole_rows; r += n)
    for (Index c = 0; c < whole_cols; c += n) {
      blocks(src + r * lds + c, lds, n, n, tile, n);
      for (Index i = 0; i < n; ++i) std::memcpy(dst + (c + i) * ldd + r, tile + i * n, 64);
    }
  blocks(src + whole_cols, lds, whole_rows, cols - whole_cols, dst + whole_cols * ldd, ldd);
  blocks(src + whole_rows * lds, lds, rows - whole_rows, cols, dst + whole_rows, ldd);
}

template void transpose_words(const std::uint8_t*, Index, Index, Index, std::uint8_t*, Index);
template void transpose_words(const std::uint16_t*, Index, Index, Index, std::uint16_t*, Index);
template void transpose_words(const std::uint32_t*, Index, Index, Index, std::uint32_t*, Index);
template void transpose_words(const std::uint64_t*, Index, Index, Index, std::uint64_t*, Index);

}  // namespace rushlight
