// Integrals and derivatives of samples, as compositions: their gradients are those of the parts.
#include "ops/samples.h"

#include "ops/scan.h"

namespace rushlight {
namespace {

using Index = std::optional<std::int64_t>;

Value part(const Value& x, int dim, Index start, Index end) {
  return slice(x.tensor(), dim, start, end, 1);
}
Value differences(const Tensor& x, int dim) { return part(x, dim, 1, {}) - part(x, dim, 0, -1); }

// With a vector along dim, and other tensors with sizes of 1 in front.
Tensor with_rank(const Tensor& x, int dim, int rank) {
  if (x.dim() >= rank) return x;
  Shape shape;
  for (int d = 0; d < rank; ++d) {
    const int own = x.dim() == 1 ? d - dim : d - (rank - x.dim());
    shape.push_back(own < 0 || own >= x.dim() ? 1 : x.size(own));
  }
  return reshape(x, shape);
}

int dim_of_samples(const Tensor& y, std::int64_t dim) {
  if (y.dim() == 0)
    fail<IndexError>("Dimension specified as ", dim, " but tensor has no dimensions");
  return wrap_dim(dim, y.dim());
}

// The areas between neighbours, twice, for a distance of 1 or for the coordinates x.
Tensor doubled_areas(const char* op, const Tensor& y, const Tensor* x, int dim) {
  if (y.dtype() == DType::boolean || (x && x->dtype() == DType::boolean))
    fail<RuntimeError>(op, ": received a bool input for ", x ? "`x` or `y`" : "`y`",
                       ", but bool is not supported");
  const Value sums = part(y, dim, 1, {}) + part(y, dim, 0, -1);
  if (!x) return sums.tensor();
  if (x->dim() == 1 && x->size(0) != y.size(dim))
    fail<RuntimeError>(op, ": There must be one `x` value for each sample point\ngot ", x->size(0),
                       " for ", y.size(dim));
  return (sums * differences(with_rank(*x, dim, y.dim()), dim)).tensor();
}

Tensor integral(const Tensor& y, const Tensor* x, double dx, std::int64_t along) {
  const std::int64_t dim = dim_of_samples(y, along);
  if (y.size(dim) == 0) return zeros(ReducedShape(y, {&dim, 1}).squeezed, y.dtype(), y.device());
  if (!x && y.dtype() != DType::boolean) {  // all but half of the first and the last
    const Value ends = Value(select(y, int(dim), 0)) + Value(select(y, int(dim), -1));
    return ((Value(sum(y, {&dim, 1}, false)) - ends * Value(0.5)) * Value(dx)).tensor();
  }
  const Tensor areas = doubled_areas("trapezoid", y, x, int(dim));
  return (Value(sum(areas, {&dim, 1}, false)) * Value(dx / 2)).tensor();
}
Tensor running_integral(const Tensor& y, const Tensor* x, double dx, std::int64_t along) {
  const int dim = dim_of_samples(y, along);
  const Tensor areas = doubled_areas("cumulative_trapezoid", y, x, dim);
  return (Value(cumsum(areas, dim)) * Value(dx / 2)).tensor();
}

// By the parabola through three neighbours; at both ends by a line or a parabola.
Tensor derivative(const Tensor& x, int dim, const Value& spacing, bool second_order) {
  const auto at = [&](Index start, Index end) { return part(x, dim, start, end); };
  if (spacing.is_scalar() || spacing.tensor().dim() == 0) {
    const Value inner = (at(2, {}) - at(0, -2)) / (Value(2) * spacing);
    const auto end = [&](const Value& outer, const Value& next, const Value& third) {
      return second_order ? (Value(1.5) * outer - Value(2) * next + Value(0.5) * third) / spacing
                          : (outer - next) / spacing;
    };
    const Value none;
    const Value first = end(at(0, 1), at(1, 2), second_order ? at(2, 3) : none);
    const Value last = end(at(-1, {}), at(-2, -1), second_order ? at(-3, -2) : none);
    return cat({(-first).tensor(), inner.tensor(), last.tensor()}, dim);
  }
  const Tensor steps = with_rank(differences(spacing.tensor(), 0).tensor(), dim, x.dim());
  const auto h = [&](Index start, Index end) { return part(steps, dim, start, end); };
  const Value before = h(0, -1), after = h(1, {}), both = before + after;
  const Value inner = -after / (before * both) * at(0, -2) +
                      (after - before) / (before * after) * at(1, -1) +
                      before / (after * both) * at(2, {});
  const auto end = [](const Value& outer, const Value& next, const Value& third, const Value& near,
                      const Value& far) {
    return (Value(2) * near + far) / (near * (near + far)) * outer -
           (near + far) / (near * far) * next + near / (far * (near + far)) * third;
  };
  const Value first = second_order ? -end(at(0, 1), at(1, 2), at(2, 3), h(0, 1), h(1, 2))
                                   : (at(1, 2) - at(0, 1)) / h(0, 1);
  const Value last = second_order ? end(at(-1, {}), at(-2, -1), at(-3, -2), h(-1, {}), h(-2, -1))
                                  : (at(-1, {}) - at(-2, -1)) / h(-1, {});
  return cat({first.tensor(), inner.tensor(), last.tensor()}, dim);
}

}  // namespace

Tensor trapezoid(const Tensor& y, const Tensor& x, std::int64_t dim) {
  return integral(y, &x, 1, dim);
}
Tensor trapezoid(const Tensor& y, double dx, std::int64_t dim) {
  return integral(y, nullptr, dx, dim);
}
Tensor cumulative_trapezoid(const Tensor& y, const Tensor& x, std::int64_t dim) {
  return running_integral(y, &x, 1, dim);
}
Tensor cumulative_trapezoid(const Tensor& y, double dx, std::int64_t dim) {
  return running_integral(y, nullptr, dx, dim);
}

std::vector<Tensor> gradient(const Tensor& input, const std::vector<Value>& spacing,
                             const std::optional<Shape>& dim, std::int64_t edge_order) {
  if (edge_order != 1 && edge_order != 2)
    fail<RuntimeError>("torch.gradient only supports edge_order=1 and edge_order=2.");
  Shape dims = dim.value_or(Shape());
  for (int d = 0; !dim && d < input.dim(); ++d) dims.push_back(d);
  dim_mask(dims.view(), input.dim(), false);  // refuses one that is named twice
  if (spacing.size() != std::size_t(dims.rank))
    fail<RuntimeError>(
        "torch.gradient expected spacing to be unspecified, a scalar, or a list of length ",
        dim ? "equal to that of dim: " : "equal to 'self.dim() = ", int(dims.rank),
        dim ? "" : "', since dim argument was not given", ", but got a list of length ",
        spacing.size());
  for (int i = 0; i < dims.rank; ++i) {
    dims[i] = wrap_dim(dims[i], input.dim());
    if (input.dim() == 0 || input.size(dims[i]) < edge_order + 1)
      fail<RuntimeError>("torch.gradient expected each dimension size to be at least edge_order+1");
  }
  if (input.dtype() == DType::uint8)
    fail<RuntimeError>("torch.gradient does not support uint8 input.");
  std::vector<Tensor> derivatives;
  for (int i = 0; i < dims.rank; ++i) {
    const Value& step = spacing[std::size_t(i)];
    if (!step.is_scalar() && step.tensor().dim() && step.tensor().numel() != input.size(dims[i]))
      fail<RuntimeError>(
          "torch.gradient expected each input of spacing to have the size of its dimension");
    derivatives.push_back(derivative(input, int(dims[i]), step, edge_order == 2));
  }
  return derivatives;
}

Tensor diff(const Tensor& input, std::int64_t n, std::int64_t dim,
            const std::optional<Tensor>& prepend, const std::optional<Tensor>& append) {
  if (input.dim() == 0) fail<RuntimeError>("diff expects input to be at least one-dimensional");
  if (n < 0) fail<RuntimeError>("order must be non-negative but got ", n);
  if (n == 0) return clone(input);
  const int along = wrap_dim(dim, input.dim());
  std::vector<Tensor> parts;
  for (const Tensor& part : {prepend.value_or(Tensor()), append.value_or(Tensor())}) {
    if (!part) continue;
    if (part.dim() != input.dim())
      fail<RuntimeError>("diff expects prepend or append to be the same dimension as input\n",
                         describe("input", input), "; it was given ", part.sizes());
    for (int d = 0; d < input.dim(); ++d)
      if (d != along && part.size(d) != input.size(d))
        fail<RuntimeError>(
            "diff expects the shape of tensor to prepend or append to match that of "
            "input except along the differencing dimension; input.size(",
            d, ") = ", input.size(d), ", but got tensor.size(", d, ") = ", part.size(d));
  }
  for (const Tensor& part : {prepend.value_or(Tensor()), input, append.value_or(Tensor())})
    if (part) parts.push_back(part);
  Tensor left = parts.size() > 1 ? cat(parts, dim) : input;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t size = left.size(wrap_dim(dim, left.dim()));
    if (size == 0) break;
    const Tensor later = narrow(left, dim, 1, size - 1), earlier = narrow(left, dim, 0, size - 1);
    left = left.dtype() == DType::boolean ? apply<BitwiseXor>(later, earlier) : sub(later, earlier);
  }
  return left;
}

}  // namespace rushlight
