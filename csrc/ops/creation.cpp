// Tensors made of no others: constants, identities. Ranges are in ranges.cpp.
#include "core/backend.h"
#include "core/unlocked.h"
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

Tensor eye(std::int64_t n, std::int64_t m, const Options& o) {
  if (n < 0) fail<RuntimeError>("n must be greater or equal to 0, got ", n);
  if (m < 0) fail<RuntimeError>("m must be greater or equal to 0, got ", m);
  const DType dtype = o.dtype.value_or(default_dtype());
  check_has_cast(1, dtype);
  if (is_only_stored(dtype) && (is_integral(dtype) || dtype == DType::complex32))
    refuse_stored("eye", dtype);
  Tensor out = zeros({n, m}, dtype, device_of(o));
  const std::int64_t length = std::min(n, m), stride = length ? checked_add(m, 1) : 1;
  if (length && !out.device().is_meta())
    backend(out.device()).copy->fill(stored_view_of(geometry(out, {&length, 1}, &stride, 0)), 1);
  return finish(out, o);
}

}  // namespace rushlight
