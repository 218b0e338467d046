// Which algorithm a length takes: passes; columns and rows of a matrix, where it is long; a product
// of polynomials, where it has a large prime factor.
#include "transform.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/cpu/scratch.h"
#include "kernels/parallel.h"

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

// One line as a matrix, a group of its columns after another.
template <class T>
CLONES void turn_group(Planes<T> x, Index rows, const T* group, const T* inside) {
  for (Index row = 0; row < rows; ++row) {
    const T c = group[2 * row], d = group[2 * row + 1];
    const T* const re = inside + 2 * row * kGroup;
    const T* const im = re + kGroup;
    T* const xr = x.re + row * kGroup;
    T* const xi = x.im + row * kGroup;
    for (Index l = 0; l < kGroup; ++l) {
      const T u = c * re[l] - d * im[l], v = c * im[l] + d * re[l];
      const T a = xr[l], b = xi[l];
      xr[l] = a * u - b * v;
      xi[l] = a * v + b * u;
    }
  }
}

// `count` columns of a matrix with rows of `width`, beginning at `from`, as [row][kGroup].
template <class T>
void take_columns(const T* from, Index width, Index rows, Index count, T* to) {
  for (Index row = 0; row < rows; ++row, from += width, to += kGroup) {
    std::copy(from, from + count, to);
    std::fill(to + count, to + kGroup, T(0));
  }
}

template <class T>
Planes<T> by_matrix(const Plan<T>& plan, Planes<T> x, Planes<T> other) {
  const Index rows = plan.columns->n, columns = plan.rows->n;
  const auto groups_of = [](Index count) { return (count + kGroup - 1) / kGroup; };
  const auto each_group = [](Index count, auto&& f) {
    parallel_for(count, 1, [&](Index begin, Index end) {
      for (Index group = begin; group < end; ++group) f(group);
    });
  };
  each_group(groups_of(columns), [&](Index group) {
    Scratch<T> memory(std::size_t(4 * rows * kGroup));
    const Index size = rows * kGroup, first = group * kGroup,
                count = std::min(kGroup, columns - first);
    const Planes<T> a = {memory.data(), memory.data() + size};
    const Planes<T> b = {a.im + size, a.im + 2 * size};
    take_columns(x.re + first, columns, rows, count, a.re);
    take_columns(x.im + first, columns, rows, count, a.im);
    const Planes<T> made = run_passes(*plan.columns, kGroup, a, b);
    turn_group(made, rows, plan.groups.data() + 2 * group * rows, plan.inside.data());
    for (Index row = 0; row < rows; ++row)
      for (Index l = 0; l < count; ++l) {
        x.re[row * columns + first + l] = made.re[row * kGroup + l];
        x.im[row * columns + first + l] = made.im[row * kGroup + l];
      }
  });
  each_group(groups_of(rows), [&](Index group) {
    Scratch<T> memory(std::size_t(4 * columns * kGroup));
    const Index size = columns * kGroup, first = group * kGroup,
                count = std::min(kGroup, rows - first);
    const Planes<T> a = {memory.data(), memory.data() + size};
    const Planes<T> b = {a.im + size, a.im + 2 * size};
    for (Index j = 0; j < columns; ++j)
      for (Index l = 0; l < kGroup; ++l) {
        const Index at = (first + std::min(l, count - 1)) * columns + j;
        a.re[j * kGroup + l] = x.re[at];
        a.im[j * kGroup + l] = x.im[at];
      }
    const Planes<T> made = run_passes(*plan.rows, kGroup, a, b);
    for (Index j = 0; j < columns; ++j)
      for (Index l = 0; l < count; ++l) {
        other.re[j * rows + first + l] = made.re[j * kGroup + l];
        other.im[j * rows + first + l] = made.im[j * kGroup + l];
      }
  });
  return other;
}

}  // namespace

template <class T>
Planes<T> transform(const Plan<T>& plan, Index lines, Planes<T> x, Planes<T> other) {
  if (plan.inner) return by_chirp(plan, lines, x, other);
  if (plan.columns) return by_matrix(plan, x, other);
  return run_passes(plan, lines, x, other);
}
template Planes<float> transform(const Plan<float>&, Index, Planes<float>, Planes<float>);
template Planes<double> transform(const Plan<double>&, Index, Planes<double>, Planes<double>);

}  // namespace rushlight::fft
