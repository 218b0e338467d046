// Draws with parameters of their own for each element: gamma, Dirichlet, Poisson, binomial.
#include <limits>

#include "core/backend.h"
#include "core/unlocked.h"
#include "ops/index/index.h"
#include "ops/pointwise/pointwise.h"
#include "ops/reduce/reduce.h"
#include "random.h"

namespace rushlight {
namespace {

// `t` with the sizes, the dtype and the strides of `out`.
Tensor laid_out(const Tensor& t, const Tensor& out) {
  if (t.dtype() == out.dtype() && same(t.sizes(), out.sizes()) && same(t.strides(), out.strides()))
    return t;
  Tensor made = empty_like(out);
  copy_(made, t);
  return made;
}

Tensor draw(Law law, const Tensor& out, const Tensor& first, const Tensor& second,
            const GeneratorRef& given) {
  if (out.numel() == 0 || out.device().is_meta()) return out;
  const Tensor one = laid_out(first, out), two = laid_out(second, out);
  Generator& g = generator_for(out.device(), given);
  const View into = view_of(out), a = view_of(one), other = view_of(two);
  const Unlocked unlocked(double(out.numel()) * 60, {&out, &one, &two});
  const GeneratorLock lock(g);
  backend(out.device()).random->drawn(law, into, a, other, g.state);
  return out;
}

[[noreturn]] void fail_dtype(const char* kernel, const Tensor& t) {
  fail<NotImplementedError>("\"", kernel, "\" not implemented for '", scalar_name(t.dtype()), "'\n",
                            describe("input", t), ": convert it with .float()");
}

// torch's words, where two tensors must have one dtype.
void check_dtype(const Tensor& t, const Tensor& expected) {
  if (t.dtype() != expected.dtype())
    fail<RuntimeError>("Found dtype ", scalar_name(t.dtype()), " but expected ",
                       scalar_name(expected.dtype()));
}
void check_is_wide(const char* kernel, const Tensor& t) {
  if (t.dtype() != DType::float32 && t.dtype() != DType::float64) fail_dtype(kernel, t);
}

}  // namespace

Tensor standard_gamma_grad(const Tensor& input, const Tensor& output) {
  check_same_device("_standard_gamma_grad", input, "input", output, "output");
  check_dtype(output, input);
  check_is_wide("_standard_gamma_grad_cpu", input);
  Tensor out;
  {
    const GradMode off(false);
    const Shape shape = broadcast(input.sizes(), output.sizes());
    const Tensor drawn = same(shape, output.sizes()) ? output : expand(output, shape);
    out = draw(Law::gamma_slope, empty_like(drawn), input, drawn, {});
  }
  return record(
      "StandardGammaGradBackward0", out,
      [](Tensor) -> Gradients {
        fail<NotImplementedError>(
            "the derivative for '_standard_gamma_grad' is not implemented.\nDraws of "
            "the gamma distribution have first gradients only");
      },
      input, output);
}

Tensor dirichlet_grad(const Tensor& x, const Tensor& alpha, const Tensor& total) {
  check_same_device("_dirichlet_grad", x, "x", alpha, "alpha");
  check_same_device("_dirichlet_grad", x, "x", total, "total");
  check_dtype(alpha, x);
  check_dtype(total, x);
  check_is_wide("_dirichlet_grad_cpu", x);
  Tensor out;
  {
    const GradMode off(false);
    out = apply<DirichletGrad>(x, alpha, total);
  }
  return record(
      "DirichletGradBackward0", out,
      [](Tensor) -> Gradients {
        fail<RuntimeError>(
            "derivative for aten::_dirichlet_grad is not implemented\nDraws of the Dirichlet "
            "distribution have first gradients only");
      },
      x, alpha, total);
}

Tensor standard_gamma(const Tensor& shape, const GeneratorRef& g) {
  check_is_wide("gamma_cpu", shape);
  Tensor out;
  {
    const GradMode off(false);
    out = draw(Law::gamma, empty_like(shape), shape, shape, g);
    // A draw that is too small for the dtype is its smallest normal number, so that it has a
    // logarithm.
    const double least = shape.dtype() == DType::float32 ? double(std::numeric_limits<float>::min())
                                                         : std::numeric_limits<double>::min();
    out = apply<Maximum>(out, scalar_tensor(least, out.dtype(), out.device()));
  }
  return record(
      "StandardGammaBackward0", out,
      [shape = Saved(shape), drawn = SavedOutput(out)](Tensor g, Node& self) {
        return Gradients(mul(g, standard_gamma_grad(shape.get(), drawn.get(self))));
      },
      shape);
}

Tensor sample_dirichlet(const Tensor& concentration, const GeneratorRef& g) {
  check_is_wide("dirichlet", concentration);
  const GradMode off(false);  // the gradient is dirichlet_grad's, of torch.distributions
  // In double, where the draws of small shapes do not vanish.
  const Tensor parts = standard_gamma(to(concentration, DType::float64), g);
  if (parts.dim() == 0) return to(div(parts, parts), concentration.dtype());
  return to(div(parts, sum(parts, Shape{-1}, true)), concentration.dtype());
}

Tensor poisson(const Tensor& rate, const GeneratorRef& g) {
  if (!is_floating(rate.dtype())) fail_dtype("poisson_cpu", rate);
  Tensor out;
  {
    const GradMode off(false);
    out = empty_like(rate);  // first: what has no room is refused before it is read
    if (rate.numel() && !rate.device().is_meta()) {
      const double least = item(amin(rate, {}, false)).as_double();
      if (!(least >= 0))
        fail<RuntimeError>("invalid Poisson rate, expected rate to be non-negative\n",
                           describe("input", rate), ", of which the least is ", least);
    }
    out = draw(Law::poisson, out, rate, rate, g);
  }
  return record("PoissonBackward0", out, [](Tensor g) { return Gradients(zeros_like(g)); }, rate);
}

Tensor binomial(const Tensor& count, const Tensor& prob, const GeneratorRef& g) {
  check_same_device("binomial", count, "count", prob, "prob");
  const auto check = [](const char* name, const Tensor& t) {
    if (!is_floating(t.dtype()))
      fail<ValueError>("binomial only supports floating-point dtypes for ", name,
                       ", got: ", scalar_name(t.dtype()), "\n", describe(name, t),
                       ": convert it with .float()");
  };
  check("count", count);
  check("prob", prob);
  if (count.dtype() != prob.dtype())
    fail<RuntimeError>("Found dtype ", scalar_name(prob.dtype()), " but expected ",
                       scalar_name(count.dtype()), "\nbinomial(): ", describe("count", count), ", ",
                       describe("prob", prob));
  Tensor out;
  {
    const GradMode off(false);
    const Shape shape = broadcast(count.sizes(), prob.sizes());
    out = same(shape, count.sizes()) ? empty_like(count)
                                     : empty(shape, count.dtype(), count.device());
    out = draw(Law::binomial, out, count, prob, g);
  }
  return record(
      "BinomialBackward0", out,
      [c = count.shape(), p = prob.shape(), d = count.dtype(), at = count.device()](Tensor) {
        return Gradients(zeros(c, d, at), zeros(p, d, at));
      },
      count, prob);
}

}  // namespace rushlight
