// Everything that needs an order. Note: NaN is greater than every number, and where
// several answers are right (ties) the algorithm is torch's, so that the indices agree.
#pragma once
#include "view.h"

namespace rushlight {

// `values` and `indices` have the sizes of `in` except along `dim`: sort keeps the size, top has
// k, the others 1. The caller has checked k and that the dimension is not empty.
struct SortKernels {
  void (*sort)(const View& values, const View& indices, const View& in, int dim, bool descending);
  void (*top)(const View& values, const View& indices, const View& in, int dim, bool largest,
              bool sorted);
  void (*kth)(const View& values, const View& indices, const View& in, int dim, std::int64_t k);
  // The lower of two middle values; a NaN is the answer unless it is ignored. Where `indices` is
  // empty they are not computed, and any of equal values will do.
  void (*median)(const View& values, const View& indices, const View& in, int dim, bool ignore_nan);
  void (*mode)(const View& values, const View& indices, const View& in, int dim);
  // Distinct rows of `in` (rank 2) in ascending order, or distinct runs of them. Room for every row
  // in each of: first[u], a row equal to the u-th; inverse[row]; counts[u], of which the last two
  // may be null. Returns how many.
  std::int64_t (*unique)(const View& in, bool consecutive, std::int64_t* first,
                         std::int64_t* inverse, std::int64_t* counts);
  // Runs of equal elements of `in` (rank 1, dense): values[u], the first of the u-th, with room
  // for one of each element; inverse and counts as in unique(). Null: unique() serves.
  std::int64_t (*runs)(const View& values, const View& in, std::int64_t* inverse,
                       std::int64_t* counts) = nullptr;
  // Where values go in the ascending rows of `sorted` (rank 2, one row for all or one for each row
  // of `values`), before or after equals. `sorter`, or null, holds the order of each row; a bad
  // index in it is found first: its position is returned, else -1.
  std::int64_t (*search)(const View& out, const View& sorted, const View& values,
                         const View* sorter, bool right);
  // out[in[i]] += weights[i], or 1; in is int64 or int32, checked, of rank 1.
  void (*count)(const View& out, const View& in, const View* weights);
  // Counts of values in equal parts of [low, high], others are left out; out has the dtype of in.
  void (*histogram)(const View& out, const View& in, double low, double high);
};
extern const SortKernels cpu_sort;

}  // namespace rushlight
