// The entries of SortKernels beside sort.cu: unique.cu, search.cu, histogram.cu.
#pragma once
#include "kernels/cuda/families.h"
#include "kernels/cuda/runtime/launch.h"

namespace rushlight::gpu {

Index unique(const View& in, bool consecutive, Index* first, Index* inverse, Index* counts);
Index search(const View& out, const View& sorted, const View& values, const View* sorter,
             bool right);
void count(const View& out, const View& in, const View* weights);
void histogram(const View& out, const View& in, double low, double high);

}  // namespace rushlight::gpu
