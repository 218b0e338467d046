// Tensors made of no others: constants, ranges, identities.
#include <cmath>

#include "core/backend.h"
#include "core/unlocked.h"
#include "kernels/parallel.h"
#include "ops/default_device.h"
#include "ops/ops.h"

namespace rushlight {

// The last one holds; the first is that of set_default_device().
static std::vector<Device>& default_devices() {
  static thread_local std::vector<Device> list{kCpu};
  return list;
}
// Kept: every factory reads it.
[[gnu::tls_model("initial-exec")]] static thread_local Device innermost = kCpu;
Device default_device() { return innermost.is_cpu() ? kCpu : resolve(innermost); }
Device named_default_device() { return innermost.index < 0 ? default_device() : innermost; }
void set_default_device(Device d) {
  default_devices().front() = d;
  innermost = default_devices().back();
}
void enter_device(Device d) {
  default_devices().push_back(d);
  innermost = d;
}
void leave_device() {
  if (default_devices().size() > 1) default_devices().pop_back();
  innermost = default_devices().back();
}

Device device_of(const Options& o) { return o.device ? resolve(*o.device) : default_device(); }

Tensor finish(Tensor t, const Options& o) {
  return finish(o.pin_memory ? pin_memory(t) : std::move(t), o.requires_grad);
}
Tensor finish(Tensor t, bool requires_grad) {
  if (requires_grad) [[unlikely]] {
    if (!is_differentiable(t.dtype()))
      fail<RuntimeError>("Only Tensors of floating point and complex dtype can require gradients");
    t->requires_grad = true;
  }
  return t;
}

Tensor full(const Shape& size, Scalar value, DType dtype, Device device) {
  Tensor out = empty(size, dtype, device);
  if (!out.device().is_meta() && out.numel()) {
    check_has_cast(value, dtype);
    const View v = stored_view_of(out);
    const Unlocked unlocked(double(out.numel()) * 0.1, {&out});
    backend(out.device()).copy->fill(v, value);
  }
  return out;
}
Tensor zeros(const Shape& size, DType dtype, Device device) { return full(size, 0, dtype, device); }
Tensor scalar_tensor(Scalar value, DType dtype, Device device) {
  return full(Shape(), value, dtype, device);
}

DType dtype_of(Scalar number) {
  switch (number.kind) {
    case Scalar::Kind::boolean: return DType::boolean;
    case Scalar::Kind::integer: return DType::int64;
    default: return default_dtype();
  }
}

Tensor full_like(const Tensor& input, Scalar value) {
  Tensor out = empty_like(input);
  check_has_cast(value, out.dtype());
  if (!out.device().is_meta() && out.numel())
    backend(out.device()).copy->fill(stored_view_of(out), value);
  return out;
}
Tensor zeros_like(const Tensor& input) { return full_like(input, 0); }
Tensor ones_like(const Tensor& input) { return full_like(input, 1); }

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

Tensor arange(Scalar start, Scalar end, Scalar step, const Options& o) {
  const bool real = start.is_floating() || end.is_floating() || step.is_floating();
  const DType dtype = o.dtype ? *o.dtype : real ? default_dtype() : DType::int64;
  if (dtype == DType::boolean)
    fail<NotImplementedError>("\"arange_cpu\" not implemented for 'Bool'");
  const double a = start.as_double(), b = end.as_double(), s = step.as_double();
  if (!(s > 0 || s < 0)) fail<RuntimeError>("step must be nonzero");
  // Into integers, everything is truncated first; all but int64 are counted by the numbers given.
  if (is_integral(dtype) && step.as_int() == 0) fail<ValueError>("step must be nonzero");
  if (!std::isfinite(a) || !std::isfinite(b))
    fail<RuntimeError>("unsupported range: ", a, " -> ", b);
  if ((s > 0) != (b >= a) && a != b)
    fail<RuntimeError>("upper bound and lower bound inconsistent with step sign");
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
    return in_steps({.kind = Range::Kind::forward,
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

Tensor eye(std::int64_t n, std::int64_t m, const Options& o) {
  if (n < 0) fail<RuntimeError>("n must be greater or equal to 0, got ", n);
  if (m < 0) fail<RuntimeError>("m must be greater or equal to 0, got ", m);
  const DType dtype = o.dtype.value_or(default_dtype());
  check_has_cast(1, dtype);
  if (is_only_stored(dtype) && (is_integral(dtype) || dtype == DType::complex32))
    refuse_stored("eye", dtype);
  Tensor out = zeros({n, m}, dtype, device_of(o));
  const std::int64_t length = std::min(n, m), stride = m + 1;
  if (length && !out.device().is_meta())
    backend(out.device()).copy->fill(stored_view_of(geometry(out, {&length, 1}, &stride, 0)), 1);
  return finish(out, o);
}

}  // namespace rushlight
