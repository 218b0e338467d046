// Generators, fills, random tensors and dropout.
#include "ops/random/random.h"

#include "bindings/formats.h"
#include "bindings/generator.h"
#include "bindings/module.h"
#include "bindings/table/out_variants.h"
#include "bindings/table/signature.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

using G = GeneratorRef;
using Dt = std::optional<DType>;
using Dv = std::optional<Device>;
using Layout = AnyLayout;
using Format = const MaybeFormat&;

Tensor rand_op(Shape size, G g, Out out, Dt dtype, Layout, Dv device, bool grad, bool pin) {
  take_options_of(out, dtype, device);
  return deliver_new("rand", out, rand(size, g, Options{dtype, device, false, pin}), grad);
}
Tensor randn_op(Shape size, G g, Out out, Dt dtype, Layout, Dv device, bool grad, bool pin) {
  take_options_of(out, dtype, device);
  return deliver_new("randn", out, randn(size, g, Options{dtype, device, false, pin}), grad);
}
Tensor randint_range(std::int64_t low, std::int64_t high, Listed size, G g, Out out, Dt dtype,
                     Layout, Dv device, bool grad, bool pin) {
  take_options_of(out, dtype, device);
  return deliver_new("randint", out,
                     randint(low, high, size, g, Options{dtype, device, false, pin}), grad);
}
Tensor randint_to(std::int64_t high, Listed size, G g, Out out, Dt dtype, Layout layout, Dv device,
                  bool grad, bool pin) {
  return randint_range(0, high, size, g, out, dtype, layout, device, grad, pin);
}
Tensor randperm_op(std::int64_t n, G g, Out out, Dt dtype, Layout, Dv device, bool grad, bool pin) {
  take_options_of(out, dtype, device);
  return deliver_new("randperm", out, randperm(n, g, Options{dtype, device, false, pin}), grad);
}

Tensor rrelu_op(const Tensor& input, double lower, double upper, bool training, G g) {
  return rrelu(input, lower, upper, training, false, g);
}

Tensor rand_like_op(const Tensor& input, G g, Dt dtype, Layout, Dv device, bool grad, bool pin,
                    Format format) {
  return rand_like(input, g, Options{dtype, device, grad, pin}, format);
}
Tensor randn_like_op(const Tensor& input, G g, Dt dtype, Layout, Dv device, bool grad, bool pin,
                     Format format) {
  return randn_like(input, g, Options{dtype, device, grad, pin}, format);
}
Tensor randint_like_range(const Tensor& input, std::int64_t low, std::int64_t high, G g, Dt dtype,
                          Layout, Dv device, bool grad, bool pin, Format format) {
  return randint_like(input, low, high, g, Options{dtype, device, grad, pin}, format);
}
Tensor randint_like_to(const Tensor& input, std::int64_t high, G g, Dt dtype, Layout layout,
                       Dv device, bool grad, bool pin, Format format) {
  return randint_like_range(input, 0, high, g, dtype, layout, device, grad, pin, format);
}

Tensor normal_tensors(const Tensor& mean, const Tensor& std, G g) { return normal(mean, std, g); }
Tensor normal_mean(const Tensor& mean, double std, G g) { return normal(mean, std, g); }
Tensor normal_std(double mean, const Tensor& std, G g) { return normal(mean, std, g); }
Tensor normal_size(double mean, double std, Shape size, G g, Out out, Dt dtype, Layout, Dv device,
                   bool grad, bool pin) {
  take_options_of(out, dtype, device);
  const Options o{dtype, device, false, pin};
  return deliver_new("normal", out, normal(mean, std, size, g, o), grad);
}

// What is drawn is 0 or 1, so `out` may have any dtype.
Tensor bernoulli_each(const Tensor& input, G g, const Out& out) {
  if (!out) return bernoulli(input, g);
  resize_output(*out, input.sizes());
  return bernoulli_(*out, input, g);
}
Tensor bernoulli_of(const Tensor& input, double p, G g) { return bernoulli(input, p, g); }
Tensor multinomial_op(const Tensor& input, std::int64_t n, bool replacement, G g) {
  return multinomial(input, n, replacement, g);
}

Tensor bernoulli_p(const Tensor& self, double p, G g) { return bernoulli_(self, p, g); }
Tensor bernoulli_tensor(const Tensor& self, const Tensor& p, G g) { return bernoulli_(self, p, g); }
Tensor random_all(const Tensor& self, G g) { return random_(self, g); }
Tensor random_to(const Tensor& self, std::int64_t to, G g) { return random_(self, 0, to, g); }
Tensor random_range(const Tensor& self, std::int64_t from, std::optional<std::int64_t> to, G g) {
  return random_(self, from, to, g);
}
Tensor uniform_op(const Tensor& self, double from, double to, G g) {
  return uniform_(self, from, to, g);
}
Tensor normal_op(const Tensor& self, double mean, double std, G g) {
  return normal_(self, mean, std, g);
}
Tensor exponential_op(const Tensor& self, double lambda, G g) {
  return exponential_(self, lambda, g);
}
Tensor geometric_op(const Tensor& self, double p, G g) { return geometric_(self, p, g); }
Tensor log_normal_op(const Tensor& self, double mean, double std, G g) {
  return log_normal_(self, mean, std, g);
}
Tensor cauchy_op(const Tensor& self, double median, double sigma, G g) {
  return cauchy_(self, median, sigma, g);
}

Tensor gamma_op(const Tensor& input, G g) { return standard_gamma(input, g); }
Tensor dirichlet_op(const Tensor& input, G g) { return sample_dirichlet(input, g); }
Tensor poisson_op(const Tensor& input, G g) { return poisson(input, g); }
Tensor binomial_op(const Tensor& count, const Tensor& prob, G g) {
  return binomial(count, prob, g);
}

void bind_fills(py::module_& m) {
  constexpr As kMethod = As::method;
  op<&rrelu_op>(
      m, "rrelu(input, lower=0.125, upper=0.3333333333333333, training=False, generator=None)",
      {.as = As::function, .in_place = As::function | As::functional, .keeps_input = true},
      R"(leaky_relu with slopes that are drawn; see torch.nn.functional.rrelu().

Args:
    lower: the lower bound of the slopes.
    upper: the upper bound of the slopes.
    training: whether slopes are drawn.

Shape:
    that of input.

>>> torch.rrelu(torch.tensor([-1.0]), 0.5, 0.5)
tensor([-0.5000]))");
  op<&uniform_op>(m, "uniform_(self, from=0, to=1, *, generator=None)", with_complex(kMethod),
                  R"(Fills the tensor with random numbers of the uniform distribution on [from, to).

Args:
    from: the lower bound.
    to: the upper bound, not included.

>>> torch.empty(2).uniform_(3, 4).floor()
tensor([3., 3.]))");
  op<&normal_op>(m, "normal_(self, mean=0, std=1, *, generator=None)", with_complex(kMethod),
                 R"(Fills the tensor with random numbers of a normal distribution.

Args:
    mean: the mean.
    std: the standard deviation; not negative.

Shape:
    that of self.

>>> torch.empty(2).normal_(5, 0)
tensor([5., 5.]))");
  overloads<&random_all, &random_to, &random_range>(
      m,
      {"random_(self, *, generator=None)", "random_(self, to, *, generator=None)",
       "random_(self, from, to, *, generator=None)"},
      stored(kMethod),
      R"(Fills the tensor with random integers of [from, to), or all that the dtype holds exactly.

Args:
    from: the smallest integer.
    to: the bound, not included.

Shape:
    that of self.

>>> torch.empty(2).random_(3, 4)
tensor([3., 3.]))");
  overloads<&bernoulli_tensor, &bernoulli_p>(
      m, {"bernoulli_(self, p, *, generator=None)", "bernoulli_(self, p=0.5, *, generator=None)"},
      kMethod,
      R"(Fills the tensor with random zeros and ones; 1 has the probability p.

Args:
    p: the probability, a scalar or a tensor that broadcasts.

Shape:
    p is a scalar or broadcasts to self.

>>> torch.empty(2).bernoulli_(1.0)
tensor([1., 1.]))");
  op<&exponential_op>(
      m, "exponential_(self, lambd=1, *, generator=None)", kMethod,
      R"(Fills the tensor with random numbers of the density lambd * exp(-lambd * x).

Args:
    lambd: the rate; positive.

>>> bool((torch.empty(2).exponential_() >= 0).all())
True)");
  op<&geometric_op>(m, "geometric_(self, p, *, generator=None)", kMethod,
                    R"(Fills the tensor with random numbers of trials up to the first success.

Args:
    p: the probability of a success in a trial.

>>> bool((torch.empty(2).geometric_(0.5) >= 1).all())
True)");
  op<&log_normal_op>(
      m, "log_normal_(self, mean=1, std=2, *, generator=None)", kMethod,
      R"(Fills the tensor with random numbers whose logarithm is normally distributed.

Args:
    mean: the mean of the logarithm.
    std: the standard deviation of the logarithm; positive.

>>> bool((torch.empty(2).log_normal_() > 0).all())
True)");
  op<&cauchy_op>(m, "cauchy_(self, median=0, sigma=1, *, generator=None)", kMethod,
                 R"(Fills the tensor with random numbers of a Cauchy distribution.

Args:
    median: the median.
    sigma: the half-width at half the maximum; positive.

>>> torch.empty(2).cauchy_().shape
torch.Size([2]))");
}

void bind_new(py::module_& m) {
  constexpr As kFunction = As::function;
  op<&rand_op>(m,
               "rand(*size, generator=None, out=None, dtype=None, layout=None, device=None, "
               "requires_grad=False, pin_memory=False)",
               with_complex(kFunction),
               R"(Random numbers of the uniform distribution on [0, 1).

Shape:
    the result has shape size.

>>> torch.rand(2, 3).shape
torch.Size([2, 3]))");
  op<&randn_op>(m,
                "randn(*size, generator=None, out=None, dtype=None, layout=None, device=None, "
                "requires_grad=False, pin_memory=False)",
                with_complex(kFunction),
                R"(Random numbers of the standard normal distribution.

Shape:
    the result has shape size.

>>> _ = torch.manual_seed(0)
>>> torch.randn(3)
tensor([ 1.5410, -0.2934, -2.1788]))");
  overloads<&randint_to, &randint_range>(
      m,
      {"randint(high, size, *, generator=None, out=None, dtype=None, layout=None, device=None, "
       "requires_grad=False, pin_memory=False)",
       "randint(low, high, size, *, generator=None, out=None, dtype=None, layout=None, "
       "device=None, requires_grad=False, pin_memory=False)"},
      stored(kFunction),
      R"(Random integers of the uniform distribution on [low, high).

Args:
    low: the smallest integer; 0 when left out.
    high: the bound, not included.
    dtype: the dtype of the result; None for int64.

Shape:
    the result has shape size.

>>> int(torch.randint(3, 5, (4,)).min()) >= 3
True)");
  op<&randperm_op>(m,
                   "randperm(n, *, generator=None, out=None, dtype=None, layout=None, device=None, "
                   "requires_grad=False, pin_memory=False)",
                   kFunction,
                   R"(The integers 0 to n - 1 in random order.

Args:
    dtype: the dtype of the result; None for int64.
    n: how many integers.

Shape:
    the result is (n).

>>> torch.randperm(4).sort().values
tensor([0, 1, 2, 3]))");
  op<&rand_like_op>(m,
                    "rand_like(input, *, generator=None, dtype=None, layout=None, device=None, "
                    "requires_grad=False, pin_memory=False, memory_format=None)",
                    with_complex(kFunction),
                    R"(rand() with the shape, dtype and device of input.

Shape:
    the result has the shape of input.

>>> torch.rand_like(torch.zeros(2, 3)).shape
torch.Size([2, 3]))");
  op<&randn_like_op>(m,
                     "randn_like(input, *, generator=None, dtype=None, layout=None, device=None, "
                     "requires_grad=False, pin_memory=False, memory_format=None)",
                     with_complex(kFunction),
                     R"(randn() with the shape, dtype and device of input.

Shape:
    the result has the shape of input.

>>> torch.randn_like(torch.zeros(2, 3)).shape
torch.Size([2, 3]))");
  overloads<&randint_like_to, &randint_like_range>(
      m,
      {"randint_like(input, high, *, generator=None, dtype=None, layout=None, device=None, "
       "requires_grad=False, "
       "pin_memory=False, memory_format=None)",
       "randint_like(input, low, high, *, generator=None, dtype=None, layout=None, device=None, "
       "requires_grad=False, pin_memory=False, memory_format=None)"},
      stored(kFunction),
      R"(randint() with the shape, dtype and device of input.

Args:
    low: the smallest integer; 0 when left out.
    high: the bound, not included.

Shape:
    the result has the shape of input.

>>> torch.randint_like(torch.zeros(3, dtype=torch.int64), 7, 8)
tensor([7, 7, 7]))");
  overloads<&normal_tensors, &normal_mean, &normal_std, &normal_size>(
      m,
      {"normal(mean, std, *, generator=None, out=None)",
       "normal(mean, std=1, *, generator=None, out=None)",
       "normal(mean, std, *, generator=None, out=None)",
       "normal(mean, std, size, *, generator=None, out=None, dtype=None, layout=None, device=None, "
       "requires_grad=False, pin_memory=False)"},
      with_complex(kFunction),
      R"(Random numbers of normal distributions, whose means and deviations are numbers or tensors.

Args:
    mean: a tensor, or a scalar for all.
    std: the standard deviations: a tensor, or a scalar for all; not negative.
    size: the shape, where both are numbers.

Shape:
    mean and std broadcast.

>>> torch.normal(torch.tensor([1., 2.]), torch.tensor([0., 0.]))
tensor([1., 2.]))");
  overloads<&bernoulli_each, &bernoulli_of>(
      m,
      {"bernoulli(input, *, generator=None, out=None)", "bernoulli(input, p, *, generator=None)"},
      As::both,
      R"(Random zeros and ones; 1 has the probability that input holds, or p.

Args:
    input: the probabilities, from 0 to 1.
    p: one probability for all, instead of input's values.

Shape:
    that of input.

>>> torch.bernoulli(torch.tensor([0., 1., 1.]))
tensor([0., 1., 1.]))");
  op<&multinomial_op>(
      m,
      "multinomial(input, num_samples, replacement=False, *, generator=None, "
      "out=None)",
      {.exact = true, .waits = true},
      R"(Random indices, each with a probability proportional to its weight in a row of input.

Args:
    input: the weights; not negative.
    num_samples: how many indices for each row.
    replacement: whether an index may be drawn several times.

Shape:
    input (n) or (m, n); result (num_samples) or (m, num_samples).

>>> torch.multinomial(torch.tensor([0., 1.]), 3, replacement=True)
tensor([1, 1, 1]))");
}

void bind_laws(py::module_& m) {
  constexpr As kFunction = As::function;
  op<&gamma_op>(m, "_standard_gamma(input, generator=None)", kFunction,
                R"(Numbers of the gamma distribution with the shapes that input holds.

    >>> torch._standard_gamma(torch.tensor([2., 3.])).min() > 0
    tensor(True)
)");
  op<&dirichlet_op>(m, "_sample_dirichlet(input, generator=None)", kFunction,
                    R"(Shares that add up to 1, of the concentrations in each row of input.

    >>> torch._sample_dirichlet(torch.tensor([2., 3.])).sum()
    tensor(1.)
)");
  op<&standard_gamma_grad>(m, "_standard_gamma_grad(input, output)", kFunction,
                           R"(How draws of the gamma distribution move with their shapes.

Args:
    input: the shapes.
    output: the draws.

>>> torch._standard_gamma_grad(torch.tensor([1.]), torch.tensor([1.]))
tensor([0.7966])
)");
  op<&dirichlet_grad>(m, "_dirichlet_grad(x, alpha, total)", kFunction,
                      R"(How shares of the Dirichlet distribution move with their concentrations.

d x / d alpha at a constant quantile of x alone, divided by 1 - x.

Args:
    x: the shares.
    alpha: their concentrations.
    total: the sum of a share's concentrations.

>>> torch._dirichlet_grad(torch.tensor([0.5]), torch.tensor([1.]), torch.tensor([2.]))
tensor([0.6931])
)");
  op<&poisson_op>(m, "poisson(input, generator=None)", {.as = kFunction, .waits = true},
                  R"(Random counts of Poisson distributions with the rates that input holds.

Args:
    input: the rates; not negative.

Shape:
    that of input.

Raises:
    RuntimeError: for a negative rate or NaN.

>>> torch.poisson(torch.zeros(2))
tensor([0., 0.]))");
  op<&binomial_op>(
      m, "binomial(count, prob, generator=None)", kFunction,
      R"(Random counts of successes among `count` trials, each with the probability `prob`.

Args:
    count: how many trials.
    prob: the probability of a success.

Shape:
    count and prob broadcast.

>>> torch.binomial(torch.tensor([4., 4.]), torch.tensor([0., 1.]))
tensor([0., 4.]))");
}

}  // namespace

void bind_random(py::module_& m) {
  bind_generator(m);
  bind_fills(m);
  bind_new(m);
  bind_laws(m);
}

}  // namespace rushlight::python
