// Running sums, products and extremes with their gradients.
#include "ops/scan.h"

#include "autograd/showing.h"
#include "core/backend.h"
#include "core/unlocked.h"
#include "kernels/scan.h"
#include "ops/reduce/reduce.h"
#include "ops/value.h"

namespace rushlight {
namespace {

Tensor run(Scan kind, const Tensor& input, int dim) {
  const GradMode off(false);
  if (kind == Scan::sum && is_complex(input.dtype()) && input.dtype() != DType::complex32) {
    if (input.dim() == 0) return clone(input);
    const Tensor out = empty_like(input);
    copy_bits(view_as_real(out), run(kind, view_as_real(input), dim));
    return out;
  }
  Tensor out = empty(input.sizes(), input.dtype(), input.device());
  if (out.numel() == 0 || out.device().is_meta()) return out;
  // The CPU walks neighbouring lines side by side where their rows are dense, and short lines.
  constexpr std::int64_t kShort = 32;
  const bool side_by_side = input.device().is_cpu() && input.dim() &&
                            (input->strides[dim] != 1 || input.size(dim) <= kShort);
  const Tensor lines = side_by_side ? contiguous(input) : input;
  const View to = view_of(out), from = view_of(lines);
  const Backend& b = backend(input.device());
  const Unlocked unlocked(double(out.numel()), {&out, &lines});
  b.scan->scan(kind, to, from, dim);
  return out;
}

// The sum from each element to the end.
Tensor reversed_cumsum(const Tensor& x, int dim) {
  if (x.dim() == 0) return x;
  const Shape along{dim};
  return flip(cumsum(flip(x, along), dim), along);
}

TensorPair extreme(const char* node, const Tensor& input, std::int64_t d, bool largest) {
  const int dim = wrap_dim(d, input.dim());
  Tensor outs[] = {empty(input.sizes(), input.dtype(), input.device()),
                   empty(input.sizes(), DType::int64, input.device())};
  if (input.numel() && !input.device().is_meta()) {
    const View v = view_of(outs[0]), i = view_of(outs[1]), from = view_of(input);
    const Backend& b = backend(input.device());
    const Unlocked unlocked(double(input.numel()), {&outs[0], &outs[1], &input});
    b.scan->extreme(largest, v, i, from, dim);
  }
  record_many(node, outs,
              showing(
                  "indices dim",
                  [whole = input.shape()](std::span<Tensor> g, Node&, const Saved& where,
                                          std::int64_t dim) {
                    return Gradients(picked_backward(g[0], where.get(), whole, int(dim), true));
                  },
                  Saved(outs[1]), std::int64_t(dim)),
              input);
  return {outs[0], outs[1]};
}

// The gradient of a running product where there are zeros, without history: nothing behind the
// first zero of a line has one, and at it the product is of the line without it.
Tensor gradient_at_zeros(const Tensor& g, const Tensor& x, const Tensor& out, int dim) {
  const auto sums = [&](const Tensor& products) { return reversed_cumsum(mul(products, g), dim); };
  const Tensor zero = apply<Eq>(x, Scalar(0)), seen = cumsum(zero, dim);
  const Tensor first = mul(zero, apply<Eq>(seen, Scalar(1)));
  const Tensor at_first = sums(cumprod(where(first, as_input(Scalar(1)), as_input(x)), dim));
  const Tensor rest =
      where(apply<Eq>(seen, Scalar(0)), as_input(div(sums(out), x)), as_input(Scalar(0)));
  return where(first, as_input(at_first), as_input(rest));
}

// The gradient of a running product is a running sum of products; dividing it by the input is exact
// where nothing is zero, which the general form below does not need.
Tensor cumprod_backward(const Tensor& g, const Tensor& x, const Tensor& out, int dim) {
  if (x.dim() == 0) return g;
  const std::int64_t n = x.size(dim);
  const auto zero_free = [&] {
    const GradMode off(false);
    return item(all(x, {}, false)).as_int() != 0;
  };
  if (zero_free()) return div(reversed_cumsum(mul(out, g), dim), x);
  if (!grad_enabled()) return gradient_at_zeros(g, x, out, dim);
  // d out[k] / d x[i] = product of x[0..k] without x[i]: column i by column.
  std::vector<Tensor> columns;
  Shape one = x.shape();
  one[dim] = 1;
  Tensor before = full(one, 1, x.dtype(), x.device());
  for (std::int64_t i = 0; i < n; ++i) {
    const Tensor unit = full(one, 1, x.dtype(), x.device());
    const Tensor rest = i + 1 < n ? cat({unit, narrow(x, dim, i + 1, n - i - 1)}, dim) : unit;
    const Tensor others = mul(before, cumprod(rest, dim));
    const Shape along{dim};
    columns.push_back(sum(mul(others, narrow(g, dim, i, n - i)), along, true));
    before = mul(before, narrow(x, dim, i, 1));
  }
  return cat(columns, dim);
}

}  // namespace

Tensor cumsum(const Tensor& given, std::int64_t d, OptionalDtype dtype) {
  const int dim = wrap_dim(d, given.dim());
  const DType type = sum_dtype(given, dtype);
  Tensor out;
  {
    const GradMode off(false);
    out = run(Scan::sum, to(given, type), dim);
  }
  return record("CumsumBackward0", out,
                showing(
                    "dim",
                    [from = given.dtype()](Tensor g, Node&, std::int64_t dim) {
                      const Tensor sums = reversed_cumsum(g, int(dim));
                      return Gradients(to(is_complex(from) ? sums : real(sums), from));
                    },
                    std::int64_t(dim)),
                given);
}

// Each element times those as far in front of it as were multiplied already: twice as many.
static Tensor complex_cumprod(Tensor x, int dim) {
  if (x.dim() == 0 || x.size(dim) < 2) return clone(x);
  const std::int64_t n = x.size(dim);
  for (std::int64_t step = 1; step < n; step *= 2)
    x = cat(
        {narrow(x, dim, 0, step), mul(narrow(x, dim, step, n - step), narrow(x, dim, 0, n - step))},
        dim);
  return x;
}

Tensor cumprod(const Tensor& given, std::int64_t d, OptionalDtype dtype) {
  const int dim = wrap_dim(d, given.dim());
  if (is_complex(dtype.value_or(given.dtype())))
    return complex_cumprod(to(given, dtype.value_or(given.dtype())), dim);
  const DType type = sum_dtype(given, dtype);
  Tensor out;
  {
    const GradMode off(false);
    const Tensor x = to(given, type);
    out = x.dim() == 0 || x.size(dim) == 1 ? clone(x) : run(Scan::product, x, dim);
  }
  if (!needs_grad(given)) return out;
  return record(
      "CumprodBackward0", out,
      showing(
          "self result dim",
          [type](Tensor g, Node& self, const Saved& x, const SavedOutput& y, std::int64_t at) {
            const int dim = int(at);
            if (g.numel() == 0) return Gradients(zeros_like(x.get()));
            if (g.dim() == 0 || g->shape[dim] == 1) return Gradients(to(g, x.get().dtype()));
            return Gradients(
                to(cumprod_backward(g, to(x.get(), type), y.get(self), dim), x.get().dtype()));
          },
          Saved(given), SavedOutput(out), std::int64_t(dim)),
      given);
}

// log(exp(a) + exp(b)) of complex numbers: the larger one, by its real part, is taken out.
static Tensor sum_of_exponents(const Tensor& a, const Tensor& b) {
  const Tensor is_less = detach(apply<Lt>(real(a), real(b)));
  const Tensor high = apply<Where>(is_less, b, a), low = apply<Where>(is_less, a, b);
  const Tensor size = detach(real(high));
  // Of two infinities of one sign no difference is taken.
  const Tensor stays =
      mul(apply<Eq>(size, real(low)), apply<Eq>(apply<Abs>(size), Scalar(kInfinity<double>)));
  const Tensor gap = apply<Where>(stays, zeros_like(high), sub(low, high));
  return apply<Where>(stays, high, add(high, apply<Log1p>(apply<Exp>(gap))));
}

// Each is joined with the one 1, 2, 4, ... before it.
static Tensor complex_logcumsumexp(const Tensor& input, int dim) {
  Tensor out = clone(input);
  if (input.dim() == 0) return out;
  for (std::int64_t step = 1; step < input.size(dim); step *= 2) {
    const std::int64_t rest = input.size(dim) - step;
    out = cat({narrow(out, dim, 0, step),
               sum_of_exponents(narrow(out, dim, step, rest), narrow(out, dim, 0, rest))},
              dim);
  }
  return out;
}

Tensor logcumsumexp(const Tensor& input, std::int64_t d) {
  const int dim = wrap_dim(d, input.dim());
  if (is_complex(input.dtype())) return complex_logcumsumexp(input, dim);
  if (!is_floating(input.dtype()))
    fail<NotImplementedError>("\"logcumsumexp_out_cpu\" not implemented for '",
                              scalar_name(input.dtype()), "'");
  Tensor out = run(Scan::log_sum_exp, input, dim);
  if (!needs_grad(input)) return out;
  return record(
      "LogcumsumexpBackward0", out,
      [x = Saved(input), y = SavedOutput(out), dim](Tensor g, Node& self) {
        // sum over k >= i of g[k] exp(x[i] - out[k])
        const Value grad(g), zero(0), none(-kInfinity<double>), out(y.get(self)), input(x.get());
        if (g.numel() == 0) return Gradients(g);
        const Shape along{dim};
        if (grad_enabled()) {  // the plain formula, which differentiates again
          const Value largest(detach(amax(x.get(), along, true)));
          const Value top = where(abs(largest) == Value(kInfinity<double>), zero, largest);
          const Tensor weights = (grad * exp(top - out)).tensor();
          return Gradients((exp(input - top) * Value(reversed_cumsum(weights, dim))).tensor());
        }
        // in logarithms, each sign by itself: nothing overflows
        const auto part = [&](const Value& positive) {
          const Value logs =
              where(positive > zero, log(where(positive > zero, positive, Value(1))), none);
          const Tensor back = (logs - out).tensor();
          const Tensor sums = back.dim() ? flip(logcumsumexp(flip(back, along), dim), along) : back;
          return exp(Value(sums) + input);
        };
        return Gradients((part(grad) - part(-grad)).tensor());
      },
      input);
}

TensorPair cummax(const Tensor& input, std::int64_t dim) {
  return extreme("CummaxBackward0", input, dim, true);
}
TensorPair cummin(const Tensor& input, std::int64_t dim) {
  return extreme("CumminBackward0", input, dim, false);
}

}  // namespace rushlight
