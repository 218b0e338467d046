// Which algorithm a length takes: passes; columns and rows of a matrix, where it is long; a product
// of polynomials, where it has a large prime factor.
#include "transform.h"

#include <algorithm>
#include <utility>

#include "kernels/host_device.h"
#include "matrix.h"

namespace rushlight::fft {
namespace {

// x *= a number of its own for each value, of which the table holds real and imaginary parts.
template <class T>
CLONES void turn(Planes<T> x, Index n, Index lines, const T* re, const T* im) {
  for (Index j = 0; j < n; ++j) {
    const T c = re[j], d = im[j];
    T* const xr = x.re + j * lines;
    T* const xi = x.im + j * lines;
    for (Index l = 0; l < lines; ++l) {
      const T a = xr[l], b = xi[l];
      xr[l] = a * c - b * d;
      xi[l] = a * d + b * c;
    }
  }
}
template <class T>
CLONES void turn_line(Planes<T> x, Index n, const T* __restrict re, const T* __restrict im) {
  T* __restrict const xr = x.re;
  T* __restrict const xi = x.im;
  for (Index j = 0; j < n; ++j) {
    const T a = xr[j], b = xi[j];
    xr[j] = a * re[j] - b * im[j];
    xi[j] = a * im[j] + b * re[j];
  }
}
template <class T>
void turned(Planes<T> x, Index n, Index lines, const std::vector<T>& table) {
  const T *re = table.data(), *im = re + n;
  lines == 1 ? turn_line(x, n, re, im) : turn(x, n, lines, re, im);
}

// j k = (j^2 + k^2 - (k - j)^2) / 2: a transform is a product with a chirp, a convolution with its
// conjugate, and a product again. Parts exchanged, the inner transform runs backwards.
template <class T>
Planes<T> by_chirp(const Plan<T>& plan, Index lines, Planes<T> x, Planes<T> other) {
  const Index n = plan.n, length = plan.inner->n;
  turned(x, n, lines, plan.chirp);
  std::fill(x.re + n * lines, x.re + length * lines, T(0));
  std::fill(x.im + n * lines, x.im + length * lines, T(0));
  const Planes<T> first = transform(*plan.inner, lines, x, other);
  if (first.re != x.re) std::swap(x, other);
  turned(x, length, lines, plan.response);
  const Planes<T> back = transform<T>(*plan.inner, lines, {x.im, x.re}, {other.im, other.re});
  const Planes<T> made = {back.im, back.re};
  turned(made, n, lines, plan.chirp);
  return made;
}

}  // namespace

template <class T>
Planes<T> transform(const Plan<T>& plan, Index lines, Planes<T> x, Planes<T> other) {
  if (plan.inner) return by_chirp(plan, lines, x, other);
  if (!plan.columns) return run_passes(plan, lines, x, other);
  const auto copy = [](const T* from, Index from_row, Index rows, Index count, T* to,
                       Index to_row) {
    for (Index row = 0; row < rows; ++row, from += from_row, to += to_row)
      std::copy(from, from + count, to);
  };
  const Index height = plan.columns->n, width = plan.rows->n;
  const auto take = [&](Index column, Index count, Index row, Index rows, Planes<T> to) {
    const Index from = row * width + column, at = row * kGroup;
    copy(x.re + from, width, rows, count, to.re + at, kGroup);
    copy(x.im + from, width, rows, count, to.im + at, kGroup);
  };
  const auto put = [&](Index row, Index count, Index j, Index values, Planes<T> from) {
    const Index to = j * height + row, at = j * kGroup;
    copy(from.re + at, kGroup, values, count, other.re + to, height);
    copy(from.im + at, kGroup, values, count, other.im + to, height);
  };
  by_matrix<T>(plan, take, put);
  return other;
}
template Planes<float> transform(const Plan<float>&, Index, Planes<float>, Planes<float>);
template Planes<double> transform(const Plan<double>&, Index, Planes<double>, Planes<double>);

}  // namespace rushlight::fft
