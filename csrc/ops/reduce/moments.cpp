// Variances and logsumexp. Gradients are formulas on tensors, so they differentiate again.
#include <cmath>

#include "autograd/showing.h"
#include "kernels/reduce_formulas.h"
#include "ops/value.h"
#include "reduce.h"

namespace rushlight {
namespace {

void check_moment(const Tensor& input) {
  if (!is_floating(input.dtype()))
    fail<RuntimeError>("std and var only support floating point and complex dtypes\n",
                       describe("input", input), ": convert with .float()");
}

Tensor moment(const char* name, Reduction kind, const Tensor& input, const ReducedShape& over,
              double correction, bool keepdim) {
  check_moment(input);
  if (!(double(over.count) > correction) && warn) [[unlikely]]
    warn(text(name,
              "(): degrees of freedom is <= 0. Correction should be strictly less than the "
              "reduction factor (input numel divided by output numel).\n",
              over.count,
              " elements make each result; unbiased=False or correction=0 divides by "
              "their number"));
  const GradMode off(false);
  return reduce_into_new(kind, input, over, keepdim, input.dtype(), correction);
}

// d var / d x = 2 (x - mean) / (n - correction)
Tensor var_backward(const Tensor& g, const Tensor& x, const ReducedShape& over, double correction) {
  Shape dims;
  for (int d = 0; d < over.whole.rank; ++d)
    if (over.mask >> d & 1) dims.push_back(d);
  const double divisor = static_cast<double>(over.count) - correction;
  const Tensor centered = dims.rank ? sub(x, mean(x, dims, true)) : sub(x, x);
  return mul(mul(centered, Scalar(2 / divisor)), spread(g, over));
}
// d std = d var / (2 std), and nothing where std is 0
Tensor std_backward(const Tensor& g, const Tensor& x, const Tensor& out, const ReducedShape& over,
                    double correction) {
  const Value zero(0), s(out);
  const Value scaled = where(s == zero, zero, Value(g) / (s * Value(2)));
  return var_backward(scaled.tensor(), x, over, correction);
}

using Pair = TensorPair;

Pair moment_and_mean(const char* name, const char* node, Reduction kind, const Tensor& given,
                     Sizes dims, double correction, bool keepdim) {
  const Tensor input = detach(given);  // whose sizes no other thread changes
  const ReducedShape over(input, dims);
  const bool root = kind == kReduction<reduction::StandardDeviation>;
  Tensor outs[] = {moment(name, kind, input, over, correction, keepdim), {}};
  {
    const GradMode off(false);
    outs[1] = reduce_into_new(kReduction<reduction::Mean>, input, over, keepdim, input.dtype());
  }
  if (needs_grad(given))
    record_many(node, outs,
                showing(
                    root ? "self correction result0 dim keepdim" : "self correction",
                    [over, root](std::span<Tensor> g, Node& self, const Saved& x, double correction,
                                 const SavedOutput& y) {
                      Tensor total;
                      if (g[0])
                        total = root ? std_backward(g[0], x.get(), y.get(self), over, correction)
                                     : var_backward(g[0], x.get(), over, correction);
                      if (g[1]) {
                        const Tensor of_mean =
                            spread(mul(g[1], Scalar(1 / static_cast<double>(over.count))), over);
                        total = total ? add(total, of_mean) : of_mean;
                      }
                      return Gradients(total);
                    },
                    Saved(given), correction, SavedOutput(outs[0]),
                    ReducedDims{over.mask, !dims.empty()}, keepdim),
                given);
  return {outs[0], outs[1]};
}

// The variance of complex numbers is that of their real and imaginary parts together.
Tensor complex_var(const Tensor& z, Sizes dims, double correction, bool keepdim) {
  return add(var(real(z), dims, correction, keepdim), var(imag(z), dims, correction, keepdim));
}

}  // namespace

Tensor var(const Tensor& input, Sizes dims, double correction, bool keepdim) {
  if (is_complex(input.dtype())) return complex_var(input, dims, correction, keepdim);
  const ReducedShape over(input, dims);
  Tensor out = moment("var", kReduction<reduction::Variance>, input, over, correction, keepdim);
  if (!needs_grad(input)) return out;
  return record("VarBackward0", out,
                showing(
                    "self correction dim keepdim",
                    [over](Tensor g, Node&, const Saved& x, double correction) {
                      return Gradients(var_backward(g, x.get(), over, correction));
                    },
                    Saved(input), correction, ReducedDims{over.mask, !dims.empty()}, keepdim),
                input);
}

Tensor stddev(const Tensor& input, Sizes dims, double correction, bool keepdim) {
  if (is_complex(input.dtype())) return apply<Sqrt>(complex_var(input, dims, correction, keepdim));
  const ReducedShape over(input, dims);
  Tensor out =
      moment("std", kReduction<reduction::StandardDeviation>, input, over, correction, keepdim);
  if (!needs_grad(input)) return out;
  return record(
      "StdBackward0", out,
      showing(
          "self result correction dim keepdim",
          [over](Tensor g, Node& self, const Saved& x, const SavedOutput& y, double correction) {
            return Gradients(std_backward(g, x.get(), y.get(self), over, correction));
          },
          Saved(input), SavedOutput(out), correction, ReducedDims{over.mask, !dims.empty()},
          keepdim),
      input);
}

Pair var_mean(const Tensor& input, Sizes dims, double correction, bool keepdim) {
  if (is_complex(input.dtype()))
    return {var(input, dims, correction, keepdim), mean(input, dims, keepdim)};
  return moment_and_mean("var_mean", "VarMeanBackward0", kReduction<reduction::Variance>, input,
                         dims, correction, keepdim);
}
Pair std_mean(const Tensor& input, Sizes dims, double correction, bool keepdim) {
  if (is_complex(input.dtype()))
    return {stddev(input, dims, correction, keepdim), mean(input, dims, keepdim)};
  return moment_and_mean("std_mean", "StdMeanBackward0", kReduction<reduction::StandardDeviation>,
                         input, dims, correction, keepdim);
}

// Of complex numbers: less the largest real part, so that nothing overflows.
static Tensor complex_logsumexp(const Tensor& z, Sizes dims, bool keepdim) {
  if (!z.numel()) return apply<Log>(sum(apply<Exp>(z), dims, keepdim));
  const Value largest(amax(detach(real(z)), dims, true));
  const Tensor top = where(abs(largest) < Value(kInfinity<double>), largest, Value(0)).tensor();
  const Tensor out = apply<Log>(sum(apply<Exp>(sub(z, top)), dims, keepdim));
  return add(out, reshape(top, out.sizes()));
}

Tensor logsumexp(const Tensor& given, Sizes dims, bool keepdim) {
  if (is_complex(given.dtype())) return complex_logsumexp(given, dims, keepdim);
  const Tensor input = is_floating(given.dtype()) ? given : to(given, default_dtype());
  const ReducedShape over(input, dims);
  Tensor out;
  {
    const GradMode off(false);
    out = reduce_into_new(kReduction<reduction::LogSumExp>, input, over, keepdim, input.dtype());
  }
  if (!needs_grad(input)) return out;
  return record("LogsumexpBackward0", out,
                showing(
                    "self result dim keepdim",
                    [over](Tensor g, Node& self, const Saved& x, const SavedOutput& y) {
                      const Value all(reshape(y.get(self), over.kept));
                      return Gradients(mul(spread(g, over), exp(Value(x.get()) - all).tensor()));
                    },
                    Saved(input), SavedOutput(out), ReducedDims{over.mask, !dims.empty()}, keepdim),
                input);
}

}  // namespace rushlight
