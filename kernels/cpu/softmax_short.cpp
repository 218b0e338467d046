// As many lines as the first cache holds are moved into columns, and back.
#include "softmax_short.h"

#include <algorithm>

#include "convert.h"
#include "kernels/parallel.h"
#include "scratch.h"
#include "short_rows.h"
#include "softmax_columns.h"
#include "transpose.h"

namespace rushlight::rows {
namespace {

constexpr Index kAtOnce = 2048;  // elements
constexpr Index kGrain = 4096;

// (rows, dim, inner) into (dim, rows, inner), and back.
template <class S>
void to_columns(const S* x, Index rows, Index dim, Index inner, S* to) {
  if (inner == 1) return transpose(x, dim, rows, dim, to, rows);
  const Index bytes = inner * Index(sizeof(S));
  for (Index d = 0; d < dim; ++d)
    copy_rows(reinterpret_cast<char*>(to + d * rows * inner), bytes,
              reinterpret_cast<const char*>(x + d * inner), dim * bytes, rows, bytes);
}
template <class S>
void from_columns(const S* columns, Index rows, Index dim, Index inner, S* y) {
  if (inner == 1) return transpose(columns, rows, dim, rows, y, dim);
  const Index bytes = inner * Index(sizeof(S));
  for (Index d = 0; d < dim; ++d)
    copy_rows(reinterpret_cast<char*>(y + d * inner), dim * bytes,
              reinterpret_cast<const char*>(columns + d * rows * inner), bytes, rows, bytes);
}

// Calls f(first element, rows) for blocks of them. float16 comes as float: gcc converts it one by
// one.
template <class F>
void each_block(const SoftmaxShape& s, F f) {
  const Index row = s.dim * s.inner, at_once = std::max<Index>(1, kAtOnce / row);
  parallel_for(s.outer, 1 + kGrain / row, [&](Index begin, Index end) {
    for (Index i = begin; i < end; i += at_once) f(i * row, std::min(at_once, end - i));
  });
}
template <class S>
using Moved = std::conditional_t<std::is_same_v<S, float16>, float, S>;
template <class S>
class Block {
 public:
  explicit Block(const SoftmaxShape& s)
      : dim_(s.dim),
        inner_(s.inner),
        size_(std::max(kAtOnce, s.dim * s.inner)),
        memory_(2 * size_) {}
  Moved<S>* columns() { return memory_.data(); }
  const Moved<S>* read(const S* x, Index rows) {
    const Moved<S>* from;
    if constexpr (std::is_same_v<S, Moved<S>>) {
      from = x;
    } else {
      convert_row(lines(), x, rows * dim_ * inner_);
      from = lines();
    }
    to_columns(from, rows, dim_, inner_, columns());
    return columns();
  }
  void write(S* y, Index rows) {
    if constexpr (std::is_same_v<S, Moved<S>>) {
      from_columns(columns(), rows, dim_, inner_, y);
    } else {
      from_columns(columns(), rows, dim_, inner_, lines());
      convert_row(y, lines(), rows * dim_ * inner_);
    }
  }

 private:
  Moved<S>* lines() { return memory_.data() + size_; }
  Index dim_, inner_, size_;
  Scratch<Moved<S>> memory_;
};

}  // namespace

template <class S>
void softmax_of_short_lines(const SoftmaxShape& s, const S* x, bool logarithm, S* y) {
  using T = Compute<S>;
  each_block(s, [&](Index at, Index rows) {
    const Index lanes = rows * s.inner;
    Block<S> given(s), results(s);
    Scratch<T> working((s.dim + 2) * lanes);
    T *top = working.data() + s.dim * lanes, *sum = top + lanes;
    softmax_columns(given.read(x + at, rows), s.dim, lanes, lanes, logarithm, working.data(), top,
                    sum, results.columns());
    results.write(y + at, rows);
  });
}

template <class S>
void gradient_of_short_lines(const SoftmaxShape& s, const S* g, const S* y, bool logarithm,
                             S* out) {
  each_block(s, [&](Index at, Index rows) {
    const Index lanes = rows * s.inner;
    Block<S> gradients(s), outputs(s), results(s);
    Scratch<Compute<S>> sum(lanes);
    gradient_columns(gradients.read(g + at, rows), outputs.read(y + at, rows), s.dim, lanes, lanes,
                     logarithm, sum.data(), results.columns());
    results.write(out + at, rows);
  });
}

template void softmax_of_short_lines(const SoftmaxShape&, const float*, bool, float*);
template void gradient_of_short_lines(const SoftmaxShape&, const float*, const float*, bool,
                                      float*);
template void softmax_of_short_lines(const SoftmaxShape&, const double*, bool, double*);
template void gradient_of_short_lines(const SoftmaxShape&, const double*, const double*, bool,
                                      double*);
template void softmax_of_short_lines(const SoftmaxShape&, const float16*, bool, float16*);
template void gradient_of_short_lines(const SoftmaxShape&, const float16*, const float16*, bool,
                                      float16*);
template void softmax_of_short_lines(const SoftmaxShape&, const bfloat16*, bool, bfloat16*);
template void gradient_of_short_lines(const SoftmaxShape&, const bfloat16*, const bfloat16*, bool,
                                      bfloat16*);

}  // namespace rushlight::rows
