// Reading and writing elements by indices that other tensors hold.
#pragma once
#include "view.h"

namespace rushlight {

// Index tensors of one shape (int64; strides of 0 where they were broadcast), one for each of the
// leading dimensions of the tensor that is indexed.
struct IndexList {
  int count;
  View of[kMaxRank];
};

// An index that lies outside its dimension: which tensor of the list, its value, the size. A kernel
// that returns one has written nothing.
struct BadIndex {
  int which = -1;  // -1: all were good
  std::int64_t value = 0, size = 0;
};

enum class ScatterMode : std::uint8_t { assign, add, multiply, largest, smallest };

// Two values that meet in one element. Integers wrap; those of bool memory (C is bool, or
// `is_bool`) are 0 and 1.
template <class C>
HOST_DEVICE C added(C a, C b) {  // integers wrap
  if constexpr (std::is_same_v<C, bool>)
    return a || b;
  else if constexpr (std::is_integral_v<C>)
    return C(std::uint64_t(a) + std::uint64_t(b));
  else
    return a + b;
}
template <class C>
HOST_DEVICE C combined(C a, C b, ScatterMode mode, bool is_bool = std::is_same_v<C, bool>) {
  if (is_bool && mode == ScatterMode::add) return C(a != C(0) || b != C(0));
  switch (mode) {
    case ScatterMode::add: return added(a, b);
    case ScatterMode::multiply:
      if constexpr (std::is_integral_v<C>)
        return C(std::uint64_t(a) * std::uint64_t(b));
      else
        return a * b;
    // The choice is one instruction, and no branch that values decide.
    case ScatterMode::largest: {
      const C best = b > a ? b : a;
      return b != b ? b : best;
    }
    case ScatterMode::smallest: {
      const C best = b < a ? b : a;
      return b != b ? b : best;
    }
    default: return b;
  }
}

// What combined() leaves other values as they are with: the start where an element's own value does
// not count.
template <class C>
HOST_DEVICE C identity(ScatterMode mode, DType dtype) {
  if (mode == ScatterMode::add || mode == ScatterMode::assign) return C(0);
  if (mode == ScatterMode::multiply) return C(1);
  const bool least = mode == ScatterMode::largest;
  if constexpr (std::is_floating_point_v<C>) {
    const C infinity = std::numeric_limits<C>::infinity();
    return least ? -infinity : infinity;
  } else {
    if (dtype == DType::boolean) return C(!least);
    if (dtype == DType::uint8) return least ? C(0) : C(255);
    const std::int64_t most = std::int64_t(~std::uint64_t(0) >> (65 - 8 * item_size(dtype)));
    return C(least ? -most - 1 : most);
  }
}

struct IndexKernels {
  // self: [indexed dimensions..., rest...]; out and values: [index shape..., rest...]. Negative
  // indices count from the end.
  BadIndex (*get)(const View& out, const View& self, const IndexList& indices);
  BadIndex (*put)(const View& self, const View& values, const IndexList& indices, bool accumulate);
  // out[i, j, ...] = self[index[i, j, ...], j, ...] for dim = 0; index has out's shape and is
  // not larger than self in the other dimensions. No negative indices, as in torch.
  BadIndex (*gather)(const View& out, const View& self, int dim, const View& index);
  // Without include_self, what self held at an index does not count.
  BadIndex (*scatter)(const View& self, int dim, const View& index, const View& src,
                      ScatterMode mode, bool include_self);
  std::int64_t (*count_nonzero)(const View& in);
  // out: [n, rank], dense: the indices of elements in row-major order. Writes at most n rows and
  // returns how many there were; or n, without a wait, and rows that there were not are 0.
  std::int64_t (*nonzero)(const View& out, const View& in);
  // out: 0 counts[0] times, then 1 counts[1] times and so on, as far as there is room; the rest of
  // it is 0. Null where searching the sums of counts is as fast.
  void (*repeat)(const View& out, const View& counts) = nullptr;
};
extern const IndexKernels cpu_index;

}  // namespace rushlight
