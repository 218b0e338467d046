// scatter_reduce and index_reduce: values that an index sends to one element are reduced there. The
// gradients are written with ops, after torch's definitions: equal extremes share theirs, and a
// product is divided by each factor unless it is 0.
#include "checks.h"
#include "index.h"
#include "ops/pointwise/pointwise.h"
#include "ops/reduce/reduce.h"
#include "scatter.h"

namespace rushlight {
namespace {

struct Reduce {
  ScatterMode mode;
  bool is_mean = false;
};

Reduce reduce_of(std::string_view name) {
  if (name == "sum") return {ScatterMode::add};
  if (name == "mean") return {ScatterMode::add, true};
  if (name == "prod") return {ScatterMode::multiply};
  if (name == "amax") return {ScatterMode::largest};
  if (name == "amin") return {ScatterMode::smallest};
  fail<RuntimeError>("reduce argument must be either sum, prod, mean, amax or amin, got ", name);
}

// The part of src that the index covers.
Tensor covered(Tensor src, const Tensor& index) {
  if (src.dim() != index.dim()) return src;
  for (int d = 0; d < src.dim(); ++d)
    if (index->shape[d] < src->shape[d]) src = narrow(src, d, 0, index->shape[d]);
  return src;
}

// How many values meet in each element, at least 1.
Tensor counts_of(const Tensor& input, int dim, const Tensor& index, bool include_self) {
  const Tensor counts = full(input.shape(), include_self ? 1 : 0, DType::int64, input.device());
  const Tensor one = scalar_tensor(1, DType::int64, input.device());
  scatter_into("scatter_reduce", counts, dim, index, expand(one, index.shape()), ScatterMode::add);
  return clamp(counts, as_input(Scalar(1)), {});
}

Tensor is_zero(const Tensor& x) { return apply<Eq>(x, Scalar(0)); }
Tensor without(const Tensor& x, const Tensor& mask) {
  return masked_fill(x, mask, as_input(Scalar(1)));
}

struct ScatterOperands {
  const char* op;
  Tensor input, index, src, result;
  int dim;
  bool include_self;
};

std::pair<Tensor, Tensor> product_backward(const Tensor& g, const ScatterOperands& o) {
  const auto product = [&](const Tensor& input, const Tensor& src) {
    return scatter_reduce(input, o.dim, o.index, src, "prod", o.include_self);
  };
  const Tensor own = without(o.input, is_zero(o.input));
  const Tensor of_input = div(mul(g, product(own, o.src)), own);
  // Where one factor alone is 0, its gradient is the product of the others.
  const Tensor zero = is_zero(o.src);
  const Tensor zeros_met = gather(
      scatter_add(zeros_like(o.input), o.dim, o.index, to(zero, o.input.dtype())), o.dim, o.index);
  const Tensor alone = apply<LogicalAnd>(zero, apply<Eq>(zeros_met, Scalar(1)));
  const Tensor others = gather(mul(g, product(o.input, without(o.src, alone))), o.dim, o.index);
  const Tensor divided = div(gather(mul(g, o.result), o.dim, o.index), without(o.src, zero));
  Tensor of_src = where(alone, as_input(others), as_input(divided));
  // Where two factors are 0, the product of the others is too, but its own gradient may not be.
  if (needs_grad(of_src) && item(amax(zeros_met, {}, false)).as_double() > 1)
    of_src = record(
        "Error", alias(of_src),
        [op = std::string_view(o.op)](Tensor) -> Gradients {
          const char* const name = op == "index_reduce" ? "source" : "src";
          fail<RuntimeError>(op, "(): Double backward is unsupported for ", name,
                             " when >1 zeros in ", name,
                             " are scattered to the same position in self");
        },
        of_src);
  return {of_input, of_src};
}

std::pair<Tensor, Tensor> extreme_backward(const Tensor& g, const ScatterOperands& o) {
  const DType dtype = o.input.dtype();
  const Tensor own = to(apply<Eq>(o.input, o.result), dtype);
  const Tensor theirs = to(apply<Eq>(o.src, gather(o.result, o.dim, o.index)), dtype);
  const Tensor share = div(g, scatter_add(own, o.dim, o.index, theirs));
  return {mul(own, share), mul(theirs, gather(share, o.dim, o.index))};
}

Tensor reduced(const char* op, const char* node, const Tensor& input, std::int64_t given_dim,
               const Tensor& given, const Tensor& source, Reduce reduce, bool include_self) {
  const int dim = wrap_dim(given_dim, input.dim());
  Tensor index = given.dtype() == DType::int32 ? to(given, DType::int64) : given;
  if (index.dim() == 0 && source.dim()) index = unsqueeze(index, 0);  // the first of a line
  const Tensor src = covered(source, index);
  Tensor out, counts;
  {
    const GradMode off(false);
    out = row_major_clone(input);
    scatter_into(op, out, dim, index, src, reduce.mode, include_self);
    if (reduce.is_mean && index.numel()) {
      counts = counts_of(input, dim, index, include_self);
      std::optional<std::string_view> rounding;
      if (!is_floating(input.dtype())) rounding = "floor";
      out = to(div(as_input(out), as_input(counts), rounding, {}), input.dtype());
    }
  }
  if (!needs_grad(input, src)) return out;
  const bool by_value = reduce.mode == ScatterMode::multiply ||
                        reduce.mode == ScatterMode::largest || reduce.mode == ScatterMode::smallest;
  return record(
      node, out,
      [op, reduce, dim, include_self, counts, indices = Saved(index), shape = src.shape(),
       of_input = Saved(by_value ? input : Tensor()), of_src = Saved(by_value ? src : Tensor()),
       y = by_value ? SavedOutput(out) : SavedOutput()](Tensor g, Node& self) {
        const Tensor at = indices.get();
        if (!at.numel()) return Gradients(g, zeros(shape, g.dtype(), g.device()));
        Tensor own = g, theirs;
        if (reduce.mode == ScatterMode::add) {
          if (reduce.is_mean) own = div(g, to(counts, g.dtype()));
          theirs = gather(own, dim, at);
        } else {
          const ScatterOperands o{op,  of_input.get(), at, of_src.get(), y.get(self),
                                  dim, include_self};
          std::tie(own, theirs) = reduce.mode == ScatterMode::multiply ? product_backward(g, o)
                                                                       : extreme_backward(g, o);
        }
        if (!include_self) own = scatter_value(own, dim, at, 0);
        return Gradients(own, shape.rank ? theirs : view(theirs, {}));
      },
      input, src);
}

}  // namespace

Tensor scatter_reduce(const Tensor& input, std::int64_t dim, const Tensor& index, const Tensor& src,
                      std::string_view reduce, bool include_self) {
  return reduced("scatter_reduce", "ScatterReduceBackward0", input, dim, index, src,
                 reduce_of(reduce), include_self);
}

Tensor index_reduce(const Tensor& input, std::int64_t dim, const Tensor& index,
                    const Tensor& source, std::string_view reduce, bool include_self) {
  if (reduce != "prod" && reduce != "mean" && reduce != "amax" && reduce != "amin")
    fail<RuntimeError>(
        "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got ", reduce,
        ".");
  const int at = check_index_source("index_reduce_", input, dim, index, source);
  Tensor whole = reshape(index, {-1});
  if (input.dim()) {
    Shape shape;
    for (int d = 0; d < input.dim(); ++d) shape.push_back(d == at ? whole.numel() : 1);
    whole = expand(view(whole, shape), source.shape());
  }
  const Tensor src = input.dim() ? source : reshape(source, whole.shape());
  return reduced("index_reduce", "IndexReduceBackward0", input, dim, whole, src, reduce_of(reduce),
                 include_self);
}

}  // namespace rushlight
