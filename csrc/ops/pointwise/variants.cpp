// Pointwise ops whose arguments are more than tensors and scalars: a mode, a None, a special case.
#include <cmath>

#include "checks.h"
#include "kernels/math/gamma.h"
#include "ops/reduce/reduce.h"

namespace rushlight {

template <class Op, std::size_t N>
static Tensor run(const Input (&inputs)[N], Into into, const Scalar* parameters = nullptr) {
  return pointwise(pointwise_op<Op>(), inputs, parameters, into);
}

Tensor div(Input input, Input other, std::optional<std::string_view> mode, Into into) {
  const Input in[] = {input, other};
  if (!mode) return run<Div>(in, into);
  if (*mode == "trunc") return run<DivTrunc>(in, into);
  if (*mode == "floor") return run<DivFloor>(in, into);
  fail<RuntimeError>(
      "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '", *mode, "'");
}

// x ** 2 and its like have formulas of their own, as in torch.
Tensor pow(Input input, Input exponent, Into into) {
  const Input in[] = {input, exponent};
  const Input one[] = {input};
  if (exponent.tensor || !input.tensor) return run<Pow>(in, into);
  const DType dtype = result_type(in);
  if (is_complex(dtype)) return run<Pow>(in, into);
  const double e = exponent.scalar.as_double();
  if (is_integral(dtype) && e < 0)
    fail<RuntimeError>(
        "Integers to negative integer powers are not allowed.\npow(): convert the input first, for "
        "example with .float()");
  if (dtype == DType::boolean) {  // x ** True is x, and x ** False is True
    const Input either[] = {input, {nullptr, Scalar(e == 0)}};
    return run<BitwiseOr>(either, into);
  }
  if (dtype == input.tensor->dtype()) {
    if (e == 2) return run<Square>(one, into);
    if (e == 3) return run<Cube>(one, into);
    if (is_floating(dtype)) {
      if (e == 0.5) return run<SqrtPower>(one, into);
      if (e == -0.5) return run<RsqrtPower>(one, into);
      if (e == -1) return run<ReciprocalPower>(one, into);
    }
  }
  if (is_floating(dtype)) {
    const Scalar parameter(e);
    return run<PowScalar>(one, into, &parameter);
  }
  check_fits("pow", "exponent", exponent.scalar, dtype);
  return run<Pow>(in, into);
}

Tensor clamp(const Tensor& input, std::optional<Input> min, std::optional<Input> max, Into into) {
  const Input x = as_input(input);
  if (!min && !max)
    fail<RuntimeError>("torch.clamp: At least one of 'min' or 'max' must not be None");
  if (min && max) {
    const Input in[] = {x, *min, *max};
    return min->tensor || max->tensor ? run<Clamp>(in, into) : run<ClampScalars>(in, into);
  }
  const Input in[] = {x, min ? *min : *max};
  const bool is_scalar = !in[1].tensor;
  if (min) return is_scalar ? run<ClampMinScalar>(in, into) : run<ClampMinOnly>(in, into);
  return is_scalar ? run<ClampMaxScalar>(in, into) : run<ClampMaxOnly>(in, into);
}

Tensor round(const Tensor& input, std::int64_t decimals, Into into) {
  const Input in[] = {as_input(input)};
  if (decimals == 0) return run<Round>(in, into);
  if (!is_floating(input.dtype()))
    fail<NotImplementedError>("\"round_cpu\" not implemented for '", scalar_name(input.dtype()),
                              "'\nround(): decimals are for floating point tensors");
  const double digits = std::min(std::fabs(double(decimals)), 400.0);
  const Scalar parameters[] = {Scalar(std::pow(10.0, digits)), Scalar(decimals < 0 ? 1.0 : 0.0)};
  return run<RoundDecimals>(in, into, parameters);
}

Tensor logit(const Tensor& input, std::optional<double> eps, Into into) {
  const Input in[] = {as_input(input)};
  const Scalar parameter(eps.value_or(-1.0));
  return run<Logit>(in, into, &parameter);
}

// Absent infinities become the largest numbers of the input's dtype.
Tensor nan_to_num(const Tensor& input, std::optional<double> nan, std::optional<double> posinf,
                  std::optional<double> neginf, Into into) {
  const Input in[] = {as_input(input)};
  double largest = 0;
  switch (real_of(input.dtype())) {
    case DType::float16: largest = 65504; break;
    case DType::bfloat16: largest = 3.3895313892515355e38; break;
    case DType::float32: largest = double(std::numeric_limits<float>::max()); break;
    default: largest = std::numeric_limits<double>::max();
  }
  if (is_integral(input.dtype())) nan = posinf = neginf = 0.0;  // there is nothing to replace
  const Scalar parameters[] = {Scalar(nan.value_or(0.0)), Scalar(posinf.value_or(largest)),
                               Scalar(neginf.value_or(-largest))};
  return run<NanToNum>(in, into, parameters);
}

Tensor polygamma(std::int64_t n, const Tensor& input, Into into) {
  if (n < 0) fail<RuntimeError>("polygamma(n, x) does not support negative n.");
  const Input in[] = {as_input(input)};
  const Scalar parameter(static_cast<double>(n));
  return run<Polygamma>(in, into, &parameter);
}

Tensor mvlgamma(const Tensor& input, std::int64_t p, Into into) {
  if (p < 1) fail<RuntimeError>("p has to be greater than or equal to 1");
  if (p > kMostGammas)
    fail<RuntimeError>("mvlgamma(): p is ", p, ", and at most ", kMostGammas, " can be summed");
  const Input in[] = {as_input(input)};
  const Scalar parameters[] = {Scalar(0.0), Scalar(double(p))};
  return run<Mvlgamma>(in, into, parameters);
}

// What is next to a 16-bit float depends on its dtype, which a kernel that computes in float has
// no longer.
Tensor nextafter(const Tensor& input, const Tensor& other, Into into) {
  const Input in[] = {as_input(input), as_input(other)};
  const DType d = result_type(in);
  if (d != DType::float16 && d != DType::bfloat16) return run<Nextafter>(in, into);
  const Scalar parameter(d == DType::bfloat16 ? 1.0 : 0.0);
  return run<NextafterReduced>(in, into, &parameter);
}

Tensor float_power(Input input, Input exponent, Into into) {
  const auto is_complex_input = [](const Input& i) {
    return i.tensor && is_complex(i.tensor->dtype());
  };
  const bool complex = is_complex_input(input) || is_complex_input(exponent);
  const DType computed = complex ? DType::complex128 : DType::float64;
  if (into.kind != Into::fresh && into.target->dtype() != computed)
    fail<RuntimeError>(
        "the ",
        into.kind == Into::out ? "output given to float_power" : "base given to float_power_",
        " has dtype ", scalar_name(into.target->dtype()),
        " but the operation's result requires dtype ", scalar_name(computed));
  Tensor wide[2];
  Input* const both[] = {&input, &exponent};
  for (int i = 0; i < 2; ++i) {
    if (both[i]->tensor) {
      wide[i] = to(*both[i]->tensor, is_complex_input(*both[i]) ? computed : DType::float64);
      both[i]->tensor = &wide[i];
    } else {
      both[i]->scalar = Scalar(both[i]->scalar.as_double());
    }
  }
  return pow(input, exponent, into);
}

std::tuple<Tensor, Tensor> frexp(const Tensor& input) {
  if (!is_floating(input.dtype()))
    fail<RuntimeError>("torch.frexp() only supports floating-point dtypes");
  return {apply<FrexpMantissa>(input), to(apply<FrexpExponent>(input), DType::int32)};
}

Tensor positive(const Tensor& input) {
  if (input.dtype() == DType::boolean)
    fail<RuntimeError>("The `+` operator, on a bool tensor is not supported.");
  return input;
}

Tensor where(const Tensor& condition, Input input, Input other, Into into) {
  if (condition.dtype() != DType::boolean && condition.dtype() != DType::uint8)
    fail<RuntimeError>(
        "where expected condition to be a boolean tensor, but got a tensor with dtype ",
        scalar_name(condition.dtype()), "\ncompare it first, for example condition != 0");
  const Input in[] = {as_input(condition), input, other};
  return run<Where>(in, into);
}

// An element that several positions share is filled where any of them is masked.
static void fill_expanded(const Tensor& self, const Tensor& mask, Input value) {
  Tensor narrowed = self, any_mask = expand(mask, self.shape());
  for (int d = 0; d < self.dim(); ++d)
    if (self->strides[std::size_t(d)] == 0 && self->shape[d] > 1) {
      any_mask = any(any_mask, std::array{std::int64_t(d)}, true);
      narrowed = narrow(narrowed, d, 0, 1);
    }
  masked_fill(narrowed, any_mask, value, {Into::self, &narrowed});
}

Tensor masked_fill(const Tensor& input, const Tensor& mask, Input value, Into into) {
  if (mask.dtype() != DType::boolean)
    fail<RuntimeError>("masked_fill_ only supports boolean masks, but got mask with dtype ",
                       scalar_name(mask.dtype()), "\ncompare it first, for example mask != 0");
  if (value.tensor && value.tensor->dim() != 0)
    fail<RuntimeError>(
        "masked_fill only supports a 0-dimensional value tensor, but got tensor with ",
        value.tensor->dim(), " dimension(s).");
  Tensor converted;
  const bool loses_part = value.tensor && is_complex(value.tensor->dtype()) &&
                          !is_complex(input.dtype()) && value.tensor->device().is_cpu() &&
                          !value.tensor->requires_grad();
  if (loses_part || (value.tensor && (*value.tensor)->number)) {
    converted = number_as("masked_fill", *value.tensor, input.dtype());
    value.tensor = &converted;
  } else if (value.tensor && value.tensor->dtype() != input.dtype()) {
    check_value("masked_fill", *value.tensor, input.dtype());
    converted = to(*value.tensor, input.dtype());
    value.tensor = &converted;
  } else if (value.tensor && into.target &&
             (*value.tensor)->storage.get() == (*into.target)->storage.get()) {
    converted = clone(*value.tensor);  // it is read before the first write
    value.tensor = &converted;
  } else if (!value.tensor) {
    if (is_integral(input.dtype())) {
      check_fits("masked_fill", "value", value.scalar, input.dtype());
      value.scalar = input.dtype() == DType::boolean ? Scalar(value.scalar.as_double() != 0)
                                                     : Scalar(value.scalar.as_int());
    }
  }
  if (into.kind == Into::self && overlaps_itself(input)) {
    warn_of_internal_overlap(input, "masked_fill_");
    fill_expanded(input, mask, value);
    return input;
  }
  if (into.kind == Into::fresh && !input.is_contiguous()) {  // row-major whatever the layout was
    const Tensor dense = contiguous(expand(input, broadcast(input.sizes(), mask.sizes())));
    const Input in[] = {as_input(dense), as_input(mask), value};
    return run<MaskedFill>(in, into);
  }
  const Input in[] = {as_input(input), as_input(mask), value};
  return run<MaskedFill>(in, into);
}

Tensor gelu(const Tensor& input, std::string_view approximate, Into into) {
  const Input in[] = {as_input(input)};
  if (approximate == "none") return run<Gelu>(in, into);
  if (approximate == "tanh") return run<GeluTanh>(in, into);
  fail<RuntimeError>("approximate argument must be either none or tanh.");
}

// One weight, or one for each channel (dimension 1, or 0 of a 1-d input).
Tensor prelu(const Tensor& input, const Tensor& weight) {
  if (weight.dim() > 1)
    fail<RuntimeError>("prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = ",
                       weight.dim());
  Tensor shaped = weight;
  if (weight.numel() != 1) {
    if (input.dim() == 0) fail<RuntimeError>("Not allow zero-dim input tensor.");
    const std::int64_t channels = input.dim() > 1 ? input.size(1) : 1;
    if (channels != weight.numel())
      fail<RuntimeError>(
          "Mismatch of parameter numbers and input channel size. Found parameter numbers = ",
          weight.numel(), " and channel size = ", channels,
          ".\nprelu(): ", describe("input", input), "; ", describe("weight", weight));
    Shape broadcast_over;
    for (int d = 0; d < input.dim(); ++d) broadcast_over.push_back(d == 1 ? channels : 1);
    shaped = view(weight, broadcast_over);
  } else if (weight.dim() == 1) {
    shaped = view(weight, Shape{});
  }
  if (shaped.dtype() != input.dtype())
    fail<RuntimeError>("prelu: Type promoting not supported. Got ", scalar_name(input.dtype()),
                       " and ", scalar_name(weight.dtype()));
  return apply<Prelu>(input, shaped);
}

Tensor glu(const Tensor& input, std::int64_t dim) {
  if (input.dim() == 0)
    fail<RuntimeError>("glu does not support scalars because halving size must be even");
  const int d = wrap_dim(dim, input.dim());
  if (input.size(d) % 2)
    fail<RuntimeError>("Halving dimension must be even, but dimension ", d, " is size ",
                       input.size(d));
  const std::int64_t half[] = {input.size(d) / 2, input.size(d) / 2};
  const std::vector<Tensor> halves = split_sizes(input, half, d);
  return apply<Glu>(halves[0], halves[1]);
}

Tensor threshold(const Tensor& input, Scalar limit, Scalar value, Into into) {
  const Input in[] = {as_input(input)};
  const Scalar parameters[] = {limit, value};
  return run<Threshold>(in, into, parameters);
}

}  // namespace rushlight
