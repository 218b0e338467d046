// Random numbers: from the generator of the tensor's device, or one that is given. On the CPU they
// are torch's numbers for the same seed. The in-place ones record that the old value has no
// gradient.
#pragma once
#include "core/generator.h"
#include "ops/memory_format.h"
#include "ops/ops.h"

namespace rushlight {

using GeneratorRef = Ref<Generator>;  // null: the device's own

// ---- fills (random_fill.cpp): all elements of self, in torch's order; they return self
Tensor uniform_(const Tensor& self, double from, double to, const GeneratorRef& g);
Tensor normal_(const Tensor& self, double mean, double std, const GeneratorRef& g);
Tensor random_(const Tensor& self, const GeneratorRef& g);  // every natural number it holds exactly
Tensor random_(const Tensor& self, std::int64_t from, std::optional<std::int64_t> to,
               const GeneratorRef& g);
Tensor bernoulli_(const Tensor& self, double p, const GeneratorRef& g);
Tensor bernoulli_(const Tensor& self, const Tensor& p, const GeneratorRef& g);  // p broadcasts
Tensor exponential_(const Tensor& self, double lambda, const GeneratorRef& g);
Tensor geometric_(const Tensor& self, double p, const GeneratorRef& g);
Tensor log_normal_(const Tensor& self, double mean, double std, const GeneratorRef& g);
Tensor cauchy_(const Tensor& self, double median, double sigma, const GeneratorRef& g);

// ---- new tensors (random.cpp)
Tensor rand(const Shape& size, const GeneratorRef& g, const Options& o);
Tensor randn(const Shape& size, const GeneratorRef& g, const Options& o);
Tensor randint(std::int64_t low, std::int64_t high, const Shape& size, const GeneratorRef& g,
               const Options& o);
Tensor randperm(std::int64_t n, const GeneratorRef& g, const Options& o);
Tensor rand_like(const Tensor& input, const GeneratorRef& g, const Options& o,
                 const MaybeFormat& format);
Tensor randn_like(const Tensor& input, const GeneratorRef& g, const Options& o,
                  const MaybeFormat& format);
Tensor randint_like(const Tensor& input, std::int64_t low, std::int64_t high, const GeneratorRef& g,
                    const Options& o, const MaybeFormat& format);
Tensor normal(double mean, double std, const Shape& size, const GeneratorRef& g, const Options& o);
Tensor normal(const Tensor& mean, double std, const GeneratorRef& g);
Tensor normal(double mean, const Tensor& std, const GeneratorRef& g);
Tensor normal(const Tensor& mean, const Tensor& std, const GeneratorRef& g);
Tensor bernoulli(const Tensor& input, const GeneratorRef& g);
Tensor bernoulli(const Tensor& input, double p, const GeneratorRef& g);
// input: probabilities, (columns) or (rows, columns); out: int64, (samples) or (rows, samples).
Tensor multinomial(const Tensor& input, std::int64_t num_samples, bool replacement,
                   const GeneratorRef& g);

// ---- laws with a parameter for each element (laws.cpp)
Tensor standard_gamma(const Tensor& shape, const GeneratorRef& g);  // differentiable by shape
// How a draw moves with its parameter at a constant quantile; dirichlet_grad's is divided by 1 - x.
Tensor standard_gamma_grad(const Tensor& input, const Tensor& output);
Tensor dirichlet_grad(const Tensor& x, const Tensor& alpha, const Tensor& total);
Tensor poisson(const Tensor& rate, const GeneratorRef& g);
Tensor binomial(const Tensor& count, const Tensor& prob, const GeneratorRef& g);
Tensor sample_dirichlet(const Tensor& concentration, const GeneratorRef& g);

// ---- dropout (dropout.cpp): out = input * noise, which is 0 or 1 / (1 - p). `feature`: whole
// channels, input (n, c, ...). `alpha`: what keeps mean and variance of SELU's outputs.
Tensor dropout(const Tensor& input, double p, bool train);
Tensor alpha_dropout(const Tensor& input, double p, bool train);
Tensor feature_dropout(const Tensor& input, double p, bool train);
Tensor feature_alpha_dropout(const Tensor& input, double p, bool train);
Tensor dropout_(const Tensor& input, double p, bool train);
Tensor alpha_dropout_(const Tensor& input, double p, bool train);
Tensor feature_dropout_(const Tensor& input, double p, bool train);
Tensor feature_alpha_dropout_(const Tensor& input, double p, bool train);

// rrelu.cpp: leaky_relu with a slope of U(lower, upper) for each element, in training; else with
// their mean.
Tensor rrelu(const Tensor& input, double lower, double upper, bool training, bool inplace,
             const GeneratorRef& g);

}  // namespace rushlight
