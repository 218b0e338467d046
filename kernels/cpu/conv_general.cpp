// Convolution of any dimensions by a column matrix and a product per image and group: what the
// float kernels do not take. The column matrix covers a band of outputs, so it stays small.
#include <algorithm>
#include <vector>

#include "../parallel.h"
#include "conv_plan.h"
#include "gemm.h"

namespace rushlight::conv {
namespace {

struct Sizes {
  Index c, out, taps, in, result, k;  // per group; in and result are whole planes; k = c * taps
  explicit Sizes(const ConvShape& s)
      : c(s.c / s.groups),
        out(s.out / s.groups),
        taps(s.kernel[0] * s.kernel[1] * s.kernel[2]),
        in(s.in[0] * s.in[1] * s.in[2]),
        result(s.result[0] * s.result[1] * s.result[2]),
        k(c * taps) {}
  // Outputs handled at once.
  Index band() const {
    return std::clamp<Index>((Index(1) << 20) / std::max<Index>(k, 1), 64, 4096);
  }
};

// Calls f(row of the column matrix, column, input position or -1) for outputs [p0, p1).
template <class F>
void visit_columns(const ConvShape& s, Index c, Index p0, Index p1, F f) {
  Index row = 0;
  for (Index ch = 0; ch < c; ++ch)
    for (Index kd = 0; kd < s.kernel[0]; ++kd)
      for (Index kh = 0; kh < s.kernel[1]; ++kh)
        for (Index kw = 0; kw < s.kernel[2]; ++kw, ++row)
          for (Index p = p0; p < p1; ++p) {
            const Index q = p % s.result[2], h = p / s.result[2] % s.result[1];
            const Index d = p / s.result[2] / s.result[1];
            const Index z = d * s.stride[0] + kd * s.dilation[0] - s.padding[0];
            const Index y = h * s.stride[1] + kh * s.dilation[1] - s.padding[1];
            const Index x = q * s.stride[2] + kw * s.dilation[2] - s.padding[2];
            const bool inside =
                z >= 0 && z < s.in[0] && y >= 0 && y < s.in[1] && x >= 0 && x < s.in[2];
            f(row, p - p0, inside ? ((ch * s.in[0] + z) * s.in[1] + y) * s.in[2] + x : Index(-1));
          }
}

}  // namespace

template <class T>
void General<T>::forward(const ConvShape& s, const T* x, const T* w, const T* bias, T* y) {
  const Sizes z(s);
  const Index band = std::min(z.band(), z.result), bands = (z.result + band - 1) / band;
  parallel_for(s.n * s.groups * bands, 1, [&](Index begin, Index end) {
    Scratch<T> columns(std::max<Index>(z.k * band, 1));
    for (Index i = begin; i < end; ++i) {
      const Index n = i / bands / s.groups, g = i / bands % s.groups;
      const Index p0 = i % bands * band, p1 = std::min(z.result, p0 + band), size = p1 - p0;
      const T* image = x + (n * s.c + g * z.c) * z.in;
      visit_columns(s, z.c, p0, p1, [&](Index row, Index col, Index at) {
        columns[row * size + col] = at < 0 ? T(0) : image[at];
      });
      T* out = y + (n * s.out + g * z.out) * z.result + p0;
      for (Index o = 0; o < z.out; ++o)
        std::fill_n(out + o * z.result, size, bias ? bias[g * z.out + o] : T(0));
      gemm<T>(z.out, size, z.k, T(1), {w + g * z.out * z.k, z.k}, {columns.data(), size}, T(1),
              {out, z.result});
    }
  });
}

template <class T>
void General<T>::grad_input(const ConvShape& s, const T* grad, const T* w, const T* bias,
                            T* grad_x) {
  const Sizes z(s);
  const Index band = std::min(z.band(), z.result);
  // One task owns an image's group, since neighbouring outputs add to the same inputs.
  parallel_for(s.n * s.groups, 1, [&](Index begin, Index end) {
    Scratch<T> columns(std::max<Index>(z.k * band, 1));
    for (Index i = begin; i < end; ++i) {
      const Index n = i / s.groups, g = i % s.groups;
      T* image = grad_x + (n * s.c + g * z.c) * z.in;
      for (Index c = 0; c < z.c; ++c)
        std::fill_n(image + c * z.in, z.in, bias ? bias[g * z.c + c] : T(0));
      for (Index p0 = 0; p0 < z.result; p0 += band) {
        const Index p1 = std::min(z.result, p0 + band), size = p1 - p0;
        gemm<T>(z.k, size, z.out, T(1), {w + g * z.out * z.k, z.k, true},
                {grad + (n * s.out + g * z.out) * z.result + p0, z.result}, T(0),
                {columns.data(), size});
        visit_columns(s, z.c, p0, p1, [&](Index row, Index col, Index at) {
          if (at >= 0) image[at] += columns[row * size + col];
        });
        check_interrupt();
      }
    }
  });
}

template <class T>
void General<T>::grad_weight(const ConvShape& s, const T* x, const T* grad, T* grad_w) {
  const Sizes z(s);
  const Index band = std::min(z.band(), z.result);
  std::fill_n(grad_w, s.out * z.k, T(0));
  parallel_for(s.groups, 1, [&](Index begin, Index end) {
    Scratch<T> columns(std::max<Index>(z.k * band, 1));
    for (Index g = begin; g < end; ++g)
      for (Index n = 0; n < s.n; ++n) {
        const T* image = x + (n * s.c + g * z.c) * z.in;
        for (Index p0 = 0; p0 < z.result; p0 += band) {
          const Index p1 = std::min(z.result, p0 + band), size = p1 - p0;
          visit_columns(s, z.c, p0, p1, [&](Index row, Index col, Index at) {
            columns[row * size + col] = at < 0 ? T(0) : image[at];
          });
          gemm<T>(z.out, z.k, size, T(1),
                  {grad + (n * s.out + g * z.out) * z.result + p0, z.result},
                  {columns.data(), size, true}, T(1), {grad_w + g * z.out * z.k, z.k});
          check_interrupt();
        }
      }
  });
}

template struct General<float>;
template struct General<double>;

}  // namespace rushlight::conv
