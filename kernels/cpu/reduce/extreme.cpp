// The extreme of each row and its index: the first among equals, and the first NaN before all.
#include "kernels/copy.h"
#include "kernels/cpu/gaps.h"
#include "kernels/cpu/interruptible.h"
#include "run.h"

namespace rushlight::reduction {
namespace {

// The index of the first element of n that is as good as the best of them.
template <class T>
CLONES std::int64_t index_of(const T* x, std::int64_t n, Compute<T> best) {
  constexpr std::int64_t kPiece = 64;
  const bool is_nan = best != best;
  std::int64_t i = 0;
  for (; i + kPiece <= n; i += kPiece) {
    int found = 0;
    for (int k = 0; k < kPiece; ++k) {
      const Compute<T> v = load(x + i + k);
      found |= is_nan ? v != v : v == best;
    }
    if (found) break;
  }
  for (;; ++i)
    if (const Compute<T> v = load(x + i); i + 1 == n || (is_nan ? v != v : v == best)) return i;
}

// One row of n elements: whole blocks are passed over at full speed.
template <class T>
void row(bool largest, const T* x, std::int64_t stride, std::int64_t n,
         Interruptible& interruptible, T* value, std::int64_t* index) {
  Compute<T> best = load(x);
  std::int64_t where = 0;
  for (std::int64_t i = 0; i < n; i += kBlock) {
    const std::int64_t m = std::min<std::int64_t>(kBlock, n - i);
    interruptible.done(m);
    if (m >= kFewLanes) {
      T together[kBlock];
      const T* dense = x + i;
      if (stride != 1)
        bring_together(together, x + i * stride, sizeof(T), stride, m), dense = together;
      if constexpr (std::is_same_v<T, bool>) {
        if (best == largest) break;
        const std::int64_t at = index_of(dense, m, largest);
        if (load(dense + at) == largest) best = largest, where = i + at;
      } else if (const Compute<T> found = extreme_of(largest, dense, m);
                 beats(found, best, largest)) {
        const std::int64_t at = index_of(dense, m, found);
        where = i + at;
        best = load(dense + at);
      }
      continue;
    }
    for (std::int64_t k = i; k < i + m; ++k) {
      const Compute<T> v = load(x + k * stride);
      if (beats(v, best, largest)) best = v, where = k;
    }
  }
  store(value, best);
  *index = where;
}

template <class T>
void rows(bool largest, const View& values, const View& indices, const Job& job, std::int64_t n,
          std::int64_t stride, const Axes& to_indices) {
  parallel_for(job.kept.numel, std::max<std::int64_t>(1, (1 << 15) / n),
               [&](std::int64_t from, std::int64_t to) {
                 Cursor at(job.kept, 0, from), index_at(to_indices, 0, from);
                 Interruptible interruptible;
                 for (; from < to; ++from, at.next(job.kept, 0), index_at.next(to_indices, 0))
                   row(largest, static_cast<const T*>(job.in) + at.offset, stride, n, interruptible,
                       values.as<T>() + at.out, indices.as<std::int64_t>() + index_at.out);
               });
}

// What the best so far is held in.
template <class T>
using Held = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, Compute<T>>;
template <class T>
[[gnu::always_inline]] inline Held<T> held(const T* x) {
  if constexpr (std::is_same_v<T, bool>)  // of a bool itself gcc makes a branch
    return *reinterpret_cast<const std::uint8_t*>(x) != 0;
  else
    return load(x);
}
// Indices are counted in integers as wide as the elements, so that gcc compares and selects in one
// kind of vector.
template <class T>
using IndexOf = std::conditional_t<sizeof(Compute<T>) == 8, std::int64_t, std::int32_t>;

template <bool kLargest, class T>
CLONES void take_row(const T* __restrict x, int n, IndexOf<T> number, Held<T>* __restrict best,
                     IndexOf<T>* __restrict where) {
  using C = Held<T>;
  for (int k = 0; k < n; ++k) {
    const C v = held(x + k), b = best[k];
    bool wins = kLargest ? v > b : v < b;
    if constexpr (std::is_floating_point_v<C>) wins |= (v != v) & (b == b);
    best[k] = wins ? v : b;
    where[k] = wins ? number : where[k];
  }
}

// Many rows of a few elements: they are transposed, and compared side by side.
constexpr std::int64_t kShortRow = kFewLanes - 1;
template <class T>
void short_rows(bool largest, const View& values, const View& indices, const Job& job,
                std::int64_t n, std::int64_t stride, const Axes& to_indices) {
  constexpr int kTile = 64;
  parallel_for(job.kept.numel, (1 << 15) / n, [&](std::int64_t from, std::int64_t to) {
    T tile[kShortRow * kTile];
    Held<T> best[kTile];
    IndexOf<T> where[kTile];
    std::int64_t value_at[kTile], where_at[kTile];
    Cursor at(job.kept, 0, from), index_at(to_indices, 0, from);
    Interruptible interruptible;
    for (int m; from < to; from += m) {
      m = static_cast<int>(std::min<std::int64_t>(kTile, to - from));
      for (int k = 0; k < m; ++k, at.next(job.kept, 0), index_at.next(to_indices, 0)) {
        const T* const x = static_cast<const T*>(job.in) + at.offset;
        for (std::int64_t i = 0; i < n; ++i) tile[i * kTile + k] = x[i * stride];
        value_at[k] = at.out, where_at[k] = index_at.out;
      }
      for (int k = 0; k < m; ++k) best[k] = held(tile + k), where[k] = 0;
      for (std::int64_t i = 1; i < n; ++i)
        (largest ? take_row<true, T> : take_row<false, T>)(tile + i * kTile, m, IndexOf<T>(i), best,
                                                           where);
      for (int k = 0; k < m; ++k) {
        store(values.as<T>() + value_at[k], Compute<T>(best[k]));
        indices.as<std::int64_t>()[where_at[k]] = where[k];
      }
      interruptible.done(m * n);
    }
  });
}

// The same for rows whose elements lie far apart and whose neighbours lie side by side.
template <class T>
void columns(bool largest, const View& values, const View& indices, const Job& job, std::int64_t n,
             std::int64_t stride, const Axes& to_indices) {
  const std::int64_t width = job.kept.axis[0].size;
  const std::int64_t pieces = (width + kColumns - 1) / kColumns;
  parallel_for(job.kept.numel / width * pieces,
               std::max<std::int64_t>(1, (1 << 15) / (n * std::min<std::int64_t>(width, kColumns))),
               [&](std::int64_t from, std::int64_t to) {
                 Held<T> best[kColumns];
                 IndexOf<T> where[kColumns];
                 Interruptible interruptible;
                 for (; from < to; ++from) {
                   const std::int64_t first = from % pieces * kColumns;
                   const int m = static_cast<int>(std::min<std::int64_t>(kColumns, width - first));
                   Cursor at(job.kept, 0, from / pieces * width + first);
                   Cursor index_at(to_indices, 0, from / pieces * width + first);
                   const T* const x = static_cast<const T*>(job.in) + at.offset;
                   for (int k = 0; k < m; ++k) best[k] = held(x + k), where[k] = 0;
                   for (std::int64_t i = 1; i < n; ++i) {
                     (largest ? take_row<true, T> : take_row<false, T>)(x + i * stride, m,
                                                                        IndexOf<T>(i), best, where);
                     interruptible.done(m);
                   }
                   for (int k = 0; k < m; ++k, at.next(job.kept, 0), index_at.next(to_indices, 0)) {
                     store(values.as<T>() + at.out, Compute<T>(best[k]));
                     indices.as<std::int64_t>()[index_at.out] = where[k];
                   }
                 }
               });
}

}  // namespace

void extreme(bool largest, const View& values, const View& indices, const View& in, int dim) {
  if (values.numel == 0) return;
  // Two walks in one order: unmerged axes of the input, with the strides of either output.
  Job job(in, in, 0);
  Axes to_indices;
  job.kept = {};
  for (int d = 0; d < in.rank; ++d) {
    if (d == dim) continue;
    job.kept.add({in.sizes[d], in.strides[d], values.strides[d]});
    to_indices.add({in.sizes[d], in.strides[d], indices.strides[d]});
  }
  const std::int64_t n = in.rank ? in.sizes[dim] : 1, stride = in.rank ? in.strides[dim] : 1;
  if (n == 1) {
    cpu_copy.copy(values, in);
    return cpu_copy.fill(indices, Scalar(0));
  }
  dispatch_all(in.dtype, [&]<class T>(Type<T>) {
    const bool side_by_side = stride != 1 && job.kept.rank && job.kept.axis[0].stride == 1 &&
                              job.kept.axis[0].size >= kFewLanes &&
                              n <= std::numeric_limits<std::int32_t>::max();
    const bool are_short = n <= kShortRow && job.kept.numel >= kFewLanes;
    (side_by_side ? columns<T>
     : are_short  ? short_rows<T>
                  : rows<T>)(largest, values, indices, job, n, stride, to_indices);
  });
}

}  // namespace rushlight::reduction
