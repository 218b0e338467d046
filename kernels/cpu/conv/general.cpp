// Convolution of any dimensions by a column matrix and a product per image and group: what the
// float kernels do not take. The column matrix covers a band of outputs, so it stays small.
#include <algorithm>
#include <type_traits>
#include <vector>

#include "kernels/cpu/linalg/gemm.h"
#include "kernels/parallel.h"
#include "plan.h"

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

// Calls f(row of the column matrix, column, count, input position or -1) for outputs [p0, p1), in
// runs along their last dimension: those inside the image lie s.stride[2] apart in it.
template <class F>
void visit_columns(const ConvShape& s, Index c, Index p0, Index p1, F f) {
  const Index wide = s.result[2], step = s.stride[2];
  Index row = 0;
  for (Index ch = 0; ch < c; ++ch)
    for (Index kd = 0; kd < s.kernel[0]; ++kd)
      for (Index kh = 0; kh < s.kernel[1]; ++kh)
        for (Index kw = 0; kw < s.kernel[2]; ++kw, ++row) {
          const Index shift = kw * s.dilation[2] - s.padding[2], last = s.in[2] - 1 - shift;
          const Index from = shift < 0 ? (-shift + step - 1) / step : 0;
          const Index to = last < 0 ? 0 : last / step + 1;
          Index q = p0 % wide, h = p0 / wide % s.result[1], d = p0 / wide / s.result[1];
          for (Index p = p0; p < p1; q = 0) {
            const Index n = std::min(wide - q, p1 - p), end = q + n;
            const Index z = d * s.stride[0] + kd * s.dilation[0] - s.padding[0];
            const Index y = h * s.stride[1] + kh * s.dilation[1] - s.padding[1];
            const bool inside = z >= 0 && z < s.in[0] && y >= 0 && y < s.in[1];
            const Index first = inside ? std::clamp(from, q, end) : end;
            const Index stop = inside ? std::clamp(to, first, end) : end;
            const Index at = ((ch * s.in[0] + z) * s.in[1] + y) * s.in[2] + first * step + shift;
            const Index column = p - p0 - q;
            if (first > q) f(row, column + q, first - q, Index(-1));
            if (stop > first) f(row, column + first, stop - first, at);
            if (end > stop) f(row, column + stop, end - stop, Index(-1));
            p += n;
            if (++h == s.result[1]) h = 0, ++d;
          }
        }
}

template <class T>
void gather_columns(const ConvShape& s, Index c, Index p0, Index p1, const T* image, T* columns) {
  const Index size = p1 - p0, step = s.stride[2];
  visit_columns(s, c, p0, p1, [&](Index row, Index column, Index n, Index at) {
    T* to = columns + row * size + column;
    if (at < 0)
      std::fill_n(to, n, T(0));
    else if (step == 1)
      std::copy_n(image + at, n, to);
    else
      for (Index i = 0; i < n; ++i) to[i] = image[at + i * step];
  });
}

// Of integers without overflow, which would be undefined.
template <class T>
T wrapped_sum(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return T(std::uint64_t(a) + std::uint64_t(b));
  else
    return a + b;
}

}  // namespace

template <class T>
void General<T>::forward(const ConvShape& s, const T* x, const T* w, const T* bias, T* y) {
  const Sizes z(s);
  const Index band = std::min(z.band(), z.result), bands = (z.result + band - 1) / band;
  // Where tasks are fewer than threads, they share the output channels and each gathers anew.
  const Index tasks = std::max<Index>(s.n * s.groups * bands, 1), threads = num_threads();
  const Index most =
      std::clamp<Index>(z.out * z.k * band / 250'000, 1, (threads + tasks - 1) / tasks);
  const Index strips = std::min(most, std::max<Index>(z.out, 1));
  parallel_for(s.n * s.groups * bands * strips, 1, [&](Index begin, Index end) {
    Scratch<T> columns(std::max<Index>(z.k * band, 1));
    for (Index task = begin; task < end; ++task) {
      const Index i = task / strips, n = i / bands / s.groups, g = i / bands % s.groups;
      const Index o0 = z.out * (task % strips) / strips, o1 = z.out * (task % strips + 1) / strips;
      const Index p0 = i % bands * band, p1 = std::min(z.result, p0 + band), size = p1 - p0;
      const T* image = x + (n * s.c + g * z.c) * z.in;
      gather_columns(s, z.c, p0, p1, image, columns.data());
      T* out = y + (n * s.out + g * z.out) * z.result + p0;
      for (Index o = o0; o < o1; ++o)
        std::fill_n(out + o * z.result, size, bias ? bias[g * z.out + o] : T(0));
      gemm<T>(o1 - o0, size, z.k, T(1), {w + (g * z.out + o0) * z.k, z.k}, {columns.data(), size},
              T(1), {out + o0 * z.result, z.result});
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
        visit_columns(s, z.c, p0, p1, [&](Index row, Index column, Index n, Index at) {
          if (at < 0) return;
          const T* from = columns.data() + row * size + column;
          for (Index i = 0; i < n; ++i) {
            T& sum = image[at + i * s.stride[2]];
            sum = wrapped_sum(sum, from[i]);
          }
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
          gather_columns(s, z.c, p0, p1, image, columns.data());
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
template struct General<std::uint8_t>;
template struct General<std::int8_t>;
template struct General<std::int16_t>;
template struct General<std::int32_t>;
template struct General<std::int64_t>;

}  // namespace rushlight::conv
