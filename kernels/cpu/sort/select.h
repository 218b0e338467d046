// The entries of SortKernels that do not sort whole lines: sort_select.cpp, unique.cpp, search.cpp,
// histogram.cpp.
#pragma once
#include "kernels/sort.h"

namespace rushlight {

template <class T>
inline const T* row_of(const View& v, std::int64_t r) {
  return v.as<const T>() + r * v.strides[0];
}

void top(const View& values, const View& indices, const View& in, int dim, bool largest,
         bool sorted);
void kth(const View& values, const View& indices, const View& in, int dim, std::int64_t k);
void median(const View& values, const View& indices, const View& in, int dim, bool ignore_nan);
void mode(const View& values, const View& indices, const View& in, int dim);
std::int64_t unique(const View& in, bool consecutive, std::int64_t* first, std::int64_t* inverse,
                    std::int64_t* counts);
std::int64_t runs(const View& values, const View& in, std::int64_t* inverse, std::int64_t* counts);
std::int64_t search(const View& out, const View& sorted, const View& values, const View* sorter,
                    bool right);
void count(const View& out, const View& in, const View* weights);
void histogram(const View& out, const View& in, double low, double high);

}  // namespace rushlight
