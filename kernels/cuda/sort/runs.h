// Folds over runs of equal keys that sort_pairs has sorted, in the order of their positions, so
// that results are deterministic. A run is cut wherever `piece` positions begin anew: one
// kernel folds the pieces in a run's inside, each by a thread of its own, a second folds each run's
// beginning and what the first has made of the rest. A thread takes 4 sqrt(n) steps or so at most.
#pragma once
#include "kernels/cuda/elements.h"
#include "kernels/cuda/runtime/launch.h"
#include "pairs.h"

namespace rushlight::gpu {

// Where the run of equal keys that begins at `begin` ends.
__device__ inline Index run_end(const std::uint64_t* keys, Index begin, Index n) {
  Index inside = begin, beyond = n;
  while (beyond - inside > 1) {
    const Index middle = inside + (beyond - inside) / 2;
    (keys[middle] == keys[begin] ? inside : beyond) = middle;
  }
  return beyond;
}

struct Runs {
  const std::uint64_t* keys;
  const Index* order;  // where each key was before it was sorted
  Index n, piece;

  Runs(const std::uint64_t* keys, const Index* order, Index n)
      : keys(keys), order(order), n(n), piece(256) {
    while (piece * piece * 16 < n) piece *= 2;
  }
  __device__ bool continues(Index p) const { return p > 0 && p < n && keys[p - 1] == keys[p]; }
  __device__ Index next_piece(Index p) const { return (p / piece + 1) * piece; }
  __device__ Index end(Index begin) const { return run_end(keys, begin, n); }
};

// `Values` says what is folded, for each of several columns:
//   using Value;
//   Value start(Index key, Index column)
//   Value at(Index position, Index column)      position: as in `order`
//   Value join(Value, Value)
//   void put(const Runs&, Index first, Index column, Value)      first: where the run begins
template <class Values>
__device__ auto fold_piece(const Runs& runs, const Values& values, typename Values::Value total,
                           Index from, Index column) {
  const Index stop = runs.next_piece(from) < runs.n ? runs.next_piece(from) : runs.n;
  const std::uint64_t key = runs.keys[from];
  for (Index p = from; p < stop && runs.keys[p] == key; ++p)
    total = values.join(total, values.at(runs.order[p], column));
  return total;
}

// Piece k begins at position (k + 1) * piece; `nothing` is what join() leaves as it is.
template <class Values>
__global__ void fold_pieces(Runs runs, Values values, Index columns, typename Values::Value nothing,
                            typename Values::Value* pieces) {
  for (Index i = first_item(); i < runs.n / runs.piece * columns; i += stride()) {
    const Index from = (i / columns + 1) * runs.piece;
    if (runs.continues(from)) pieces[i] = fold_piece(runs, values, nothing, from, i % columns);
  }
}

template <class Values>
__global__ void fold_runs(Runs runs, Values values, Index columns,
                          const typename Values::Value* pieces) {
  for (Index i = first_item(); i < runs.n * columns; i += stride()) {
    const Index first = i / columns, column = i % columns;
    if (runs.continues(first)) continue;
    const std::uint64_t key = runs.keys[first];
    auto total = fold_piece(runs, values, values.start(Index(key), column), first, column);
    for (Index p = runs.next_piece(first); p < runs.n && runs.keys[p] == key; p += runs.piece)
      total = values.join(total, pieces[(p / runs.piece - 1) * columns + column]);
    values.put(runs, first, column, total);
  }
}

template <class Values>
void fold_all_runs(const char* op, const Runs& runs, const Values& values, Index columns,
                   typename Values::Value nothing) {
  const Index pieces = runs.n / runs.piece * columns;
  const Scratch<typename Values::Value> folded(pieces > 0 ? pieces : 1, op);
  launch_items(op, fold_pieces<Values>, pieces, runs, values, columns, nothing, folded.data());
  launch_items(op, fold_runs<Values>, runs.n * columns, runs, values, columns,
               static_cast<const typename Values::Value*>(folded.data()));
}

// The keys of n positions, sorted: key(i), below `count`, of the i-th.
template <class Key>
__global__ void number_keys(Index n, Key key, std::uint64_t* keys, Index* order) {
  for (Index i = first_item(); i < n; i += stride()) {
    keys[i] = std::uint64_t(key(i));
    order[i] = i;
  }
}
class SortedKeys {
 public:
  template <class Key>
  SortedKeys(const char* op, Index n, const Key& key, Index count)
      : n_(n), keys_(n, op), order_(n, op) {
    launch_items(op, number_keys<Key>, n, n, key, keys_.data(), order_.data());
    sort_pairs(keys_.data(), order_.data(), 1, n, bits_below(count));
  }
  Runs runs() const { return Runs(keys_.data(), order_.data(), n_); }

 private:
  Index n_;
  Scratch<std::uint64_t> keys_;
  Scratch<Index> order_;
};

// Values of fold_all_runs() that are added up: in[position * step + column]. `Put` takes the sums.
template <class C, class Put>
struct Sums {
  using Value = C;
  Reader<C> in;
  Index step;
  Put to;
  __device__ C start(Index, Index) const { return C(0); }
  __device__ C at(Index position, Index column) const { return in[position * step + column]; }
  __device__ C join(C a, C b) const { return a + b; }
  __device__ void put(const Runs& runs, Index first, Index column, C sum) const {
    to(runs, first, column, sum);
  }
};

}  // namespace rushlight::gpu
