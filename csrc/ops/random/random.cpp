// New tensors of random numbers, and samples from given distributions.
#include "random.h"

#include <limits>

#include "core/backend.h"
#include "core/dense_view.h"
#include "core/unlocked.h"
#include "ops/reduce/reduce.h"
#include "ops/sort/sort.h"

namespace rushlight {
namespace {

Tensor fresh(const Shape& size, const Options& o, DType otherwise) {
  return empty(size, o.dtype.value_or(otherwise), device_of(o));
}
Tensor fresh_like(const Tensor& input, const Options& o, const MaybeFormat& format) {
  return empty_like(input, o.dtype.value_or(input.dtype()),
                    o.device ? resolve(*o.device) : input.device(), format);
}

// A new tensor that was just filled: the fill is not one of its user's writes.
Tensor filled(Tensor t, const Options& o = {}) {
  t->version() = 0;
  return finish(std::move(t), o);
}

// Each of mean and std may be broadcast; torch draws standard numbers of the result's shape. Memory
// for them comes first: what has none may be too large to be looked at, too.
void check_std(const Tensor& std) {
  if (std.numel() == 0 || std.device().is_meta()) return;
  const GradMode off(false);
  const double least = item(amin(std, {}, false)).as_double();
  if (!(least >= 0))
    fail<RuntimeError>("normal expects all elements of std >= 0.0\nnormal(): the least is ", least);
}

constexpr auto kNoGradient = [](Tensor g) { return Gradients(zeros_like(g)); };

}  // namespace

Tensor rand(const Shape& size, const GeneratorRef& g, const Options& o) {
  const GradMode off(false);
  return filled(uniform_(fresh(size, o, default_dtype()), 0, 1, g), o);
}
Tensor randn(const Shape& size, const GeneratorRef& g, const Options& o) {
  const GradMode off(false);
  return filled(normal_(fresh(size, o, default_dtype()), 0, 1, g), o);
}
Tensor randint(std::int64_t low, std::int64_t high, const Shape& size, const GeneratorRef& g,
               const Options& o) {
  const GradMode off(false);
  return filled(random_(fresh(size, o, DType::int64), low, high, g), o);
}

Tensor rand_like(const Tensor& input, const GeneratorRef& g, const Options& o,
                 const MaybeFormat& format) {
  const GradMode off(false);
  return filled(uniform_(fresh_like(input, o, format), 0, 1, g), o);
}
Tensor randn_like(const Tensor& input, const GeneratorRef& g, const Options& o,
                  const MaybeFormat& format) {
  const GradMode off(false);
  return filled(normal_(fresh_like(input, o, format), 0, 1, g), o);
}
Tensor randint_like(const Tensor& input, std::int64_t low, std::int64_t high, const GeneratorRef& g,
                    const Options& o, const MaybeFormat& format) {
  const GradMode off(false);
  return filled(random_(fresh_like(input, o, format), low, high, g), o);
}

Tensor randperm(std::int64_t n, const GeneratorRef& given, const Options& o) {
  const DType d = o.dtype.value_or(DType::int64);
  if (n < 0)
    fail<RuntimeError>("Trying to create tensor with negative dimension ", n, ": [", n, "]");
  if (d == DType::boolean) fail<NotImplementedError>("\"randperm\" not implemented for 'Bool'");
  constexpr auto kAny = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kExact[kDTypes] = {1,    256,  128, 32768,           2147483648,
                                            kAny, 2049, 257, (1ll << 24) + 1, (1ll << 53) + 1};
  if (n > kExact[int(d)])
    fail<RuntimeError>("value cannot be converted to type ", dtype_name(d),
                       " without overflow\nrandperm(): n is ", n, ", and ", d,
                       " holds integers exactly up to ", kExact[int(d)] - 1);
  Tensor out = empty({n}, d, device_of(o));
  if (n && !out.device().is_meta()) {
    Generator& g = generator_for(out.device(), given);
    const View view = view_of(out);
    const Backend& b = backend(out.device());
    const Unlocked unlocked(double(n) * 3, {&out});
    const GeneratorLock lock(g);
    b.random->permutation(view, g.state);
  }
  return finish(out, o);
}

Tensor normal(double mean, double std, const Shape& size, const GeneratorRef& g, const Options& o) {
  const GradMode off(false);
  return filled(normal_(fresh(size, o, default_dtype()), mean, std, g), o);
}

Tensor normal(const Tensor& mean, double std, const GeneratorRef& g) {
  if (!(std >= 0)) fail<RuntimeError>("normal expects std >= 0.0, but found std ", std);
  Tensor out;
  {
    const GradMode off(false);
    out = add(normal_(empty_like(mean), 0, std, g), mean);
  }
  return record("NormalBackward1", out, kNoGradient, mean);
}

Tensor normal(double mean, const Tensor& std, const GeneratorRef& g) {
  Tensor out;
  {
    const GradMode off(false);
    const Tensor standard = empty_like(std);
    check_std(std);
    out = mul(normal_(standard, 0, 1, g), std);
    if (mean != 0) out = add(out, scalar_tensor(mean, out.dtype(), out.device()));
  }
  return record("NormalBackward2", out, kNoGradient, std);
}

Tensor normal(const Tensor& mean, const Tensor& std, const GeneratorRef& g) {
  check_same_device("normal", mean, "mean", std, "std");
  Tensor out;
  {
    const GradMode off(false);
    const Tensor standard =
        empty(broadcast(mean.sizes(), std.sizes()), mean.dtype(), mean.device());
    check_std(std);
    out = add(mul(normal_(standard, 0, 1, g), std), mean);
  }
  return record(
      "NormalBackward3", out,
      [m = mean.shape(), s = std.shape(), d = mean.dtype(), e = std.dtype(),
       at = mean.device()](Tensor) { return Gradients(zeros(m, d, at), zeros(s, e, at)); },
      mean, std);
}

Tensor bernoulli(const Tensor& input, const GeneratorRef& g) {
  Tensor out;
  {
    const GradMode off(false);
    // in rows whatever the layout of input, as torch's
    out = filled(bernoulli_(empty(input.sizes(), input.dtype(), input.device()), input, g));
  }
  return record("BernoulliBackward0", out, kNoGradient, input);
}
Tensor bernoulli(const Tensor& input, double p, const GeneratorRef& g) {
  const GradMode off(false);
  return filled(bernoulli_(empty(input.sizes(), input.dtype(), input.device()), p, g));
}

Tensor multinomial(const Tensor& input, std::int64_t num_samples, bool replacement,
                   const GeneratorRef& given) {
  const GradMode off(false);
  if (input.dim() != 1 && input.dim() != 2)
    fail<RuntimeError>("prob_dist must be 1 or 2 dim\n", describe("input", input));
  if (!is_floating(input.dtype()))
    fail<RuntimeError>("multinomial only supports floating-point dtypes for input, got: ",
                       scalar_name(input.dtype()));
  if (num_samples <= 0) fail<RuntimeError>("cannot sample n_sample <= 0 samples");
  const std::int64_t columns = input.size(-1);
  if (!replacement && num_samples > columns)
    fail<RuntimeError>(
        "cannot sample n_sample > prob_dist.size(-1) samples without replacement\nnum_samples is ",
        num_samples, ", ", describe("input", input));
  if (columns == 0)
    fail<RuntimeError>("multinomial needs probabilities\n", describe("input", input));
  Shape shape;
  if (input.dim() == 2) shape.push_back(input->shape[0]);
  shape.push_back(num_samples);
  if (input.numel() == 0 || input.device().is_meta())
    return empty(shape, DType::int64, input.device());
  const auto refuse = [&](bool signs) {
    if (signs)
      fail<RuntimeError>("probability tensor contains either `inf`, `nan` or element < 0\n",
                         describe("input", input));
    fail<RuntimeError>("invalid multinomial distribution (sum of probabilities <= 0)\n",
                       describe("input", input));
  };
  const double low = item(amin(input, {}, false)).as_double();
  const double high = item(amax(input, {}, false)).as_double();
  if (!(low >= 0 && high < std::numeric_limits<double>::infinity())) refuse(true);
  const Shape last{-1};
  if (!(item(amin(amax(input, last, false), {}, false)).as_double() > 0)) refuse(false);
  if (!replacement || num_samples == 1) {
    // The rates race: the first arrivals are a sample without replacement.
    const Tensor q = div(input, exponential_(empty_like(input), 1, given));
    if (num_samples == 1) return argmax(q, -1, true);
    return std::get<1>(topk(q, num_samples, -1, true, true));
  }
  Tensor out = empty(shape, DType::int64, input.device());
  const Tensor rows = input.dim() == 2 ? input : unsqueeze(input, 0);
  const Tensor to = input.dim() == 2 ? out : unsqueeze(out, 0);
  Generator& g = generator_for(input.device(), given);
  const View from = view_of(rows), into = view_of(to);
  if (from.rank != 2 || from.sizes[0] != into.sizes[0] || from.sizes[1] == 0) fail_changed(input);
  const Backend& b = backend(input.device());
  std::int64_t bad;
  {
    const double nanoseconds = double(out.numel()) * 20 + double(input.numel());
    const Unlocked unlocked(time_of_wait(input.device(), nanoseconds), {&out, &input});
    const GeneratorLock lock(g);
    bad = b.random->multinomial(into, from, g.state);
  }
  if (bad >= 0) refuse(false);
  return out;
}

}  // namespace rushlight
