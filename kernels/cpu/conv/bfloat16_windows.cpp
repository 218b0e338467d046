// Convolution of bfloat16 where the planes of pairs (bfloat16.cpp) do not suit: of one to three
// channels, of small images, of volumes, of patches. The windows of some rows of results become the
// columns of a matrix, a row for each tap, and those results a product of bfloat16.
#include <algorithm>

#include "bfloat16.h"
#include "kernels/cpu/gaps.h"
#include "kernels/cpu/linalg/bfloat16_product.h"
#include "kernels/cpu/runs.h"
#include "kernels/parallel.h"

namespace rushlight::conv {

namespace {

// What one tap reads along an axis: result i reads input i * step + base, where that is inside.
struct TapAxis {
  Index step, base, first, last;  // results [first, last) read inside
  TapAxis(const ConvShape& s, int d, Index tap)
      : step(s.stride[d]), base(tap * s.dilation[d] - s.padding[d]) {
    const Index past = s.in[d] - base;  // of the inputs
    first = std::clamp<Index>(base < 0 ? (-base + step - 1) / step : 0, 0, s.result[d]);
    last = std::clamp<Index>(past > 0 ? (past - 1) / step + 1 : 0, first, s.result[d]);
  }
  bool reads(Index i) const { return i >= first && i < last; }
};

// A row of the matrix: what tap t of every window of result rows [r0, r1) reads in one image.
void read_tap(const ConvShape& s, const bfloat16* image, Index t, Index r0, Index r1,
              bfloat16* to) {
  const Index taps = s.kernel[0] * s.kernel[1] * s.kernel[2], wide = s.result[2];
  const bfloat16* const x = image + t / taps * s.in[0] * s.in[1] * s.in[2];
  const TapAxis depths(s, 0, t % taps / (s.kernel[1] * s.kernel[2]));
  const TapAxis rows(s, 1, t / s.kernel[2] % s.kernel[1]), cols(s, 2, t % s.kernel[2]);
  for (Index r = r0; r < r1; ++r, to += wide) {
    const Index d = r / s.result[1], h = r % s.result[1], n = cols.last - cols.first;
    if (!depths.reads(d) || !rows.reads(h) || n == 0) {
      std::fill_n(to, wide, bfloat16{});
      continue;
    }
    std::fill_n(to, cols.first, bfloat16{});
    std::fill_n(to + cols.last, wide - cols.last, bfloat16{});
    const Index row = (d * depths.step + depths.base) * s.in[1] + h * rows.step + rows.base;
    const bfloat16* const from = x + row * s.in[2] + cols.first * cols.step + cols.base;
    if (cols.step == 1)
      copy_bytes(to + cols.first, from, n * Index(sizeof(bfloat16)));
    else
      bring_together(to + cols.first, from, sizeof(bfloat16), cols.step, n);
  }
}

}  // namespace

bool windows_bfloat16(const ConvShape& s, const bfloat16* x, const bfloat16* w,
                      const bfloat16* bias, bfloat16* y) {
  // Fewer results of a window do not pay for it; nor do windows that are read in short pieces.
  constexpr Index kFewestTaps = 64, kFewest = 64, kMany = 128, kLongRow = 32;
  constexpr Index kNear = 1 << 18;  // elements of a band of windows
  const Index k = s.c * s.kernel[0] * s.kernel[1] * s.kernel[2], wide = s.result[2];
  const Index rows = s.result[0] * s.result[1], image = s.in[0] * s.in[1] * s.in[2];
  const Index most = std::clamp<Index>(kNear / (k * wide), 1, rows);
  if (s.groups != 1 || s.inside || k < kFewestTaps || s.out < (wide < kLongRow ? kMany : kFewest) ||
      most * wide < 2 * kPanel)  // so that every band is a product worth it
    return false;
  const Index bands = (rows + most - 1) / most;
  Scratch<bfloat16> windows(std::size_t(most * wide * k));
  for (Index n = 0; n < s.n; ++n)
    for (Index i = 0; i < bands; ++i) {
      const Index r0 = rows * i / bands, r1 = rows * (i + 1) / bands, size = (r1 - r0) * wide;
      parallel_for(k, 1 + 16384 / size, [&](Index begin, Index end) {
        for (; begin < end; ++begin)
          read_tap(s, x + n * s.c * image, begin, r0, r1, windows.data() + begin * size);
      });
      bfloat16* const to = y + (n * s.out * rows + r0) * wide;
      for (Index o = 0; o < s.out && bias; ++o) std::fill_n(to + o * rows * wide, size, bias[o]);
      const StridedMatrix<bfloat16> out{to, s.out, size, rows * wide, 1};
      bfloat16_product({w, s.out, k, k, 1}, {windows.data(), k, size, size, 1},
                       output_of<float, bfloat16>(out, 1.f, bias ? 1.f : 0.f));
    }
  return true;
}

}  // namespace rushlight::conv
