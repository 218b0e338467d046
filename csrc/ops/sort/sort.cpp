// Sorting and selection along one dimension. Note: every one of them picks elements,
// so they share one gradient, picked_backward; the median of all is shared among its equals.
#include "sort.h"

#include "autograd/showing.h"
#include "core/backend.h"
#include "core/unlocked.h"
#include "kernels/sort.h"
#include "ops/reduce/reduce.h"

namespace rushlight {
namespace {

// kernel(table, values, indices, input) for results of size `size` along dim, squeezed later unless
// `keepdim`; where the op has no such argument, the dimension stays. With `in_order`, of results of
// the input's shape, their dimensions lie in memory as its own.
template <class Kernel>
TensorPair select(const char* node, const Tensor& input, int dim, std::int64_t size,
                  std::optional<bool> keepdim, Kernel&& kernel, bool in_order = false) {
  const bool squeezes = !keepdim.value_or(true);
  Shape kept = input.shape(), shape;
  if (kept.rank) kept[dim] = size;
  for (int d = 0; d < kept.rank; ++d)
    if (d != dim || !squeezes) shape.push_back(kept[d]);
  const auto made = [&](DType dtype) {
    return in_order ? empty_like(input, dtype) : empty(shape, dtype, input.device());
  };
  Tensor outs[] = {made(input.dtype()), made(DType::int64)};
  if (outs[0].numel() && !input.device().is_meta()) {
    View v = view_of(outs[0]), i = view_of(outs[1]);
    const View from = view_of(input);
    Strides strides = outs[0]->strides;
    if (!in_order) contiguous_strides(kept, strides);
    for (View* to : {&v, &i}) {
      to->rank = kept.rank;
      std::copy_n(kept.begin(), to->rank, to->sizes);
      std::copy_n(strides.begin(), to->rank, to->strides);
    }
    const Backend& b = backend(input.device());
    const Unlocked unlocked(double(input.numel()) * 10, {&outs[0], &outs[1], &input});
    if (size == 1 && kept == input.shape())  // of one element each
      b.copy->copy(v, from), b.copy->fill(i, Scalar(0));
    else
      kernel(*b.sort, v, i, from);
  }
  record_many(
      node, outs,
      showing(
          keepdim ? "indices self_sym_sizes dim keepdim" : "indices self_sym_sizes dim",
          [squeezes](std::span<Tensor> g, Node&, const Saved& where, const Shape& whole,
                     std::int64_t dim) {
            return Gradients(picked_backward(g[0], where.get(), whole, int(dim), !squeezes));
          },
          Saved(outs[1]), input.shape(), std::int64_t(dim), keepdim),
      input);
  return {outs[0], outs[1]};
}

std::int64_t size_along(const Tensor& input, int dim) {
  return input.dim() ? input.shape()[dim] : 1;
}

int checked_dim(const char* op, const Tensor& input, std::int64_t d) {
  const int dim = wrap_dim(d, input.dim());
  if (size_along(input, dim) == 0)
    fail<IndexError>(op, "(): Expected reduction dim ", dim, " to have non-zero size.\n",
                     describe("input", input));
  return dim;
}

[[noreturn]] void refuse_bool_median() {
  fail<NotImplementedError>("\"median_cpu\" not implemented for 'Bool'");
}

TensorPair median_along(const char* op, const char* node, const Tensor& input, std::int64_t d,
                        bool keepdim, bool ignore_nan) {
  if (input.dtype() == DType::boolean) refuse_bool_median();
  const int dim = checked_dim(op, input, d);
  return select(node, input, dim, 1, keepdim,
                [=](const SortKernels& k, const View& v, const View& i, const View& x) {
                  k.median(v, i, x, dim, ignore_nan);
                });
}

Tensor median_of_all(const char* node, const Tensor& input, bool ignore_nan) {
  if (input.numel() == 0) {
    const Scalar none = is_floating(input.dtype()) ? Scalar(__builtin_nan("")) : Scalar(INT64_MIN);
    return full(Shape(), none, input.dtype(), input.device());
  }
  if (input.dtype() == DType::boolean) refuse_bool_median();
  const Tensor value = empty(Shape(), input.dtype(), input.device());
  if (!input.device().is_meta()) {
    const GradMode off(false);
    const Tensor line = reshape(input, Shape{-1});
    View to = view_of(value), no_indices = to;
    no_indices.data = nullptr, no_indices.numel = 0;
    for (View* v : {&to, &no_indices}) v->rank = 1, v->sizes[0] = v->strides[0] = 1;
    const View from = view_of(line);
    const Backend& b = backend(input.device());
    const Unlocked unlocked(double(from.numel) * 10, {&value, &line});
    b.sort->median(to, no_indices, from, 0, ignore_nan);
  }
  return record(
      node, value,
      showing(
          "self result",
          [](Tensor g, Node& self, const Saved& x, const SavedOutput& y) {  // equal ones share it
            return Gradients(
                shared_by_extremes(g, x.get(), y.get(self), ReducedShape(x.get(), Shape()), true));
          },
          Saved(input), SavedOutput(value)),
      input);
}

}  // namespace

TensorPair sort(const Tensor& input, std::int64_t d, bool descending) {
  const int dim = wrap_dim(d, input.dim());
  return select(
      "SortBackward0", input, dim, size_along(input, dim), {},
      [=](const SortKernels& k, const View& v, const View& i, const View& x) {
        k.sort(v, i, x, dim, descending);
      },
      true);
}
Tensor argsort(const Tensor& input, std::int64_t dim, bool descending) {
  const GradMode off(false);
  return std::get<1>(sort(input, dim, descending));
}
Tensor msort(const Tensor& input) { return std::get<0>(sort(input, 0, false)); }

TensorPair topk(const Tensor& input, std::int64_t k, std::int64_t d, bool largest, bool sorted) {
  const int dim = wrap_dim(d, input.dim());
  if (k < 0 || k > size_along(input, dim))
    fail<RuntimeError>("selected index k out of range\ntopk(): k is ", k,
                       ", the size of dimension ", dim, " is ", size_along(input, dim), " (",
                       describe("input", input), ")");
  if (input.dtype() == DType::boolean)
    fail<RuntimeError>("topk does not support bool dtypes on CPU");
  return select("TopkBackward0", input, dim, k, {},
                [=](const SortKernels& table, const View& v, const View& i, const View& x) {
                  table.top(v, i, x, dim, largest, sorted);
                });
}

TensorPair kthvalue(const Tensor& input, std::int64_t k, std::int64_t d, bool keepdim) {
  const int dim = checked_dim("kthvalue", input, d);
  if (k < 1 || k > size_along(input, dim))
    fail<RuntimeError>("kthvalue(): selected number k out of range for dimension ", dim, "\nk is ",
                       k, ", ", describe("input", input));
  if (input.dtype() == DType::boolean)
    fail<NotImplementedError>("\"kthvalue_cpu\" not implemented for 'Bool'");
  return select("KthvalueBackward0", input, dim, 1, keepdim,
                [=](const SortKernels& table, const View& v, const View& i, const View& x) {
                  table.kth(v, i, x, dim, k - 1);
                });
}

Tensor median(const Tensor& input) { return median_of_all("MedianBackward0", input, false); }
TensorPair median(const Tensor& input, std::int64_t dim, bool keepdim) {
  return median_along("median", "MedianBackward1", input, dim, keepdim, false);
}
Tensor nanmedian(const Tensor& input) { return median_of_all("NanmedianBackward0", input, true); }
TensorPair nanmedian(const Tensor& input, std::int64_t dim, bool keepdim) {
  return median_along("nanmedian", "NanmedianBackward1", input, dim, keepdim, true);
}

TensorPair mode(const Tensor& input, std::int64_t d, bool keepdim) {
  const int dim = checked_dim("mode", input, d);
  return select("ModeBackward0", input, dim, 1, keepdim,
                [=](const SortKernels& k, const View& v, const View& i, const View& x) {
                  k.mode(v, i, x, dim);
                });
}

}  // namespace rushlight
