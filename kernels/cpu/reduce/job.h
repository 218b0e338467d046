// What a reduction walks along: the axes that are kept and those that are reduced.
#pragma once
#include "kernels/reduce_formulas.h"

namespace rushlight::reduction {

struct Axis {
  std::int64_t size, stride, out;  // out: the stride in the output
};
struct Axes {
  int rank = 0;
  Axis axis[kMaxRank];  // innermost first
  std::int64_t numel = 1;
  // Sorted by stride, neighbours merged. What repeats (stride 0) is outermost: runs stay dense.
  void add(Axis a) {
    if (a.size == 1) return;  // it would keep its neighbours apart
    numel *= a.size;
    int at = rank++;
    const auto farther = [&](const Axis& b) {
      return a.stride && (b.stride > a.stride || !b.stride);
    };
    for (; at > 0 && farther(axis[at - 1]); --at) axis[at] = axis[at - 1];
    axis[at] = a;
  }
  bool is_one_element() const { return rank == 0 || axis[0].stride == 0; }
  void merge() {
    int kept = rank > 0;
    for (int d = 1; d < rank; ++d) {
      Axis& last = axis[kept - 1];
      if (axis[d].stride == last.stride * last.size && axis[d].out == last.out * last.size) {
        last.size *= axis[d].size;
      } else {
        axis[kept++] = axis[d];
      }
    }
    rank = kept;
  }
};

// A position in the walk along axes [first, rank), moved on by one row at a time.
struct Cursor {
  std::int64_t at[kMaxRank] = {}, offset = 0, out = 0;
  Cursor() = default;
  Cursor(const Axes& a, int first, std::int64_t index) {
    for (int d = first; d < a.rank; ++d) {
      at[d] = index % a.axis[d].size;
      index /= a.axis[d].size;
      offset += at[d] * a.axis[d].stride;
      out += at[d] * a.axis[d].out;
    }
  }
  void next(const Axes& a, int first) {
    for (int d = first; d < a.rank; ++d) {
      offset += a.axis[d].stride;
      out += a.axis[d].out;
      if (++at[d] < a.axis[d].size) return;
      offset -= a.axis[d].stride * a.axis[d].size;
      out -= a.axis[d].out * a.axis[d].size;
      at[d] = 0;
    }
  }
  // Moves behind n positions, which lie on one line of axis `first`.
  void skip(const Axes& a, int first, std::int64_t n) {
    if (first < a.rank) {
      at[first] += n - 1;
      offset += (n - 1) * a.axis[first].stride, out += (n - 1) * a.axis[first].out;
    }
    next(a, first);
  }
  // The offsets of this position and those after it, n in all; moves behind them.
  void take(const Axes& a, int first, int n, std::int64_t* offsets) {
    if (first < a.rank && at[first] + n < a.axis[first].size) {
      const std::int64_t stride = a.axis[first].stride;
      for (int i = 0; i < n; ++i) offsets[i] = offset + i * stride;
      at[first] += n, offset += n * stride, out += n * a.axis[first].out;
    } else {
      for (int i = 0; i < n; ++i, next(a, first)) offsets[i] = offset;
    }
  }
};

struct Job {
  const void* in;
  Axes kept, reduced;  // outputs are numbered along `kept`
  void* out;
  DType out_dtype;
  Context context;
  const double* center = nullptr;  // one for each output, where the fold has a center
  double* to_center = nullptr;     // a first pass writes there

  Job(const View& to, const View& input, double parameter)
      : in(input.data), out(to.data), out_dtype(to.dtype) {
    for (int d = 0; d < input.rank; ++d) {
      const bool is_kept = to.sizes[d] == input.sizes[d];
      (is_kept ? kept : reduced)
          .add({input.sizes[d], input.strides[d], is_kept ? to.strides[d] : 0});
    }
    kept.merge();
    reduced.merge();
    context.parameter = parameter;
    context.count = reduced.numel;
  }
};

// The extreme of n >= 1 elements side by side (choice.cpp).
template <class T>
Compute<T> extreme_of(bool largest, const T* x, std::int64_t n);

}  // namespace rushlight::reduction
