// Distinct values, counts and places in sorted sequences: their results have no gradients.
#include <cmath>

#include "core/backend.h"
#include "core/dense_view.h"
#include "core/work.h"
#include "kernels/sort.h"
#include "ops/sort.h"

namespace rushlight {
namespace {

std::int64_t* integers_of(const Tensor& t) { return view_of(t).as<std::int64_t>(); }

}  // namespace

std::tuple<Tensor, Tensor, Tensor> unique(const Tensor& input, std::optional<std::int64_t> d,
                                          bool consecutive) {
  const GradMode off(false);
  const int dim = d ? wrap_dim(*d, input.dim()) : 0;
  const bool by_slice = d && input.dim() > 0;
  // Slices along `dim` as the rows of a matrix; single elements where no dim is given.
  Tensor rows = by_slice ? contiguous(movedim(input, Shape{dim}, Shape{0})) : input;
  const Shape slices = rows.shape();
  const std::int64_t n = by_slice ? slices[0] : input.numel();
  const std::int64_t width = !by_slice ? 1 : n ? input.numel() / n : 0;
  if (by_slice && n == 0 && numel_of(slices.view().subspan(1)) == 0 && input.dim() > 1)
    fail<RuntimeError>("unique(): there are no elements in the slices along dimension ", dim, "\n",
                       describe("input", input));
  rows = reshape(rows, Shape{n, width});
  // Compared where they lie, rows must not change under the sort, which trusts its order.
  if (width > 1 && rows->storage.get() == input->storage.get()) rows = clone(rows);
  const Tensor first = empty({n}, DType::int64, input.device());
  const Tensor inverse = empty({n}, DType::int64, input.device());
  const Tensor counts = empty({n}, DType::int64, input.device());
  std::int64_t found = 0;
  if (n && !input.device().is_meta()) {
    const View view = view_of(rows);
    const Backend& b = backend(input.device());
    const Unlocked unlocked(double(input.numel()) * 20, {&rows, &first, &inverse, &counts});
    found = b.sort->unique(view, consecutive, integers_of(first), integers_of(inverse),
                           integers_of(counts));
  }
  Shape shape = slices;
  if (by_slice)
    shape[0] = found;
  else
    shape = Shape{found};
  const Tensor at = expand(unsqueeze(narrow(first, 0, 0, found), 1), Shape{found, width});
  Tensor values = reshape(gather(rows, 0, at), shape);
  if (by_slice) values = contiguous(movedim(values, Shape{0}, Shape{dim}));
  const Tensor places = by_slice ? inverse : reshape(inverse, input.shape());
  return {values, places, clone(narrow(counts, 0, 0, found))};
}

Tensor bincount(const Tensor& input, const Tensor& weights, std::int64_t minlength) {
  const GradMode off(false);
  if (minlength < 0) fail<RuntimeError>("minlength should be >= 0\ngot ", minlength);
  if (is_floating(input.dtype()) || input.dtype() == DType::boolean)
    fail<NotImplementedError>("\"bincount_cpu\" not implemented for '", scalar_name(input.dtype()),
                              "'\n", describe("input", input));
  const Tensor values = to(input, DType::int64);
  if (input.dim() != 1 || (input.numel() && item(amin(values, {}, false)).as_int() < 0))
    fail<RuntimeError>("bincount only supports 1-d non-negative integral inputs.\n",
                       describe("input", input));
  if (weights && !same(weights.sizes(), input.sizes()))
    fail<RuntimeError>("weights should be 1-d and have the same length as input\n",
                       describe("weights", weights), ", ", describe("input", input));
  if (weights) check_same_device("bincount", input, "input", weights, "weights");
  const std::int64_t top = input.numel() ? item(amax(values, {}, false)).as_int() : -1;
  const std::int64_t bins = std::max(minlength, checked_add(top, 1));
  const DType d = !weights                            ? DType::int64
                  : weights.dtype() == DType::float32 ? DType::float32
                                                      : DType::float64;
  Tensor out = zeros({bins}, d, input.device());
  if (input.numel() == 0) return out;
  const Tensor amounts = weights ? to(weights, d) : weights;
  const View to_view = view_of(out), from = view_of(values);
  View by{};
  if (amounts) by = view_of(amounts);
  // All of them could be changed by another thread while the largest value was looked for.
  if (from.dtype != DType::int64 || from.rank != 1) fail_changed(values);
  if (amounts && (by.dtype != d || by.rank != 1 || by.numel != from.numel)) fail_changed(amounts);
  const Backend& b = backend(input.device());
  const Unlocked unlocked(double(input.numel()), {&out, &values, &amounts});
  b.sort->count(to_view, from, amounts ? &by : nullptr);
  return out;
}

Tensor histc(const Tensor& input, std::int64_t bins, double min, double max) {
  const GradMode off(false);
  if (!is_floating(input.dtype()))
    fail<NotImplementedError>("\"histogram_cpu\" not implemented for '", scalar_name(input.dtype()),
                              "'\n", describe("input", input));
  if (bins <= 0) fail<RuntimeError>("torch.histc(): bins must be > 0, but got ", bins);
  if (min == max && input.numel()) {
    min = item(amin(input, {}, false)).as_double();
    max = item(amax(input, {}, false)).as_double();
  }
  if (min == max) {
    min -= 1;
    max += 1;
  }
  if (!std::isfinite(min) || !std::isfinite(max))
    fail<RuntimeError>("torch.histc: range of [", min, ", ", max, "] is not finite");
  if (!(min < max)) fail<RuntimeError>("torch.histc: max must be larger than min");
  Tensor out = zeros({bins}, input.dtype(), input.device());
  if (input.numel() == 0) return out;
  const Tensor flat = reshape(input, Shape{-1});
  const View to_view = view_of(out), from = view_of(flat);
  const Backend& b = backend(input.device());
  const Unlocked unlocked(double(input.numel()) * 2, {&out, &flat});
  b.sort->histogram(to_view, from, min, max);
  return out;
}

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
  if (out.numel() == 0) return out;
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
  const Tensor places = reshape(out, value_shape);
  const View o = view_of(places), t = view_of(table), v = view_of(values);
  View s{};
  if (sorter) s = view_of(order);
  // A conversion above may have let another thread change what was checked.
  if (t.dtype != d || t.sizes[0] != (one_row ? 1 : v.sizes[0])) fail_changed(table);
  if (v.dtype != d || v.numel != out.numel()) fail_changed(values);
  if (sorter && (s.dtype != DType::int64 || s.numel != t.numel)) fail_changed(order);
  std::int64_t bad;
  {
    const Backend& b = backend(given.device());
    const Unlocked unlocked(double(given.numel()) * 10, {&out, &table, &values, &order});
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

}  // namespace rushlight
