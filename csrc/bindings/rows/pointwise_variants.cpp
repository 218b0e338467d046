// The pointwise ops that have modes, optional arguments or several forms, one line for each form.
#include "bindings/module.h"
#include "bindings/warnings.h"
#include "ops/pointwise/pointwise.h"
#include "pointwise.h"

namespace py = pybind11;

namespace rushlight::python {

using Number = std::optional<double>;
using Operand = std::optional<Input>;

static Into into_self(const Tensor& self) { return {Into::self, &self}; }

static Tensor div_function(Input a, Input b, std::optional<std::string_view> mode) {
  const Tensor number =
      a.tensor || b.tensor ? Tensor() : scalar_tensor(a.scalar, dtype_of(a.scalar), {});
  return div(number ? as_input(number) : a, b, mode, {});
}
static Tensor div_in_place(const Tensor& a, Input b, std::optional<std::string_view> mode) {
  return div(as_input(a), b, mode, into_self(a));
}
static Tensor true_divide(Input a, Input b) { return div_function(a, b, {}); }
static Tensor true_divide_in_place(const Tensor& a, Input b) {
  return div(as_input(a), b, {}, into_self(a));
}
Tensor power_of(Input base, Input exponent) {
  Input in[] = {base, exponent};
  std::optional<Recast> cast;
  if (autocast.on) [[unlikely]]
    cast.emplace(in, 2, kFullOnCuda);
  return pow(in[0], in[1]);
}
static bool is_number(const Input& i) { return !i.tensor || (*i.tensor)->number; }
static Tensor pow_function(Input a, Input b) {
  if (is_number(a) && is_number(b))
    fail<TypeError>("pow(): argument 'input' (position 1) must be Tensor, not Number");
  return pow(a, b);
}
static Tensor pow_method(const Tensor& a, Input b) { return power_of(as_input(a), b); }
static Tensor pow_in_place(const Tensor& a, Input b) { return pow(as_input(a), b, into_self(a)); }
// Two tensors or two numbers, one of which may be given as a 0-d tensor.
static void unify_bounds(const char* op, Operand& min, Operand& max) {
  if (!min || !max || !min->tensor == !max->tensor) return;
  Operand& bound = min->tensor ? min : max;
  const Tensor& t = *bound->tensor;
  if (t.dim() || t.requires_grad())
    fail<TypeError>(op, "() received an invalid combination of arguments - got (a tensor of shape ",
                    t.sizes(), " and a number): min and max are both tensors or both numbers");
  bound = as_input(item(t));
}
static Tensor clamp_function(const Tensor& x, Operand min, Operand max) {
  unify_bounds("clamp", min, max);
  return clamp(x, min, max);
}
static Tensor clamp_in_place(const Tensor& x, Operand min, Operand max) {
  unify_bounds("clamp_", min, max);
  return clamp(x, min, max, into_self(x));
}
static Tensor round_function(const Tensor& x, std::int64_t decimals) { return round(x, decimals); }
static Tensor round_in_place(const Tensor& x, std::int64_t decimals) {
  return round(x, decimals, into_self(x));
}
static Tensor logit_function(const Tensor& x, Number eps) { return logit(x, eps); }
static Tensor logit_in_place(const Tensor& x, Number eps) { return logit(x, eps, into_self(x)); }
static Tensor nan_to_num_function(const Tensor& x, Number nan, Number high, Number low) {
  return nan_to_num(x, nan, high, low);
}
static Tensor nan_to_num_in_place(const Tensor& x, Number nan, Number high, Number low) {
  return nan_to_num(x, nan, high, low, into_self(x));
}
static Tensor polygamma_function(std::int64_t n, const Tensor& x) { return polygamma(n, x); }
static Tensor polygamma_method(const Tensor& x, std::int64_t n) { return polygamma(n, x); }
static Tensor polygamma_in_place(const Tensor& x, std::int64_t n) {
  return polygamma(n, x, into_self(x));
}
static Tensor mvlgamma_function(const Tensor& x, std::int64_t p) { return mvlgamma(x, p); }
static Tensor mvlgamma_in_place(const Tensor& x, std::int64_t p) {
  return mvlgamma(x, p, into_self(x));
}
static Tensor nextafter_function(const Tensor& x, const Tensor& other) {
  return nextafter(x, other);
}
static Tensor nextafter_in_place(const Tensor& x, const Tensor& other) {
  return nextafter(x, other, into_self(x));
}
static Tensor float_power_function(Input a, Input b) {
  if (!a.tensor && !b.tensor)
    fail<TypeError>("float_power(): argument 'input' (position 1) must be Tensor, not Number");
  return float_power(a, b);
}
static Tensor float_power_method(const Tensor& a, Input b) { return float_power(as_input(a), b); }
static Tensor float_power_in_place(const Tensor& a, Input b) {
  return float_power(as_input(a), b, into_self(a));
}
static void warn_of_bytes(const Tensor& condition) {
  static bool done = false;
  if (condition.dtype() == DType::uint8 &&
      !warn_once(done,
                 "where received a uint8 condition tensor, which is deprecated: give it a "
                 "condition.bool()"))
    throw py::error_already_set();
}
static Tensor where_function(const Tensor& c, Input a, Input b) {
  warn_of_bytes(c);
  return where(c, a, b);
}
static std::vector<Tensor> where_holds(const Tensor& c) { return nonzero_tuple(c); }
static Tensor where_method(const Tensor& a, const Tensor& c, Input b) {
  warn_of_bytes(c);
  return where(c, as_input(a), b);
}
static Tensor masked_fill_function(const Tensor& x, const Tensor& mask, Input value) {
  return masked_fill(x, mask, value);
}
static Tensor masked_fill_in_place(const Tensor& x, const Tensor& mask, Input value) {
  return masked_fill(x, mask, value, into_self(x));
}
static Tensor gelu_function(const Tensor& x, std::string_view approximate) {
  return gelu(x, approximate);
}
static Tensor threshold_function(const Tensor& x, Scalar limit, Scalar value) {
  return threshold(x, limit, value);
}
static Tensor threshold_functional(const Tensor& x, Scalar limit, Scalar value, Truth inplace) {
  return threshold(x, limit, value, inplace ? into_self(x) : Into{});
}
// As in torch a difference, whose tanh() of a half is one too.
static Tensor tanhshrink_functional(const Tensor& x) {
  return is_reduced(x.dtype()) || is_complex(x.dtype()) ? sub(x, apply<Tanh>(x))
                                                        : apply<Tanhshrink>(x);
}
static Tensor relu6_functional(const Tensor& x, Truth inplace) {
  const Input in = as_input(x);
  const Scalar bounds[] = {Scalar(0.0), Scalar(6.0)};
  return pointwise(pointwise_op<Hardtanh>(), &in, bounds, inplace ? into_self(x) : Into{});
}
static Tensor threshold_in_place(const Tensor& x, Scalar limit, Scalar value) {
  return threshold(x, limit, value, into_self(x));
}

static void bind_quotients_and_powers(py::module_& m) {
  op<&div_function>(m, "div(input, other, *, rounding_mode=None, out=None)", stored(As::both),
                    R"(input / other; with rounding_mode 'trunc' or 'floor' rounded.

Args:
    input: dividend
    other: divisor, a tensor or a scalar
    rounding_mode: None for the true quotient, 'trunc' (towards zero) or 'floor' (down)

Shape:
    input and other broadcast.

>>> torch.div(torch.tensor([7., -7.]), 2, rounding_mode='floor')
tensor([ 3., -4.]))");
  op<&div_in_place>(m, "div_(input, other, *, rounding_mode=None)", stored(As::method),
                    "div() in place.");
  op<&true_divide>(m, "true_divide(input, other, *, out=None)", stored(As::both),
                   R"(div() without rounding.

Args:
    other: the divisor, a tensor or a scalar.

Shape:
    input and other broadcast.

>>> torch.true_divide(torch.tensor([1, 3]), 2)
tensor([0.5000, 1.5000]))");
  op<&true_divide_in_place>(m, "true_divide_(input, other)", stored(As::method),
                            "true_divide() in place.");
  op<&pow_function>(m, "pow(input, exponent, *, out=None)",
                    with_complex({.as = As::function, .autocast = kFullOnCuda}),
                    R"(input to the power exponent; one of the two may be a scalar.

Args:
    input: the base, a tensor or a scalar.
    exponent: the exponent, a tensor or a scalar.

Shape:
    input and exponent broadcast.

>>> torch.pow(torch.tensor([1., 2., 3.]), 2)
tensor([1., 4., 9.]))");
  publish_alias(m, As::both, "div", "divide");
  publish_alias(m, As::method, "div_", "divide_");
  op<&pow_method>(m, "pow(input, exponent)", with_complex(As::method), "torch.pow() as a method.");
  op<&pow_in_place>(m, "pow_(input, exponent)", with_complex(As::method), "pow() in place.");
  op<&float_power_function>(m, "float_power(input, exponent, *, out=None)",
                            with_complex(As::function),
                            R"(pow() in float64.

Args:
    out: where the result is written; of float64
    input: the base, a tensor or a scalar.
    exponent: the exponent, a tensor or a scalar.

Shape:
    input and exponent broadcast.

>>> torch.float_power(torch.tensor([2, 3]), 2)
tensor([4., 9.], dtype=torch.float64))");
  op<&float_power_method>(m, "float_power(input, exponent)", with_complex(As::method),
                          "torch.float_power() as a method.");
  op<&float_power_in_place>(m, "float_power_(input, exponent)", with_complex(As::method),
                            "float_power() in place, of float64.");
}

static void bind_bounds(py::module_& m) {
  op<&clamp_function>(m, "clamp(input, min=None, max=None, *, out=None)", As::both,
                      R"(min(max(input, min), max); a bound that is None does not bound.

Args:
    min: lower bound, a scalar or a tensor
    max: upper bound, a scalar or a tensor

Shape:
    input, min and max broadcast.

>>> torch.clamp(torch.tensor([-2., 0.5, 3.]), min=-1, max=1)
tensor([-1.0000,  0.5000,  1.0000]))");
  op<&clamp_in_place>(m, "clamp_(input, min=None, max=None)", As::both, "clamp() in place.");
  publish_alias(m, As::both, "clamp", "clip");
  publish_alias(m, As::both, "clamp_", "clip_");
  op<&round_function>(m, "round(input, *, decimals=0, out=None)", {.as = As::both, .exact = true},
                      R"(The nearest number with so many decimals; halves go to the even one.

Args:
    decimals: digits kept after the point; negative: digits before it made zero

Shape:
    that of input.

>>> torch.round(torch.tensor([0.5, 1.5, -2.5]))
tensor([ 0.,  2., -2.]))");
  op<&round_in_place>(m, "round_(input, *, decimals=0)", As::both, "round() in place.");
  op<&nan_to_num_function>(m, "nan_to_num(input, nan=None, posinf=None, neginf=None, *, out=None)",
                           with_complex(As::both),
                           R"(NaN, infinity and -infinity replaced by numbers.

Args:
    nan: instead of NaN; 0 if not given
    posinf: instead of infinity; the largest number of the dtype if not given
    neginf: instead of -infinity; the smallest number of the dtype if not given

Shape:
    that of input.

>>> torch.nan_to_num(torch.tensor([float('nan'), float('inf'), 1.]), posinf=9.)
tensor([0., 9., 1.]))");
  op<&nan_to_num_in_place>(m, "nan_to_num_(input, nan=None, posinf=None, neginf=None)",
                           with_complex(As::both), "nan_to_num() in place.");
  op<&positive>(m, "positive(input)", with_complex(As::both),
                R"(The input itself; bools are refused.

Shape:
    that of input.

>>> torch.positive(torch.tensor([1., -2.]))
tensor([ 1., -2.]))");
}

static void bind_functions(py::module_& m) {
  op<&logit_function>(m, "logit(input, eps=None, *, out=None)", As::both,
                      R"(log(z / (1 - z)), where z is input kept within [eps, 1 - eps].

Args:
    input: probabilities.
    eps: input is clamped to [eps, 1 - eps] first; None for no clamp.

Shape:
    that of input.

>>> torch.logit(torch.tensor([0.25, 0.5]))
tensor([-1.0986,  0.0000]))");
  op<&logit_in_place>(m, "logit_(input, eps=None)", As::both, "logit() in place.");
  op<&polygamma_function>(m, "polygamma(n, input, *, out=None)", As::function,
                          R"(The n-th derivative of digamma.

Args:
    n: the order, at least 0.

Shape:
    that of input.

>>> torch.polygamma(1, torch.tensor([1., 0.5]))
tensor([1.6449, 4.9348]))");
  op<&polygamma_method>(m, "polygamma(input, n)", As::method, "torch.polygamma() as a method.");
  op<&polygamma_in_place>(m, "polygamma_(input, n)", As::method, "polygamma() in place.");
  op<&mvlgamma_function>(m, "mvlgamma(input, p, *, out=None)", As::both,
                         R"(The logarithm of the gamma function of p variables.

p (p - 1) / 4 log(pi) + the sum of lgamma(input - j / 2) for j = 0 ... p - 1

Args:
    p: number of variables, at least 1

Shape:
    that of input.

>>> torch.mvlgamma(torch.tensor([3.]), 2)
tensor([1.5502]))");
  op<&mvlgamma_in_place>(m, "mvlgamma_(input, p)", As::method, "mvlgamma() in place.");
  op<&nextafter_function>(m, "nextafter(input, other, *, out=None)", As::both,
                          R"(The next number that the dtype can hold from input towards other.

Args:
    other: broadcast against input

Shape:
    input and other broadcast.

>>> torch.nextafter(torch.tensor([1.]), torch.tensor([2.])) > 1
tensor([True]))");
  op<&nextafter_in_place>(m, "nextafter_(input, other)", As::method, "nextafter() in place.");
  op<&frexp>(m, "frexp(input, *, out=None) -> (mantissa, exponent)", As::both,
             R"(The mantissa, in [0.5, 1), and the exponent with input = mantissa * 2^exponent.

Args:
    input: the input tensor, floating point
    out: two tensors that the results are written to

Shape:
    mantissa and exponent have the shape of input.

>>> torch.frexp(torch.tensor([3.])).exponent
tensor([2], dtype=torch.int32))");
  op<&gelu_function>(m, "gelu(input, *, approximate='none', out=None)", As::functional,
                     R"(x * Phi(x), where Phi is the normal distribution function.

Args:
    approximate: 'none', or 'tanh' for x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)))

Shape:
    that of input.

>>> torch.nn.functional.gelu(torch.tensor([-1., 0., 1.]))
tensor([-0.1587,  0.0000,  0.8413]))");
  op<&prelu>(m, "prelu(input, weight)", {.as = As::both | As::functional, .autocast = kLower},
             R"(x where x > 0, else weight * x.

Args:
    weight: one slope, or one for each channel (dimension 1)

Shape:
    that of input.

>>> torch.prelu(torch.tensor([-2., 3.]), torch.tensor(0.25))
tensor([-0.5000,  3.0000]))");
  op<&glu>(m, "glu(input, dim=-1)", As::functional,
           R"(a * sigmoid(b), a and b the halves of x along `dim`.

Args:
    dim: the dimension that is halved.

Shape:
    (*, 2 c, *) to (*, c, *).

>>> torch.nn.functional.glu(torch.tensor([2.0, 0.0]))
tensor([1.]))");
  op<&threshold_function>(m, "threshold(input, threshold, value, *, out=None)", As::function,
                          R"(x where x > threshold, else value.

Args:
    threshold: what x must exceed.
    value: the result otherwise.

Shape:
    that of input.

>>> torch.threshold(torch.tensor([-1., 2.]), 0, 20)
tensor([20.,  2.]))");
  op<&threshold_functional>(m, "threshold(input, threshold, value, inplace=False)", As::functional,
                            R"(x where x > threshold, else value.

Args:
    threshold: what x must exceed.
    value: the result otherwise.

Shape:
    that of input.

>>> torch.nn.functional.threshold(torch.tensor([0.0, 1.0]), 0.5, 9.0)
tensor([9., 1.]))");
  op<&relu6_functional>(m, "relu6(input, inplace=False)", As::functional,
                        R"(min(max(x, 0), 6).

Shape:
    that of input.

>>> torch.nn.functional.relu6(torch.tensor([-1.0, 7.0]))
tensor([0., 6.]))");
  op<&tanhshrink_functional>(m, "tanhshrink(input)", with_complex(As::functional), R"(x - tanh(x)

Shape:
    that of input.

>>> torch.nn.functional.tanhshrink(torch.tensor([-1., 0.5, 4.]))
tensor([-0.2384,  0.0379,  3.0007]))");
  op<&threshold_in_place>(m, "threshold_(input, threshold, value)", As::function | As::functional,
                          "threshold() in place.");
}

static void bind_choices(py::module_& m) {
  overloads<&where_function, &where_holds>(
      m, {"where(condition, input, other, *, out=None)", "where(condition)"},
      stored(with_complex({.as = As::function, .exact = true})),
      R"(input where condition is True, else other; of condition alone, the indices of True.

Args:
    condition: a bool tensor
    input: a tensor or a scalar
    other: a tensor or a scalar

Shape:
    condition, input and other broadcast; alone, a tuple of index vectors (n).

>>> x = torch.tensor([-1., 2.])
>>> torch.where(x > 0, x, 0.)
tensor([0., 2.]))");
  op<&where_method>(m, "where(input, condition, other)", stored(with_complex(As::method)),
                    "torch.where() as a method.");
  op<&masked_fill_function>(m, "masked_fill(input, mask, value)", with_complex(As::both),
                            R"(`value` where mask is True, else input.

Args:
    mask: a bool tensor that broadcasts to input's shape
    value: a scalar or a 0-d tensor

Shape:
    that of input, broadcast with mask.

>>> torch.tensor([1., 2.]).masked_fill(torch.tensor([True, False]), -1)
tensor([-1.,  2.]))");
  op<&masked_fill_in_place>(m, "masked_fill_(input, mask, value)", with_complex(As::method),
                            "masked_fill() in place.");
}

void bind_pointwise_variants(py::module_& m) {
  bind_quotients_and_powers(m);
  bind_bounds(m);
  bind_functions(m);
  bind_choices(m);
}

}  // namespace rushlight::python
