// Tensors from nothing: constants, ranges, identities.
#include <cmath>

#include "core/backend.h"
#include "core/work.h"
#include "ops/default_device.h"
#include "ops/ops.h"

namespace rushlight {

// The last one holds; the first is that of set_default_device().
static std::vector<Device>& default_devices() {
  static thread_local std::vector<Device> list{kCpu};
  return list;
}
// That one at hand: every tensor from nothing asks for it.
[[gnu::tls_model("initial-exec")]] static thread_local Device innermost = kCpu;
Device default_device() { return innermost.is_cpu() ? kCpu : resolve(innermost); }
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

Tensor finish(Tensor t, const Options& o) { return finish(std::move(t), o.requires_grad); }
Tensor finish(Tensor t, bool requires_grad) {
  if (requires_grad) [[unlikely]] {
    if (!is_floating(t.dtype()))
      fail<RuntimeError>("Only Tensors of floating point and complex dtype can require gradients");
    t->requires_grad = true;
  }
  return t;
}

Tensor full(const Shape& size, Scalar value, DType dtype, Device device) {
  Tensor out = empty(size, dtype, device);
  if (!out.device().is_meta() && out.numel()) {
    const View v = view_of(out);
    const Unlocked unlocked(double(out.numel()) * 0.1, {&out});
    backend(out.device()).copy->fill(v, value);
  }
  return out;
}
Tensor zeros(const Shape& size, DType dtype, Device device) { return full(size, 0, dtype, device); }
Tensor scalar_tensor(Scalar value, DType dtype, Device device) {
  return full(Shape(), value, dtype, device);
}

Tensor full_like(const Tensor& input, Scalar value) {
  Tensor out = empty_like(input);
  if (!out.device().is_meta() && out.numel()) backend(out.device()).copy->fill(view_of(out), value);
  return out;
}
Tensor zeros_like(const Tensor& input) { return full_like(input, 0); }
Tensor ones_like(const Tensor& input) { return full_like(input, 1); }

// Values are computed on the host, element by element in double or int64, and moved once.
template <class F>
static Tensor from_formula(std::int64_t n, DType dtype, const Options& o, F value) {
  Tensor host = empty({n}, dtype);
  const View v = view_of(host);
  dispatch_all(dtype, [&]<class S>(Type<S>) {
    for (std::int64_t i = 0; i < n; ++i) store(v.as<S>() + i, convert<Compute<S>>(value(i)));
  });
  return finish(to(host, device_of(o)), o);
}

Tensor arange(Scalar start, Scalar end, Scalar step, const Options& o) {
  const bool real = start.is_floating() || end.is_floating() || step.is_floating();
  const DType dtype = o.dtype ? *o.dtype : real ? default_dtype() : DType::int64;
  if (dtype == DType::boolean)
    fail<NotImplementedError>("\"arange_cpu\" not implemented for 'Bool'");
  const double a = start.as_double(), b = end.as_double(), s = step.as_double();
  if (s == 0) fail<RuntimeError>("step must be nonzero");
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
    if (is_integral(dtype))
      return from_formula(n, dtype, o,
                          [a = convert<std::int64_t>(a),
                           s = convert<std::int64_t>(s)](std::int64_t i) { return a + i * s; });
    if (dtype == DType::float64)
      return from_formula(n, dtype, o, [&](std::int64_t i) { return a + double(i) * s; });
    // torch computes float32 ranges in float64 and rounds once
    return from_formula(n, dtype, o, [&](std::int64_t i) { return float(a + double(i) * s); });
  }
  const std::int64_t first = start.as_int(), last = end.as_int(), by = step.as_int();
  const auto distance = static_cast<__int128>(last) - first;
  const __int128 wide = (distance + by - (by > 0 ? 1 : -1)) / by;
  const auto n = std::int64_t(wide < 0 ? 0 : wide);
  return from_formula(n, dtype, o, [=](std::int64_t i) { return first + i * by; });
}

template <class F>
static Tensor spaced(const char* name, Scalar start, Scalar end, std::int64_t steps,
                     const Options& o, F map) {
  if (steps < 0) fail<RuntimeError>("number of steps must be non-negative");
  const DType dtype = o.dtype.value_or(default_dtype());
  if (dtype == DType::boolean)
    fail<NotImplementedError>("\"", name, "_cpu\" not implemented for 'Bool'");
  if (is_integral(dtype)) {
    start = start.as_int();
    end = end.as_int();
  }
  // From both ends towards the middle, as torch does, so that the last value is exact.
  auto values = [&]<class C>(C a, C b) {
    const C step = steps > 1 ? C(b - a) / C(steps - 1) : C(0);
    return from_formula(steps, dtype, o, [=](std::int64_t i) {
      return map(i < steps / 2 ? a + step * C(i) : b - step * C(steps - 1 - i));
    });
  };
  if (steps == 1)
    return from_formula(1, dtype, o, [&](std::int64_t) { return map(start.as_double()); });
  if (dtype == DType::float64 || is_integral(dtype))
    return values(start.as_double(), end.as_double());
  return values(float(start.as_double()), float(end.as_double()));
}

Tensor linspace(Scalar start, Scalar end, std::int64_t steps, const Options& o) {
  return spaced("linspace", start, end, steps, o, [](auto v) { return v; });
}
Tensor logspace(Scalar start, Scalar end, std::int64_t steps, double base, const Options& o) {
  return spaced("logspace", start, end, steps, o,
                [base](auto v) { return static_cast<decltype(v)>(std::pow(base, double(v))); });
}

Tensor eye(std::int64_t n, std::int64_t m, const Options& o) {
  if (n < 0) fail<RuntimeError>("n must be greater or equal to 0, got ", n);
  if (m < 0) fail<RuntimeError>("m must be greater or equal to 0, got ", m);
  const DType dtype = o.dtype.value_or(default_dtype());
  Tensor out = zeros({n, m}, dtype, device_of(o));
  const std::int64_t length = std::min(n, m), stride = m + 1;
  if (length && !out.device().is_meta())
    backend(out.device()).copy->fill(view_of(geometry(out, {&length, 1}, &stride, 0)), 1);
  return finish(out, o);
}

}  // namespace rushlight
