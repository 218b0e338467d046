// Samples of a function along a dimension: integrals by trapezoids, derivatives by differences. See
// samples.cpp.
#pragma once
#include "ops/value.h"

namespace rushlight {

// x: the coordinates, a vector or a tensor that broadcasts with y; dx: the distance of neighbours.
Tensor trapezoid(const Tensor& y, const Tensor& x, std::int64_t dim);
Tensor trapezoid(const Tensor& y, double dx, std::int64_t dim);
Tensor cumulative_trapezoid(const Tensor& y, const Tensor& x, std::int64_t dim);
Tensor cumulative_trapezoid(const Tensor& y, double dx, std::int64_t dim);

// One derivative for each of the dimensions; spacing has for each the distance of neighbours, or
// their coordinates as a vector. No dim: all of them. edge_order: 1 or 2, of the differences at
// both ends.
std::vector<Tensor> gradient(const Tensor& input, const std::vector<Value>& spacing,
                             const std::optional<Shape>& dim, std::int64_t edge_order);

// Differences of neighbours, n times; prepend and append may be undefined.
Tensor diff(const Tensor& input, std::int64_t n, std::int64_t dim,
            const std::optional<Tensor>& prepend, const std::optional<Tensor>& append);

}  // namespace rushlight
