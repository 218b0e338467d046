// Convolution by windows that lie side by side, as images are cut into patches: each window is one
// row of a matrix, and the whole a product.
#include <algorithm>

#include "kernels/cpu/linalg/gemm.h"
#include "kernels/cpu/short_rows.h"
#include "kernels/parallel.h"
#include "plan.h"

namespace rushlight::conv {

bool is_patches(const ConvShape& s) {
  constexpr Index kFewest = 256;  // elements of a window: of fewer, the tiles of plan.h take less
  for (int d = 1; d < 3; ++d)
    if (s.stride[d] != s.kernel[d] || s.dilation[d] != 1 || s.padding[d] != 0) return false;
  return s.groups == 1 && !s.inside && s.kernel[2] > 1 &&
         s.c * s.kernel[1] * s.kernel[2] >= kFewest;
}

void patches_forward(const ConvShape& s, const float* x, const float* w, const float* bias,
                     float* y) {
  constexpr Index kNear = 1 << 18;  // elements of a band of windows, which the second cache holds
  const Index k = s.c * s.kernel[1] * s.kernel[2], wide = s.result[2], high = s.result[1];
  const Index tasks = (num_threads() + s.n - 1) / s.n;
  const Index band = std::clamp<Index>(kNear / (k * wide), 1, (high + tasks - 1) / tasks);
  const Index bands = (high + band - 1) / band, plane = high * wide;
  parallel_for(s.n * bands, 1, [&](Index begin, Index end) {
    Scratch<float> windows(std::size_t(band * wide * k));
    const auto item = Index(sizeof(float)), row = s.kernel[2] * item;
    for (; begin < end; ++begin) {
      const Index n = begin / bands, h0 = begin % bands * band, h1 = std::min(high, h0 + band);
      for (Index h = h0; h < h1; ++h)
        for (Index i = 0; i < s.c * s.kernel[1]; ++i) {
          const Index c = i / s.kernel[1], from = h * s.kernel[1] + i % s.kernel[1];
          copy_rows(
              reinterpret_cast<char*>(&windows[std::size_t((h - h0) * wide * k + i * s.kernel[2])]),
              k * item,
              reinterpret_cast<const char*>(x + ((n * s.c + c) * s.in[1] + from) * s.in[2]), row,
              wide, row);
        }
      float* const to = y + n * s.out * plane + h0 * wide;
      const Index size = (h1 - h0) * wide;
      for (Index o = 0; o < s.out && bias; ++o) std::fill_n(to + o * plane, size, bias[o]);
      gemm<float>(s.out, size, k, 1.f, {w, k}, {windows.data(), k, true}, bias ? 1.f : 0.f,
                  {to, plane});
    }
  });
}

}  // namespace rushlight::conv
