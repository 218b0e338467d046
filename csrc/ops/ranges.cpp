// arange, range, linspace and logspace. Their numbers are those of PyTorch's CPU, bit for bit.
#include <cmath>

#include "core/backend.h"
#include "core/unlocked.h"
#include "kernels/parallel.h"
#include "ops/default_device.h"
#include "ops/ops.h"

namespace rushlight {

static Tensor in_steps(const Range& r, DType dtype, const Options& o) {
  Tensor out = empty({r.count}, dtype, device_of(o));
  if (!out.device().is_meta() && r.count) {
    const View v = view_of(out);
    const Unlocked unlocked(double(r.count) * 0.5, {&out});
    backend(out.device()).copy->range(v, r);
  }
  return finish(out, o);
}

// PyTorch divides elements evenly among its threads, in parts of 32768 and more.
static std::int64_t part_of_thread(std::int64_t n) {
  constexpr std::int64_t kGrain = 32768;
  if (n <= kGrain) return n;
  const std::int64_t threads = std::min<std::int64_t>(num_threads(), (n + kGrain - 1) / kGrain);
  return (n + threads - 1) / threads;
}

static void check_ends(double start, double end, double step) {
  if (!(step > 0 || step < 0)) fail<RuntimeError>("step must be nonzero");
  if (!std::isfinite(start) || !std::isfinite(end))
    fail<RuntimeError>("unsupported range: ", start, " -> ", end);
  if ((step > 0) != (end >= start) && start != end)
    fail<RuntimeError>("upper bound and lower bound inconsistent with step sign");
}

Tensor arange(Scalar start, Scalar end, Scalar step, const Options& o) {
  const bool real = start.is_floating() || end.is_floating() || step.is_floating();
  const DType dtype = o.dtype ? *o.dtype : real ? default_dtype() : DType::int64;
  if (dtype == DType::boolean)
    fail<NotImplementedError>("\"arange_cpu\" not implemented for 'Bool'");
  const double a = start.as_double(), b = end.as_double(), s = step.as_double();
  // Into integers, everything is truncated first; all but int64 are counted by the numbers given.
  if (is_integral(dtype) && (s > 0 || s < 0) && step.as_int() == 0)
    fail<ValueError>("step must be nonzero");
  check_ends(a, b, s);
  if (is_floating(dtype) || (real && dtype != DType::int64)) {
    const double count = std::ceil((b - a) / s);
    if (!(count < 9e15)) fail<RuntimeError>("invalid size, possible overflow?");
    const auto n = std::int64_t(std::max(count, 0.0));
    if (is_integral(dtype)) {
      check_fits("arange", "start", start, DType::int64);
      check_fits("arange", "step", step, DType::int64);
      return in_steps({.kind = Range::Kind::whole,
                       .computed = DType::int64,
                       .count = n,
                       .start = convert<std::int64_t>(a),
                       .by = convert<std::int64_t>(s)},
                      dtype, o);
    }
    return in_steps({.kind = Range::Kind::in_vectors,
                     .computed = is_reduced(dtype) ? DType::float32 : DType::float64,
                     .count = n,
                     .first = a,
                     .step = s,
                     .each = dtype,
                     .part = part_of_thread(n)},
                    dtype, o);
  }
  check_fits("arange", "start", start, DType::int64);
  check_fits("arange", "end", end, DType::int64);
  check_fits("arange", "step", step, DType::int64);
  const std::int64_t first = start.as_int(), last = end.as_int(), by = step.as_int();
  const auto distance = static_cast<__int128>(last) - first;
  const __int128 wide = (distance + by - (by > 0 ? 1 : -1)) / by;
  const auto n = std::int64_t(wide < 0 ? 0 : wide);
  return in_steps(
      {.kind = Range::Kind::whole, .computed = DType::int64, .count = n, .start = first, .by = by},
      dtype, o);
}

Tensor range(Scalar start, Scalar end, Scalar step, const Options& o) {
  const DType dtype = o.dtype.value_or(default_dtype());
  if (dtype == DType::boolean || is_complex(dtype))
    fail<NotImplementedError>("\"range_cpu\" not implemented for '", scalar_name(dtype), "'");
  if (is_integral(dtype))
    for (const auto& [name, value] : {std::pair("start", start), {"end", end}, {"step", step}})
      check_fits("range", name, value, DType::int64);
  const double a = start.as_double(), b = end.as_double(), s = step.as_double();
  check_ends(a, b, is_integral(dtype) ? std::trunc(s) : s);
  if (is_integral(dtype)) {
    const std::int64_t first = start.as_int(), by = step.as_int();
    const __int128 n = (static_cast<__int128>(end.as_int()) - first) / by + 1;
    if (n > std::int64_t(9e15)) fail<RuntimeError>("invalid size, possible overflow?");
    return in_steps({.kind = Range::Kind::whole,
                     .computed = DType::int64,
                     .count = std::int64_t(n),
                     .start = first,
                     .by = by},
                    dtype, o);
  }
  // Counted in what the numbers are computed in.
  const double count =
      is_reduced(dtype) ? double((float(b) - float(a)) / float(s) + 1.0f) : (b - a) / s + 1;
  if (!(count < 9e15)) fail<RuntimeError>("invalid size, possible overflow?");
  return in_steps({.kind = Range::Kind::forward,
                   .computed = is_reduced(dtype) ? DType::float32 : DType::float64,
                   .count = std::int64_t(std::floor(count)),
                   .first = a,
                   .step = s},
                  dtype, o);
}

// `base`, unless null, is raised to the numbers.
static Tensor spaced(const char* name, Scalar start, Scalar end, std::int64_t steps,
                     const double* base, const Options& o) {
  if (steps < 0) fail<RuntimeError>("number of steps must be non-negative");
  const DType dtype = o.dtype.value_or(default_dtype());
  if (is_complex(dtype)) {
    Options real = o;
    real.dtype = real_of(dtype);
    real.requires_grad = false;
    return finish(to(spaced(name, start, end, steps, base, real), dtype), o);
  }
  if (dtype == DType::boolean)
    fail<NotImplementedError>("\"", name, "_cpu\" not implemented for 'Bool'");
  if (steps == 1 && base) {  // of the start as it was given, into integers too
    const double power = std::pow(*base, start.as_double());
    check_fits(name, "the power", power, dtype);
    return finish(full({1}, power, dtype, device_of(o)), o);
  }
  if (is_integral(dtype)) {
    if (steps > 0) check_fits(name, "start", start, dtype);
    if (steps > 1) check_fits(name, "end", end, dtype);
    start = wrapped_to(dtype, start.as_int());
    end = wrapped_to(dtype, end.as_int());
  }
  if (steps == 1) return finish(full({1}, start.as_double(), dtype, device_of(o)), o);
  Range r = {.kind = base ? Range::Kind::powers : Range::Kind::from_both_ends,
             .computed = base || dtype == DType::float64 || is_integral(dtype) ? DType::float64
                                                                               : DType::float32,
             .count = steps,
             .first = start.as_double(),
             .last = end.as_double(),
             .base = base ? *base : 0,
             .each = is_integral(dtype) ? DType::float64 : dtype};
  if (r.computed == DType::float64) {
    r.first = r.rounded(r.first);
    r.last = r.rounded(r.last);
    r.step = r.rounded(r.last - r.first) / double(steps - 1);
  } else if (is_reduced(dtype)) {
    r.first = r.rounded(r.first);
    r.last = r.rounded(r.last);
    r.step = r.rounded(r.rounded(r.last - r.first) / r.rounded(double(steps - 1)));
  } else {  // every number of it is a float32
    r.step = double((float(r.last) - float(r.first)) / float(steps - 1));
  }
  return in_steps(r, dtype, o);
}

Tensor linspace(Scalar start, Scalar end, std::int64_t steps, const Options& o) {
  return spaced("linspace", start, end, steps, nullptr, o);
}
Tensor logspace(Scalar start, Scalar end, std::int64_t steps, double base, const Options& o) {
  return spaced("logspace", start, end, steps, &base, o);
}

}  // namespace rushlight
