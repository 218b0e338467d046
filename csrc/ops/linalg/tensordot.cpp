// Sums of products over several dimensions, as one product of matrices; products of Kronecker.
#include "ops/linalg/matmul.h"

namespace rushlight {

Tensor tensordot(const Tensor& a, const Tensor& b, std::int64_t dims) {
  if (dims < 0) fail<RuntimeError>("tensordot expects dims >= 0, but got dims=", dims);
  if (dims > std::min(a.dim(), b.dim()))
    fail<RuntimeError>("tensordot expects dims < ndim_a or ndim_b, but got dims=", dims,
                       "\na has shape ", a.sizes(), ", b has shape ", b.sizes());
  Dims left, right;
  for (std::int64_t d = 0; d < dims; ++d) {
    left.push_back(d - dims);
    right.push_back(d);
  }
  return tensordot(a, b, left, right);
}

Tensor tensordot(const Tensor& a, const Tensor& b, const Dims& left_dims, const Dims& right_dims) {
  if (left_dims.size() != right_dims.size())
    fail<RuntimeError>("both dimension lists should have same length\ngot ", left_dims.size(),
                       " and ", right_dims.size());
  if (a.dtype() != b.dtype())
    fail<RuntimeError>("both inputs should have same dtype\ngot ", a.dtype(), " and ", b.dtype());
  Tensor left = a, right = b;
  for (std::size_t i = 0; i < left_dims.size(); ++i) {
    const std::int64_t l = wrap_dim(left_dims[i], a.dim()), r = wrap_dim(right_dims[i], b.dim());
    if (right.size(r) == 1)
      left = sum(left, {&l, 1}, true, a.dtype());
    else if (left.size(l) == 1)
      right = sum(right, {&r, 1}, true, a.dtype());
    else if (left.size(l) != right.size(r))
      fail<RuntimeError>("contracted dimensions need to match, but first has size ", left.size(l),
                         " in dim ", left_dims[i], " and second has size ", right.size(r),
                         " in dim ", right_dims[i]);
  }
  const unsigned summed_left = dim_mask(left_dims, a.dim(), false);
  const unsigned summed_right = dim_mask(right_dims, b.dim(), false);
  // Those that stay: first in the order of the left factor, last in that of the right.
  Shape order_left, order_right, sizes;
  std::int64_t rows = 1, columns = 1, inner = 1;
  for (int d = 0; d < a.dim(); ++d) {
    if (summed_left >> d & 1) continue;
    order_left.push_back(d);
    sizes.push_back(left.size(d));
    rows *= left.size(d);
  }
  for (const std::int64_t d : left_dims) {
    order_left.push_back(wrap_dim(d, a.dim()));
    inner *= left.size(d);
  }
  for (const std::int64_t d : right_dims) order_right.push_back(wrap_dim(d, b.dim()));
  for (int d = 0; d < b.dim(); ++d) {
    if (summed_right >> d & 1) continue;
    order_right.push_back(d);
    sizes.push_back(right.size(d));
    columns *= right.size(d);
  }
  const Tensor product = mm(reshape(permute(left, order_left), {rows, inner}),
                            reshape(permute(right, order_right), {inner, columns}));
  return reshape(product, sizes);
}

// Rows of products that are shorter are made of copies of the factors.
constexpr std::int64_t kShortRow = 256, kManyProducts = 1 << 14;

// A factor's last two dimensions as one: one of them, of size 1, becomes `size`.
static Tensor with_long_rows(const Tensor& t, int from_last, std::int64_t size) {
  Shape wide = t.shape(), merged = t.shape();
  wide[wide.rank - from_last] = size;
  merged.rank = std::int8_t(merged.rank - 1);
  merged[merged.rank - 1] = checked_mul(wide[wide.rank - 2], wide[wide.rank - 1]);
  return reshape(expand(t, wide), merged);
}

Tensor kron(const Tensor& input, const Tensor& other) {
  const int rank = std::max(input.dim(), other.dim());
  const auto size = [&](const Tensor& t, int d) {
    const int own = d - (rank - t.dim());
    return own < 0 ? 1 : t.size(own);
  };
  Shape left, right, sizes;
  for (int d = 0; d < rank; ++d) {
    const std::int64_t a = size(input, d), b = size(other, d);
    if (a != 1) left.push_back(a), right.push_back(1);  // two dimensions only where both need one
    if (b != 1) left.push_back(1), right.push_back(b);
    sizes.push_back(checked_mul(a, b));
  }
  Tensor a = reshape(input, left), b = reshape(other, right);
  const int last = a.dim() - 1;
  if (last > 1 && a.size(last) == 1 && b.size(last - 1) == 1 && b.size(last) < kShortRow &&
      checked_mul(input.numel(), other.numel()) >= kManyProducts) {
    const std::int64_t repeats = b.size(last), times = a.size(last - 1);
    a = with_long_rows(a, 1, repeats);
    b = with_long_rows(b, 2, times);
  }
  return reshape(mul(a, b), sizes);
}

}  // namespace rushlight
