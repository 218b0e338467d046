// Searches in sorted sequences; no gradients.
#include "core/backend.h"
#include "core/dense_view.h"
#include "core/unlocked.h"
#include "kernels/math/real.h"
#include "kernels/sort.h"
#include "ops/pointwise/pointwise.h"
#include "sort.h"

namespace rushlight {

Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& given, bool out_int32, bool right,
                    const Tensor& sorter) {
  const GradMode off(false);
  check_same_device("searchsorted", sorted_sequence, "sorted_sequence", given, "values");
  const int rank = sorted_sequence.dim();
  if (rank == 0)
    fail<RuntimeError>("torch.searchsorted(): boundaries tensor should have positive dimension\n",
                       describe("sorted_sequence", sorted_sequence));
  const bool one_row = rank == 1;
  if (!one_row &&
      (given.dim() != rank || !same(given.sizes().first(std::size_t(rank - 1)),
                                    sorted_sequence.sizes().first(std::size_t(rank - 1)))))
    fail<RuntimeError>(
        "torch.searchsorted(): boundaries tensor should be 1 dimension or the first "
        "N-1 dimensions of boundaries tensor and input value tensor must match, but "
        "we got boundaries tensor ",
        sorted_sequence.sizes(), " and input value tensor ", given.sizes());
  if (sorter && (!same(sorter.sizes(), sorted_sequence.sizes()) || sorter.dtype() != DType::int64))
    fail<RuntimeError>(
        "torch.searchsorted(): boundary and sorter must have the same size, and "
        "sorter must be a tensor of long ints\n",
        describe("sorter", sorter), ", ", describe("sorted_sequence", sorted_sequence));
  const DType d = promote_types(sorted_sequence.dtype(), given.dtype());
  Tensor out = empty(given.sizes(), out_int32 ? DType::int32 : DType::int64, given.device());
  const std::int64_t n = sorted_sequence.size(-1);
  if (out_int32 && n > INT32_MAX)
    fail<RuntimeError>(
        "torch.searchsorted(): the size of boundaries' last dimension should be less "
        "than INT_MAX, but we got ",
        n);
  if (out.numel() == 0 || out.device().is_meta()) return out;
  if (n == 0) {
    zero_(out);
    return out;
  }
  const std::int64_t columns = given.dim() ? given.size(-1) : 1;
  const Shape table_shape{one_row ? 1 : -1, n},
      value_shape{one_row ? 1 : -1, one_row ? given.numel() : columns};
  const Tensor table = reshape(to(sorted_sequence, d), table_shape);
  const Tensor values = reshape(to(given, d), value_shape);
  const Tensor order = sorter ? reshape(sorter, table_shape) : sorter;
  const Tensor found = reshape(out, value_shape);
  const View o = view_of(found), t = view_of(table), v = view_of(values);
  View s{};
  if (sorter) s = view_of(order);
  // A conversion above may have let another thread change what was checked.
  if (t.dtype != d || t.sizes[0] != (one_row ? 1 : v.sizes[0])) fail_changed(table);
  if (v.dtype != d || v.numel != out.numel()) fail_changed(values);
  if (sorter && (s.dtype != DType::int64 || s.numel != t.numel)) fail_changed(order);
  if (sorter && order.numel()) report_wait(order.device(), "searchsorted(sorter=...)");
  std::int64_t bad;
  {
    const Backend& b = backend(given.device());
    const double nanoseconds = double(given.numel()) * 10;
    const Unlocked unlocked(sorter ? time_of_wait(given.device(), nanoseconds) : nanoseconds,
                            {&out, &table, &values, &order});
    bad = b.sort->search(o, t, v, sorter ? &s : nullptr, right);
  }
  if (bad >= 0)
    fail<IndexError>("torch.searchsorted(): sorter index out of range\nat position ", bad, " of ",
                     describe("sorter", sorter), ": indices must lie in [0, ", n, ")");
  return out;
}

Tensor bucketize(const Tensor& values, const Tensor& boundaries, bool out_int32, bool right) {
  if (boundaries.dim() != 1)
    fail<RuntimeError>("boundaries tensor must be 1 dimension, but got dim(", boundaries.dim(),
                       ")");
  return searchsorted(boundaries, values, out_int32, right, {});
}

Tensor isin(const Input& elements, const Input& test_elements, bool invert) {
  const GradMode off(false);
  const Input inputs[] = {elements, test_elements};
  const DType dtype = result_type(inputs);
  const Device device = (elements.tensor ? elements : test_elements).tensor->device();
  const auto tensor_of = [&](const Input& i, const char* name) {
    const Tensor t = i.tensor ? *i.tensor : scalar_tensor(i.scalar, dtype_of(i.scalar), device);
    if (t.dtype() == DType::boolean)
      fail<RuntimeError>("Unsupported input type encountered for isin(): Bool (", name, ")");
    return t;
  };
  const Tensor x = tensor_of(elements, "elements"),
               tests = tensor_of(test_elements, "test_elements");
  check_same_device("isin", x, "elements", tests, "test_elements");
  if (tests.numel() == 0) return full(x.shape(), Scalar(invert), DType::boolean, device);
  const Tensor values = to(x, dtype);
  const Tensor sequence = std::get<0>(sort(reshape(to(tests, dtype), {-1}), 0, false));
  // NaN is last in order, but a binary search needs values that compare: it gets infinities
  // instead.
  Tensor numbers = sequence;
  if (is_floating(dtype))
    numbers = where(apply<Ne>(sequence, sequence), as_input(Scalar(kInfinity<double>)),
                    as_input(sequence));
  const Tensor at = clamp(searchsorted(numbers, values, false, false, {}), {},
                          as_input(Scalar(tests.numel() - 1)));
  const Tensor nearest = index(sequence, {at});
  return invert ? apply<Ne>(nearest, values) : apply<Eq>(nearest, values);
}

}  // namespace rushlight
