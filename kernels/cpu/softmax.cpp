// Softmax and its logarithm. Where the dimension is not the last, neighbouring columns are
// worked on side by side; a few columns are moved into rows first, and short lines into columns.
#include "../softmax.h"

#include "../parallel.h"
#include "convert.h"
#include "scratch.h"
#include "softmax_columns.h"
#include "softmax_short.h"

namespace rushlight {
namespace {

using rows::Index;

constexpr Index kTogether = 16;  // rows whose logarithms are one vector

template <class T>
CLONES_512 void logarithms(T* x) {
  for (Index i = 0; i < kTogether; ++i) x[i] = T(log(x[i]));
}
template <class S>
void log_softmax_rows(const S* x, Index n, Index count, S* y) {
  using T = Compute<S>;
  for (; count > 0; count -= kTogether, x += kTogether * n, y += kTogether * n) {
    const Index here = std::min(count, kTogether);
    T top[kTogether], sum[kTogether];
    std::fill_n(sum, kTogether, T(1));
    for (Index i = 0; i < here; ++i) sum[i] = rows::sum_exp_below_top(x + i * n, n, top[i]);
    logarithms(sum);
    for (Index i = 0; i < here; ++i) rows::subtract(x + i * n, n, top[i], sum[i], y + i * n);
  }
}

template <class S>
void softmax_row(const S* x, Index n, bool logarithm, Compute<S>* kept, S* y) {
  using T = Compute<S>;
  if (!logarithm && rows::is_parted(n)) return rows::parted_softmax(x, n, y);
  T top;
  if (logarithm) {
    const T log_sum = T(log(rows::sum_exp_below_top(x, n, top)));
    return serial_for(
        n, [&](Index i, Index end) { rows::subtract(x + i, end - i, top, log_sum, y + i); });
  }
  top = rows::largest_of_long(x, n);
  if constexpr (std::is_same_v<S, T>) kept = y;
  const T sum = rows::sum_of_pieces<T>(
      n, [&](Index i, Index end) { return rows::keep_exp(x + i, end - i, top, kept + i); });
  serial_for(n, [&](Index i, Index end) { rows::multiply(kept + i, end - i, T(1) / sum, y + i); });
}

template <class S>
void gradient_row(const S* g, const S* y, Index n, bool logarithm, S* out) {
  using T = Compute<S>;
  const T sum = rows::sum_of_pieces<T>(n, [&](Index i, Index end) {
    return rows::sum_grad(g + i, logarithm ? nullptr : y + i, end - i);
  });
  serial_for(n, [&](Index i, Index end) {
    if (logarithm)
      rows::log_softmax_grad(g + i, y + i, end - i, sum, out + i);
    else
      rows::softmax_grad(g + i, y + i, end - i, sum, out + i);
  });
}

constexpr Index kShort = 512;  // elements of a row, 16 of which the first cache holds
constexpr Index kFewColumns = 6;  // so many are faster as rows
constexpr Index kBlock = 1 << 16;  // elements of a block of columns: what the second cache holds

// Rows [column][dim] of a block of columns, and back.
template <class S>
void gather(const S* x, Index dim, Index inner, Index columns, S* to) {
  serial_for(dim, [&](Index d, Index end) {
    for (; d < end; ++d)
      for (Index c = 0; c < columns; ++c) to[c * dim + d] = x[d * inner + c];
  });
}
template <class S>
void scatter(const S* from, Index dim, Index inner, Index columns, S* y) {
  serial_for(dim, [&](Index d, Index end) {
    for (; d < end; ++d)
      for (Index c = 0; c < columns; ++c) y[d * inner + c] = from[c * dim + d];
  });
}

// Rows of n elements, converted.
template <class From, class To>
void convert_rows(const From* from, Index ld_from, Index rows, Index n, To* to, Index ld_to) {
  serial_for(rows, [&](Index d, Index end) {
    if (ld_from == n && ld_to == n) return convert_row(to + d * n, from + d * n, (end - d) * n);
    for (; d < end; ++d) convert_row(to + d * ld_to, from + d * ld_from, n);
  });
}

// Calls f(first element, columns) for blocks of columns, all with the same row of `outer`.
template <class F>
void each_block(const SoftmaxShape& s, F f) {
  const Index fitting = std::max<Index>(kBlock / s.dim / 16 * 16, 16);
  const Index columns = std::min(fitting, s.inner), blocks = (s.inner + columns - 1) / columns;
  parallel_for(s.outer * blocks, 1 + 2048 / (s.dim * columns), [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const Index first = i % blocks * columns;
      f(i / blocks * s.dim * s.inner + first, std::min(columns, s.inner - first));
    }
  });
}

// float16 goes by way of float, in blocks of rows: gcc converts it one by one.
constexpr Index kWide = 4096;  // elements of a block
template <class F>
void in_blocks_of_rows(Index dim, Index rows, F f) {  // f(first element, elements)
  const Index together = std::max<Index>(kWide / dim, 1);
  for (Index i = 0; i < rows; i += together) f(i * dim, std::min(together, rows - i) * dim);
}

template <class S>
void softmax_of_rows(const S* x, Index dim, Index rows, bool logarithm, S* y) {
  if constexpr (std::is_same_v<S, float16>) {
    Scratch<float> wide(2 * std::max(kWide, dim));
    in_blocks_of_rows(dim, rows, [&](Index at, Index n) {
      float *from = wide.data(), *to = from + n;
      convert_row(from, x + at, n);
      softmax_of_rows(from, dim, n / dim, logarithm, to);
      convert_row(y + at, to, n);
    });
  } else if (logarithm && dim <= kShort) {
    log_softmax_rows(x, dim, rows, y);
  } else {
    Scratch<Compute<S>> kept(std::is_same_v<S, Compute<S>> ? 1 : dim);
    for (Index i = 0; i < rows * dim; i += dim)
      softmax_row(x + i, dim, logarithm, kept.data(), y + i);
  }
}
template <class S>
void softmax_of_columns(const S* x, Index dim, Index inner, Index columns, bool logarithm, S* y) {
  const Index whole = dim * columns;
  if constexpr (std::is_same_v<S, float16>) {
    Scratch<float> wide(2 * whole);
    float *from = wide.data(), *to = from + whole;
    convert_rows(x, inner, dim, columns, from, columns);
    softmax_of_columns(from, dim, columns, columns, logarithm, to);
    convert_rows(to, columns, dim, columns, y, inner);
  } else if (columns > kFewColumns) {
    Scratch<Compute<S>> block(whole + 2 * columns);
    Compute<S>*top = block.data() + whole, *sum = top + columns;
    rows::softmax_columns(x, dim, inner, columns, logarithm, block.data(), top, sum, y);
  } else {
    Scratch<S> block(2 * whole);
    S *rows = block.data(), *results = rows + whole;
    gather(x, dim, inner, columns, rows);
    softmax_of_rows(rows, dim, columns, logarithm, results);
    scatter(results, dim, inner, columns, y);
  }
}

void softmax(const SoftmaxShape& s, const View& input, bool logarithm, const View& out) {
  if (out.numel == 0) return;
  dispatch_floating(out.dtype, [&]<class S>(Type<S>) {
    const S* x = input.as<S>();
    S* y = out.as<S>();
    if (rows::has_short_lines(s)) return rows::softmax_of_short_lines(s, x, logarithm, y);
    if (s.inner == 1)
      return parallel_for(s.outer, 1 + 4096 / s.dim, [&](Index begin, Index end) {
        softmax_of_rows(x + begin * s.dim, s.dim, end - begin, logarithm, y + begin * s.dim);
      });
    each_block(s, [&](Index at, Index columns) {
      softmax_of_columns(x + at, s.dim, s.inner, columns, logarithm, y + at);
    });
  });
}

template <class S>
void gradient_of_rows(const S* g, const S* y, Index dim, Index rows, bool logarithm, S* out) {
  if constexpr (std::is_same_v<S, float16>) {
    Scratch<float> wide(3 * std::max(kWide, dim));
    in_blocks_of_rows(dim, rows, [&](Index at, Index n) {
      float *grads = wide.data(), *outputs = grads + n, *to = outputs + n;
      convert_row(grads, g + at, n);
      convert_row(outputs, y + at, n);
      gradient_of_rows(grads, outputs, dim, n / dim, logarithm, to);
      convert_row(out + at, to, n);
    });
  } else {
    for (Index i = 0; i < rows * dim; i += dim) gradient_row(g + i, y + i, dim, logarithm, out + i);
  }
}
template <class S>
void gradient_of_columns(const S* g, const S* y, Index dim, Index inner, Index columns,
                         bool logarithm, S* out) {
  const Index whole = dim * columns;
  if constexpr (std::is_same_v<S, float16>) {
    Scratch<float> wide(3 * whole);
    float *grads = wide.data(), *outputs = grads + whole, *to = outputs + whole;
    convert_rows(g, inner, dim, columns, grads, columns);
    convert_rows(y, inner, dim, columns, outputs, columns);
    gradient_of_columns(grads, outputs, dim, columns, columns, logarithm, to);
    convert_rows(to, columns, dim, columns, out, inner);
  } else if (columns > kFewColumns) {
    Scratch<Compute<S>> sum(columns);
    rows::gradient_columns(g, y, dim, inner, columns, logarithm, sum.data(), out);
  } else {
    Scratch<S> block(3 * whole);
    S *grads = block.data(), *outputs = grads + whole, *results = outputs + whole;
    gather(g, dim, inner, columns, grads);
    gather(y, dim, inner, columns, outputs);
    gradient_of_rows(grads, outputs, dim, columns, logarithm, results);
    scatter(results, dim, inner, columns, out);
  }
}

void softmax_backward(const SoftmaxShape& s, const View& grad, const View& output, bool logarithm,
                      const View& grad_input) {
  if (grad_input.numel == 0) return;
  dispatch_floating(grad_input.dtype, [&]<class S>(Type<S>) {
    const S *g = grad.as<S>(), *y = output.as<S>();
    S* out = grad_input.as<S>();
    if (rows::has_short_lines(s)) return rows::gradient_of_short_lines(s, g, y, logarithm, out);
    if (s.inner == 1)
      return parallel_for(s.outer, 1 + 4096 / s.dim, [&](Index begin, Index end) {
        const Index at = begin * s.dim;
        gradient_of_rows(g + at, y + at, s.dim, end - begin, logarithm, out + at);
      });
    each_block(s, [&](Index at, Index columns) {
      gradient_of_columns(g + at, y + at, s.dim, s.inner, columns, logarithm, out + at);
    });
  });
}

}  // namespace

const SoftmaxKernels cpu_softmax = {softmax, softmax_backward};

}  // namespace rushlight
