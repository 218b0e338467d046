// What needs an order: sorting, selection, distinct values, counting. NaN is greatest. `dim` is
// replaced in the shape by k, or by 1 or nothing (keepdim); indices are int64.
#pragma once
#include "ops/reduce/reduce.h"

namespace rushlight {

// ---- orders (sort.cpp)
TensorPair sort(const Tensor& input, std::int64_t dim, bool descending);  // stable
Tensor argsort(const Tensor& input, std::int64_t dim, bool descending);
Tensor msort(const Tensor& input);
TensorPair topk(const Tensor& input, std::int64_t k, std::int64_t dim, bool largest, bool sorted);
TensorPair kthvalue(const Tensor& input, std::int64_t k, std::int64_t dim, bool keepdim);
Tensor median(const Tensor& input);  // the lower of two middle values
TensorPair median(const Tensor& input, std::int64_t dim, bool keepdim);
Tensor nanmedian(const Tensor& input);
TensorPair nanmedian(const Tensor& input, std::int64_t dim, bool keepdim);
TensorPair mode(const Tensor& input, std::int64_t dim, bool keepdim);

// ---- distinct values (unique.cpp)
struct UniqueParts {  // what is wanted beside the values; else it is undefined
  bool inverse = false, counts = false;
};
// (values, inverse, counts); with a dim, slices along it are compared.
std::tuple<Tensor, Tensor, Tensor> unique(const Tensor& input, std::optional<std::int64_t> dim,
                                          bool consecutive, const UniqueParts& wanted = {});
// ---- counts (histogram.cpp)
Tensor bincount(const Tensor& input, const Tensor& weights, std::int64_t minlength);
Tensor histc(const Tensor& input, std::int64_t bins, double min, double max);
// ---- searches (search.cpp)
// sorted_sequence (..., n), values (..., m) or any shape where the sequence has rank 1
Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& values, bool out_int32, bool right,
                    const Tensor& sorter);
Tensor bucketize(const Tensor& values, const Tensor& boundaries, bool out_int32, bool right);
// Whether each element occurs among test_elements; one of both is a tensor.
Tensor isin(const Input& elements, const Input& test_elements, bool invert);

}  // namespace rushlight
