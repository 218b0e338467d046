// Softmax and its logarithm. Where the dimension is not the last, blocks of neighbouring columns
// are moved into rows first: the rows' loops then serve both.
#include "../softmax.h"

#include "../parallel.h"
#include "scratch.h"
#include "softmax_loops.h"

namespace rushlight {
namespace {

using rows::Index;

template <class S>
void softmax_row(const S* x, Index n, bool logarithm, Compute<S>* kept, S* y) {
  using T = Compute<S>;
  const T top = rows::largest(x, n);
  if (logarithm) return rows::subtract(x, n, top, T(log(rows::sum_exp(x, n, top))), y);
  if constexpr (std::is_same_v<S, T>) kept = y;
  const T sum = rows::keep_exp(x, n, top, kept);
  rows::multiply(kept, n, T(1) / sum, y);
}

template <class S>
void gradient_row(const S* g, const S* y, Index n, bool logarithm, S* out) {
  if (logarithm)
    rows::log_softmax_grad(g, y, n, rows::sum_grad<S>(g, nullptr, n), out);
  else
    rows::softmax_grad(g, y, n, rows::sum_grad(g, y, n), out);
}

constexpr Index kColumns = 16;

// Rows [column][dim] of a block of columns, and back.
template <class S>
void gather(const S* x, Index dim, Index inner, Index columns, S* to) {
  for (Index d = 0; d < dim; ++d)
    for (Index c = 0; c < columns; ++c) to[c * dim + d] = x[d * inner + c];
}
template <class S>
void scatter(const S* from, Index dim, Index inner, Index columns, S* y) {
  for (Index d = 0; d < dim; ++d)
    for (Index c = 0; c < columns; ++c) y[d * inner + c] = from[c * dim + d];
}

// Calls f(first element, columns) for blocks of columns, all with the same row of `outer`.
template <class F>
void each_block(const SoftmaxShape& s, F f) {
  const Index blocks = (s.inner + kColumns - 1) / kColumns;
  parallel_for(s.outer * blocks, 1 + 2048 / (s.dim * kColumns), [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const Index column = i % blocks * kColumns;
      f(i / blocks * s.dim * s.inner + column, std::min(kColumns, s.inner - column));
    }
  });
}

void softmax(const SoftmaxShape& s, const View& input, bool logarithm, const View& out) {
  if (out.numel == 0) return;
  dispatch_floating(out.dtype, [&]<class S>(Type<S>) {
    const S* x = input.as<S>();
    S* y = out.as<S>();
    if (s.inner == 1)
      return parallel_for(s.outer, 1 + 4096 / s.dim, [&](Index begin, Index end) {
        Scratch<Compute<S>> kept(std::is_same_v<S, Compute<S>> ? 1 : s.dim);
        for (Index i = begin; i < end; ++i)
          softmax_row(x + i * s.dim, s.dim, logarithm, kept.data(), y + i * s.dim);
      });
    each_block(s, [&](Index at, Index columns) {
      Scratch<S> block(2 * kColumns * s.dim);
      Scratch<Compute<S>> kept(s.dim);
      S* result = block.data() + kColumns * s.dim;
      gather(x + at, s.dim, s.inner, columns, block.data());
      for (Index c = 0; c < columns; ++c)
        softmax_row(block.data() + c * s.dim, s.dim, logarithm, kept.data(), result + c * s.dim);
      scatter(result, s.dim, s.inner, columns, y + at);
    });
  });
}

void softmax_backward(const SoftmaxShape& s, const View& grad, const View& output, bool logarithm,
                      const View& grad_input) {
  if (grad_input.numel == 0) return;
  dispatch_floating(grad_input.dtype, [&]<class S>(Type<S>) {
    const S *g = grad.as<S>(), *y = output.as<S>();
    S* out = grad_input.as<S>();
    if (s.inner == 1)
      return parallel_for(s.outer, 1 + 4096 / s.dim, [&](Index begin, Index end) {
        for (Index i = begin * s.dim; i < end * s.dim; i += s.dim)
          gradient_row(g + i, y + i, s.dim, logarithm, out + i);
      });
    each_block(s, [&](Index at, Index columns) {
      Scratch<S> block(3 * kColumns * s.dim);
      S *grads = block.data(), *outputs = grads + kColumns * s.dim;
      S* result = outputs + kColumns * s.dim;
      gather(g + at, s.dim, s.inner, columns, grads);
      gather(y + at, s.dim, s.inner, columns, outputs);
      for (Index c = 0; c < columns * s.dim; c += s.dim)
        gradient_row(grads + c, outputs + c, s.dim, logarithm, result + c);
      scatter(result, s.dim, s.inner, columns, out + at);
    });
  });
}

}  // namespace

const SoftmaxKernels cpu_softmax = {softmax, softmax_backward};

}  // namespace rushlight
