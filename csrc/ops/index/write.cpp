// Copies of a tensor with other values by indices: index_fill, index_copy, index_add,
// masked_scatter, put. Written with index_put().
#include "checks.h"
#include "index.h"
#include "ops/pointwise/pointwise.h"
#include "ops/scan.h"
#include "ops/sort/sort.h"

namespace rushlight {
namespace {

std::vector<Tensor> along(int dim, const Tensor& index) {
  std::vector<Tensor> indices(std::size_t(dim) + 1);
  indices[std::size_t(dim)] = index.dim() ? index : unsqueeze(index, 0);
  return indices;
}

}  // namespace

void index_fill_(const Tensor& self, std::int64_t dim, const Tensor& given, const Tensor& value) {
  const int at = wrap_dim(dim, self.dim());
  if (given.dim() > 1) fail<RuntimeError>("Index has to be a vector/scalar");
  if (given.dtype() != DType::int64)
    fail<IndexError>("index_fill_(): Expected dtype int64 for index.\n", describe("index", given));
  if (value.dim() != 0)
    fail<RuntimeError>(
        "index_fill_ only supports a 0-dimensional value tensor, but got tensor with ", value.dim(),
        " dimension(s).");
  check_value("index_fill", value, self.dtype());
  Tensor v = to(value, self.dtype(), self.device());
  if (v->storage.get() == self->storage.get()) v = clone(v);
  // An index that occurs twice is written once: value's gradient must not count it twice.
  const Tensor once = needs_grad(v) ? std::get<0>(unique(given, {}, false)) : given;
  index_put_(self.dim() ? self : unsqueeze(self, 0), along(at, once), v, false, "index_fill_");
}

Tensor index_fill(const Tensor& input, std::int64_t dim, const Tensor& index, const Tensor& value) {
  Tensor out = clone(input);
  index_fill_(out, dim, index, value);
  return named(as_new(out), "IndexFillBackward0");
}

Tensor index_copy(const Tensor& input, std::int64_t dim, const Tensor& given,
                  const Tensor& source) {
  const int at = wrap_dim(dim, input.dim());
  if (given.dim() > 1)
    fail<IndexError>("index_copy_(): Index should have dimension 1 or 0 (got ", given.dim(), ")");
  if (given.dtype() != DType::int64)
    fail<RuntimeError>("index_copy_(): Expected a long tensor for index, but got ",
                       scalar_name(given.dtype()));
  Shape expected = input.shape();
  if (input.dim()) expected[at] = given.numel();
  const std::int64_t slices =
      source.dim() && input.dim() == source.dim() ? source.size(at) : source.numel();
  if (slices != given.numel() && input.dim() <= source.dim())
    fail<IndexError>("index_copy_(): Number of indices (", given.numel(),
                     ") should be equal to source.size(dim) (", slices, ")\n",
                     describe("self", input), ", ", describe("source", source));
  if (!same(expected, source.sizes()) && source.dim() && input.dim())
    fail<RuntimeError>(
        "index_copy_(): Source/destination tensor must have same slice shapes. Expected ", expected,
        " but got ", source.sizes());
  const std::int64_t n = input.dim() ? input->shape[at] : 1;
  check_indices(given, 0, n, [&](std::int64_t k, std::int64_t) {
    fail<IndexError>("index_copy_(): index ", k, " is out of bounds for dimension ", at,
                     " with size ", n);
  });
  if (source.dtype() != input.dtype())
    fail<RuntimeError>(
        "index_copy_(): self and source expected to have the same dtype, but got (self) ",
        scalar_name(input.dtype()), " and (source) ", scalar_name(source.dtype()));
  const auto put = [&](const Tensor& to, const Tensor& from) {
    return index_put(to, along(at, given), from, false);
  };
  return named(input.dim() ? put(contiguous(input), source)
                           : view(put(unsqueeze(input, 0), reshape(source, {-1})), {}),
               "IndexCopyBackward0");
}

// The i-th element of source goes to the i-th true element of the mask, found by a running count.
// On a GPU an index beyond source is reported later, so that nothing waits.
Tensor masked_scatter(const Tensor& input, const Tensor& mask, const Tensor& source) {
  if (mask.dtype() != DType::boolean)
    fail<RuntimeError>("masked_scatter_ only supports boolean masks, but got mask with dtype ",
                       scalar_name(mask.dtype()));
  if (source.dtype() != input.dtype())
    fail<RuntimeError>("masked_scatter_: expected self and source to have same dtypes but got ",
                       scalar_name(input.dtype()), " and ", scalar_name(source.dtype()));
  check_same_device("masked_scatter", input, "input", mask, "mask");
  check_same_device("masked_scatter", input, "input", source, "source");
  const Shape shape = broadcast(input.sizes(), mask.sizes());
  const Tensor whole = expand(input, shape), values = reshape(source, {-1});
  Tensor out, holds, from;
  {
    const GradMode off(false);
    holds = contiguous(expand(mask, shape));
    const Tensor flat = reshape(holds, {-1});
    const Tensor count = cumsum(flat, 0, {});
    const Device device = count.device();
    if (count.numel() && !device.is_meta() && (device.is_cpu() || !values.numel()))
      if (const std::int64_t n = item(select(count, 0, -1)).as_int(); n > values.numel())
        fail<RuntimeError>(
            "Number of elements of source < number of ones in mask: ", values.numel(), " < ", n);
    from = where(flat, as_input(sub(count, scalar_tensor(1, DType::int64, device))),
                 as_input(Scalar(0)));
    out = contiguous(whole);
    if (values.numel() && from.numel()) {
      const Tensor sent = view(index(values, {from}), shape);
      out = where(holds, as_input(sent), as_input(whole));
    } else if (out->storage.get() == input->storage.get()) {
      out = clone(out);
    }
  }
  return record(
      "MaskedScatterBackward0", out,
      [holds, from, n = values.numel()](Tensor g, Node& self) {
        Tensor of_input, of_values;
        if (self.needs_input(0)) of_input = masked_fill(g, holds, as_input(Scalar(0)));
        if (self.needs_input(1)) {
          of_values = zeros({n}, g.dtype(), g.device());
          if (n && from.numel()) {
            const Tensor sent = where(holds, as_input(g), as_input(Scalar(0)));
            of_values = index_put(of_values, {from}, reshape(sent, {-1}), true);
          }
        }
        return Gradients(of_input, of_values);
      },
      whole, values);
}

Tensor put(const Tensor& input, const Tensor& given, const Tensor& source, bool accumulate) {
  if (given.dtype() != DType::int64)
    fail<RuntimeError>("put_(): Expected a long tensor for index, but got ",
                       scalar_name(given.dtype()));
  if (source.dtype() != input.dtype())
    fail<RuntimeError>(
        "put_(): self and source expected to have the same dtype, but got self.dtype = ",
        scalar_name(input.dtype()), " and source.dtype = ", scalar_name(source.dtype()));
  if (given.numel() != source.numel())
    fail<IndexError>(
        "put_(): Expected source and index to have the same number of elements, but got "
        "source.numel() = ",
        source.numel(), ", index.numel() = ", given.numel());
  check_same_device("put_", input, "self", given, "index");
  check_same_device("put_", input, "self", source, "source");
  const std::int64_t n = input.numel();
  if (!n && given.numel()) fail<IndexError>("put_(): Tried to put elements into an empty tensor");
  check_indices(given, -n, n, [n](std::int64_t k, std::int64_t) {
    fail<IndexError>("out of range: tried to access index ", k, " on a tensor of ", n,
                     " elements.");
  });
  Tensor out;
  {
    const GradMode off(false);
    out = clone(input);
    if (given.numel()) {
      Tensor flat = out.is_contiguous() ? view(out, {-1}) : reshape(out, {-1});
      index_put_(flat, {reshape(given, {-1})}, reshape(source, {-1}), accumulate);
      if (!out.is_contiguous()) copy_bits(out, view(flat, out.shape()));
    }
    out = as_new(out);
  }
  return record(
      "PutBackward0", out,
      [accumulate, index = Saved(given), shape = source.shape()](Tensor g, Node& self) {
        Tensor of_input, of_source;
        const Tensor at = index.get();
        if (self.needs_input(0))
          of_input = accumulate ? g : put(g, at, zeros(at.shape(), g.dtype(), g.device()), false);
        if (self.needs_input(1)) of_source = reshape(take(g, at), shape);
        return Gradients(of_input, of_source);
      },
      input, source);
}

Tensor index_add(const Tensor& input, std::int64_t dim, const Tensor& given, const Tensor& source,
                 Scalar alpha) {
  const int at = check_index_source("index_add_", input, dim, given, source);
  const DType d = source.dtype();
  check_fits("index_add", "alpha", alpha, d);
  if (is_integral(d) && alpha.is_floating()) alpha = alpha.as_int();
  if (d == DType::boolean) alpha = alpha.as_double() != 0;
  const Tensor added = alpha.as_double() == 1 ? source : mul(source, alpha);
  const auto put = [&](const Tensor& to, const Tensor& from) {
    return index_put(to, along(at, given), from, true);
  };
  return named(
      input.dim() ? put(input, added) : view(put(unsqueeze(input, 0), reshape(added, {-1})), {}),
      "IndexAddBackward0");
}

}  // namespace rushlight
