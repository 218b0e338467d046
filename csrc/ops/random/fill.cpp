// In-place fills: checks in torch's words, then one kernel call under the generator's lock.
#include <cmath>
#include <limits>

#include "core/backend.h"
#include "core/unlocked.h"
#include "ops/reduce/reduce.h"
#include "random.h"

namespace rushlight {
namespace {

void require_floating(const Tensor& self, const char* kernel) {
  if (is_floating(self.dtype())) return;
  fail<NotImplementedError>("\"", kernel, "\" not implemented for '", scalar_name(self.dtype()),
                            "'\n", describe("self", self),
                            ": only floating types hold these numbers");
}

// kernel(table, view, state) draws; `node` is the name of the step in the graph.
bool is_wide_unsigned(const Tensor& t) {
  return is_integral(t.dtype()) && is_only_stored(t.dtype());
}
// uint16 to uint64 as numbers with signs, for kernels that write whole words.
Tensor with_signs(const Tensor& t) {
  if (!is_wide_unsigned(t)) return t;
  return view_dtype(t, t.dtype() == DType::uint16   ? DType::int16
                       : t.dtype() == DType::uint32 ? DType::int32
                                                    : DType::int64);
}

template <class Kernel>
Tensor fill(const char* op, const char* node, const Tensor& self, const GeneratorRef& given,
            Kernel&& kernel) {
  if (is_only_stored(self.dtype()) && !is_wide_unsigned(self)) refuse_stored(op, self.dtype());
  check_inplace(self, needs_grad(self), op);
  check_no_internal_overlap(self, op);
  if (self.numel() && !self.device().is_meta()) {
    Generator& g = generator_for(self.device(), given);
    const Tensor words = with_signs(self);
    const View view = view_of(words);
    const Backend& b = backend(self.device());
    const Unlocked unlocked(double(self.numel()), {&words});
    const GeneratorLock lock(g);
    kernel(*b.random, view, g.state);
  }
  record_inplace(node, self, [](Tensor g) { return Gradients(zeros_like(g)); }, self);
  return self;
}

struct Bounds {
  std::int64_t low, high;  // integers around 0 that the dtype holds exactly
  const char* name;
};
Bounds bounds_of(DType d) {
  constexpr std::int64_t one = 1;
  switch (d) {
    case DType::boolean: return {0, 1, "bool"};
    case DType::uint8: return {0, 255, "unsigned char"};
    case DType::int8: return {-128, 127, "signed char"};
    case DType::int16: return {-32768, 32767, "short"};
    case DType::int32: return {-(one << 31), (one << 31) - 1, "int"};
    case DType::uint16: return {0, 65535, "short unsigned int"};
    case DType::uint32: return {0, (one << 32) - 1, "unsigned int"};
    case DType::uint64: return {0, std::numeric_limits<std::int64_t>::max(), "long unsigned int"};
    case DType::float16: return {-65504, 65504, "c10::Half"};
    case DType::bfloat16:
      return {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(),
              "c10::BFloat16"};
    default:
      return {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(),
              "long"};
  }
}
int digits_of(DType d) {
  switch (d) {
    case DType::float16: return 11;
    case DType::bfloat16: return 8;
    case DType::float32: return 24;
    default: return 53;
  }
}

}  // namespace

// Both parts of complex numbers, each on its own; returns self.
template <class F>
static Tensor fill_parts(const char* op, const Tensor& self, F&& fill) {
  check_inplace(self, needs_grad(self), op);
  if (needs_grad(self))
    fail<NotImplementedError>(op, "(): not recorded for complex numbers: use torch.no_grad()");
  const GradMode off(false);
  fill(view_as_real(self));
  finish_inplace(self);
  return self;
}

Tensor uniform_(const Tensor& self, double from, double to, const GeneratorRef& g) {
  if (is_complex(self.dtype()) && self.dtype() != DType::complex32)
    return fill_parts("uniform_", self, [&](const Tensor& t) { uniform_(t, from, to, g); });
  require_floating(self, "check_uniform_bounds");
  if (!(from <= to))
    fail<RuntimeError>("uniform_ expects to return a [from, to) range, but found from=", from,
                       " > to=", to);
  const double widest = self.dtype() == DType::float16    ? 65504
                        : self.dtype() == DType::bfloat16 ? 3.3895313892515355e38
                        : self.dtype() == DType::float32  ? std::numeric_limits<float>::max()
                                                          : std::numeric_limits<double>::max();
  if (!(to - from <= widest))
    fail<RuntimeError>("uniform_ expects to-from <= std::numeric_limits<",
                       scalar_name(self.dtype()), ">::max(), but found to=", to, " and from=", from,
                       " which result in to-from to exceed the limit");
  return fill(
      "uniform_", "UniformBackward0", self, g,
      [=](const RandomKernels& k, const View& v, RandomState& s) { k.uniform(v, from, to, s); });
}

Tensor normal_(const Tensor& self, double mean, double std, const GeneratorRef& g) {
  if (!(std >= 0)) fail<RuntimeError>("normal expects std >= 0.0, but found std ", std);
  // std is that of the number: its parts share it.
  if (is_complex(self.dtype()) && self.dtype() != DType::complex32)
    return fill_parts("normal_", self,
                      [&](const Tensor& t) { normal_(t, mean, std / std::sqrt(2.0), g); });
  require_floating(self, "normal_kernel_cpu");
  return fill(
      "normal_", "NormalBackward0", self, g,
      [=](const RandomKernels& k, const View& v, RandomState& s) { k.normal(v, mean, std, s); });
}

Tensor random_(const Tensor& self, const GeneratorRef& g) {
  if (is_wide_unsigned(self)) refuse_stored("random_", self.dtype());
  return fill("random_", "RandomBackward2", self, g,
              [](const RandomKernels& k, const View& v, RandomState& s) { k.natural(v, s); });
}

Tensor random_(const Tensor& self, std::int64_t from, std::optional<std::int64_t> to,
               const GeneratorRef& g) {
  const Bounds b = bounds_of(self.dtype());
  constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
  std::uint64_t range;
  std::int64_t base = from;
  if (to) {
    if (from >= *to)
      fail<RuntimeError>("random_ expects 'from' to be less than 'to', but got from=", from,
                         " >= to=", *to);
    if (from < b.low || from > b.high) fail<RuntimeError>("from is out of bounds for ", b.name);
    if (*to - 1 < b.low || *to - 1 > b.high)
      fail<RuntimeError>("to - 1 is out of bounds for ", b.name);
    range = static_cast<std::uint64_t>(*to) - static_cast<std::uint64_t>(from);
  } else if (from != lowest) {
    const std::int64_t last =
        is_floating(self.dtype()) ? std::int64_t(1) << digits_of(self.dtype()) : b.high;
    if (from < b.low || from > last) fail<RuntimeError>("from is out of bounds for ", b.name);
    range = static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(from) + 1;
  } else {
    range = 0;
    base = 0;
  }
  return fill("random_", to ? "RandomBackward0" : "RandomBackward1", self, g,
              [=](const RandomKernels& k, const View& v, RandomState& s) {
                k.integers(v, base, range, s);
              });
}

Tensor bernoulli_(const Tensor& self, double p, const GeneratorRef& g) {
  if (!(p >= 0 && p <= 1))
    fail<RuntimeError>("bernoulli_ expects p to be in [0, 1], but got p=", p);
  return fill("bernoulli_", "BernoulliBackward2", self, g,
              [=](const RandomKernels& k, const View& v, RandomState& s) { k.bernoulli(v, p, s); });
}

Tensor bernoulli_(const Tensor& self, const Tensor& p, const GeneratorRef& g) {
  check_same_device("bernoulli_", self, "self", p, "p");
  if (!is_floating(p.dtype()))
    fail<NotImplementedError>("\"bernoulli_tensor_cpu_p_\" not implemented for '",
                              scalar_name(p.dtype()), "'\n", describe("p", p),
                              ": probabilities are of a floating type");
  if (!can_broadcast_to(p.sizes(), self.sizes()))
    fail<RuntimeError>(
        "The expanded size of the tensor must match the existing size\nbernoulli_(): ",
        describe("self", self), ", ", describe("p", p));
  if (p.numel() && !p.device().is_meta()) {
    const GradMode off(false);
    const double low = item(amin(p, {}, false)).as_double();
    const double high = item(amax(p, {}, false)).as_double();
    if (!(low >= 0 && high <= 1))
      fail<RuntimeError>(
          "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this "
          "error message be improved?  If so, please report an enhancement request "
          "to PyTorch.)\nbernoulli(): the probabilities reach from ",
          low, " to ", high);
  }
  return fill("bernoulli_", "BernoulliBackward1", self, g,
              [&](const RandomKernels& k, const View& v, RandomState& s) {
                k.bernoulli_each(v, view_of(p, self.sizes()), s);
              });
}

Tensor exponential_(const Tensor& self, double lambda, const GeneratorRef& g) {
  if (!(lambda > 0))
    fail<RuntimeError>("exponential_ expects lambda > 0.0, but found lambda=", lambda);
  if (!is_floating(self.dtype()))
    fail<RuntimeError>(
        "Exponential distribution is a continuous probability distribution. dtype "
        "must be a floating point but you specified ",
        scalar_name(self.dtype()));
  return fill(
      "exponential_", "ExponentialBackward0", self, g,
      [=](const RandomKernels& k, const View& v, RandomState& s) { k.exponential(v, lambda, s); });
}

Tensor geometric_(const Tensor& self, double p, const GeneratorRef& g) {
  if (!(p > 0 && p < 1)) fail<RuntimeError>("geometric_ expects p to be in (0, 1), but got p=", p);
  if (self.dtype() == DType::boolean)
    fail<NotImplementedError>("\"geometric_cpu\" not implemented for 'Bool'");
  return fill("geometric_", "GeometricBackward0", self, g,
              [=](const RandomKernels& k, const View& v, RandomState& s) { k.geometric(v, p, s); });
}

Tensor log_normal_(const Tensor& self, double mean, double std, const GeneratorRef& g) {
  if (!(std > 0)) fail<RuntimeError>("log_normal_ expects std > 0.0, but found std=", std);
  require_floating(self, "log_normal_cpu");
  return fill("log_normal_", "LogNormalBackward0", self, g,
              [=](const RandomKernels& k, const View& v, RandomState& s) {
                k.log_normal(v, mean, std, s);
              });
}

Tensor cauchy_(const Tensor& self, double median, double sigma, const GeneratorRef& g) {
  if (!(sigma > 0)) fail<RuntimeError>("cauchy_ expects sigma > 0.0, but found sigma=", sigma);
  if (!is_floating(self.dtype()))
    fail<RuntimeError>(
        "Cauchy distribution is a continuous probability distribution. dtype must be "
        "a floating point but you specified ",
        scalar_name(self.dtype()));
  return fill("cauchy_", "CauchyBackward0", self, g,
              [=](const RandomKernels& k, const View& v, RandomState& s) {
                k.cauchy(v, median, sigma, s);
              });
}

}  // namespace rushlight
