// Copies, casts and transfers between devices. Note: `to` returns its input itself
// when nothing changes, as programs rely on it (`x.to(device) is x`).
#include "core/backend.h"
#include "core/cuda.h"
#include "core/dense_view.h"
#include "core/unlocked.h"
#include "kernels/stored.h"
#include "ops/ops.h"
#include "ops/pointwise/checks.h"
#include "ops/pointwise/pointwise.h"

namespace rushlight {

void report_wait(Device d, const char* op) {
  const SyncDebug mode = sync_debug.load(std::memory_order_relaxed);
  if (mode == SyncDebug::nothing || !d.is_cuda()) [[likely]]
    return;
  const std::string words =
      text("called a synchronizing CUDA operation\n", op, " makes the host wait for ", d,
           "; torch.cuda.set_sync_debug_mode() is on");
  if (mode == SyncDebug::raises) fail<RuntimeError>(words);
  warn(words);
}
double time_of_wait(Device d, double nanoseconds) {
  return d.is_cuda() && backend_table(d).enter ? 1e18 : nanoseconds;  // not for a virtual one
}

Element element_of(const Tensor& t, std::int64_t offset) {
  check_alive(t);
  const std::int64_t size = std::int64_t(item_size(t.dtype()));
  if (offset < 0 || std::uint64_t(checked_mul(checked_add(offset, 1), size)) > t.storage().bytes)
    fail<RuntimeError>("element ", offset, " lies outside the tensor's storage");
  if (t.dtype() == DType::float4_e2m1fn_x2) refuse_stored("item", t.dtype());
  Element out;
  const char* from = static_cast<const char*>(t.storage().data) + offset * size;
  if (t.device().is_cpu()) {
    std::copy_n(from, size, out.bytes);
  } else {
    report_wait(t.device(), "item()");
    const Backend& b = backend(t.device());
    const Unlocked unlocked(time_of_wait(t.device()), {&t});
    b.copy_bytes({.to = out.bytes,
                  .to_index = -1,
                  .from = from,
                  .from_index = t.device().index,
                  .bytes = std::size_t(size)});
  }
  return out;
}

Scalar element(const Tensor& t, std::int64_t offset) {
  if (is_complex(t.dtype())) refuse_stored("item", t.dtype());
  const Element e = element_of(t, offset);
  if (t.dtype() == DType::boolean) return Scalar(e.as<bool>(t.dtype()));
  if (is_floating(t.dtype())) return Scalar(e.as<double>(t.dtype()));
  const auto value = e.as<std::int64_t>(t.dtype());
  if (t.dtype() == DType::uint64 && value < 0)
    fail<OverflowError>("int too big to convert: a number of a tensor has at most 64 bits");
  return Scalar(value);
}

Scalar item(const Tensor& t) {
  if (t.numel() != 1)
    fail<RuntimeError>("a Tensor with ", t.numel(), " elements cannot be converted to Scalar");
  return element(t, t.offset());
}

// The bytes of `in` to another device: both have their elements in one order, without gaps.
static void copy_dense(const Tensor& out, const Tensor& in, bool non_blocking) {
  const View to = stored_view_of(out), from = stored_view_of(in);
  if (from.dtype != to.dtype || from.numel != to.numel) fail_changed(in);
  const Device gpu = out.device().is_cuda() ? out.device() : in.device();
  const ByteCopy copy = {
      .to = to.data,
      .to_index = out.device().index,
      .from = from.data,
      .from_index = in.device().index,
      .bytes = std::size_t(bytes_of(out.sizes(), out.dtype())),
      .from_stream = in.device().is_cuda() ? current_stream(in.device().index) : 0,
      .non_blocking = non_blocking,
  };
  if (!non_blocking && (out.device().is_cpu() || in.device().is_cpu()))
    report_wait(gpu, "a copy between the host and a GPU");
  const bool waits = out.device().is_cpu() || (in.device().is_cpu() && !non_blocking);
  const double nanoseconds = double(copy.bytes) / 10;
  const Backend& b = backend(gpu);
  const Unlocked unlocked(waits ? time_of_wait(gpu, nanoseconds) : nanoseconds, {&out, &in});
  b.copy_bytes(copy);
}

static void check_has_cast(DType from, DType to) {
  if (from == to) return;
  if (from == DType::float4_e2m1fn_x2 || to == DType::float4_e2m1fn_x2) [[unlikely]]
    refuse_stored("copy_", DType::float4_e2m1fn_x2);
}
void check_has_cast(Scalar value, DType to) {
  if (to == DType::float4_e2m1fn_x2 && value.as_double() != 0) [[unlikely]]
    refuse_stored("fill_", to);
}

// Across devices both sides must be dense and alike: a copy of bytes. What is not, is brought into
// that form on its own device first.
static void copy_across(const Tensor& out, const Tensor& in, bool non_blocking) {
  Tensor from = in;
  if (from.dtype() != out.dtype() || !from.is_contiguous() || !same(from.sizes(), out.sizes())) {
    from = empty(out.sizes(), out.dtype(), in.device());
    copy_bits(from, in);
  }
  const Tensor into = out.is_contiguous() ? out : empty(out.sizes(), out.dtype(), out.device());
  copy_dense(into, from, non_blocking);
  if (!into.is_same(out)) copy_bits(out, into);
}

// As in `x[:, ::2] += 1`, which Python ends by x[:, ::2] = what was added to.
static bool is_same_memory(const Tensor& a, const Tensor& b) {
  return a->storage.get() == b->storage.get() && a.offset() == b.offset() &&
         a.dtype() == b.dtype() && same(a.sizes(), b.sizes()) && same(a.strides(), b.strides());
}

void copy_bits(const Tensor& out, const Tensor& in, bool non_blocking) {
  if (out.numel() == 0 || out.device().is_meta() || is_same_memory(out, in)) return;
  if (out.device() != in.device()) return copy_across(out, in, non_blocking);
  check_has_cast(in.dtype(), out.dtype());
  const View to = stored_view_of(out), from = stored_view_of(in, out.sizes());
  const Backend& b = backend(out.device());
  const Unlocked unlocked(double(out.numel()) * 0.3, {&out, &in});
  b.copy->copy(to, from);
}

static Tensor clone_bits(const Tensor& input) {
  Tensor out = empty_like(input);
  copy_bits(out, input);
  return out;
}

// The cast is made where less memory moves: before a copy to a narrower type, after one to a wider.
static Tensor transfer(const Tensor& input, DType dtype, Device device, bool non_blocking) {
  if (device.is_meta()) return empty(input.sizes(), dtype, device);
  check_alive(input);
  if (device == input.device()) {
    Tensor out = empty_like(input, dtype);
    copy_bits(out, input);
    return out;
  }
  if (item_size(dtype) > item_size(input.dtype()))
    return transfer(transfer(input, input.dtype(), device, non_blocking), dtype, device, false);
  if (dtype != input.dtype())
    return transfer(transfer(input, dtype, input.device(), false), dtype, device, non_blocking);
  const Tensor dense = input.is_contiguous() ? input : clone_bits(input);
  Tensor there = empty_strided(dense.sizes(), dense->strides.data(), dtype, device);
  if (dense.numel()) copy_dense(there, dense, non_blocking);
  return there;
}

// Once in a process, as torch says it.
static void warn_of_lost_part(DType from, DType to) {
  static bool said = false;
  if (said || !is_complex(from) || is_complex(to) || to == DType::boolean) return;
  said = true;
  warn("Casting complex values to real discards the imaginary part");
}

Tensor to(const Tensor& input, DType dtype, Device device, bool copy, bool non_blocking) {
  device = resolve(device);
  if (!copy && dtype == input.dtype() && device == input.device()) return input;
  warn_of_lost_part(input.dtype(), dtype);
  Tensor out = transfer(input, dtype, device, non_blocking);
  return record(
      "ToCopyBackward0", std::move(out),
      [d = input.dtype(), at = input.device()](Tensor g) {
        return Gradients(to(is_complex(d) ? g : real(g), d, at));
      },
      input);
}
Tensor to(const Tensor& input, DType dtype) { return to(input, dtype, input.device()); }
Tensor to(const Tensor& input, Device device) { return to(input, input.dtype(), device); }

Tensor clone(const Tensor& input) {
  Tensor out = input.device().is_meta() ? empty(input.sizes(), input.dtype(), input.device())
                                        : empty_like(input);
  copy_bits(out, input);
  return record(
      "CloneBackward0", std::move(out), [](Tensor g) { return Gradients(std::move(g)); }, input);
}

Tensor contiguous(const Tensor& input) {
  if (input.is_contiguous()) return input;
  Tensor out = empty(input.sizes(), input.dtype(), input.device());
  copy_bits(out, input);
  return record(
      "CloneBackward0", std::move(out), [](Tensor g) { return Gradients(std::move(g)); }, input);
}

Tensor row_major_clone(const Tensor& input) {
  return input.is_contiguous() ? clone(input) : contiguous(input);
}

void copy_(const Tensor& self, const Tensor& src, bool non_blocking) {
  if (!can_broadcast_to(src.sizes(), self.sizes()))
    fail<RuntimeError>("output with shape ", self.sizes(), " doesn't match the broadcast shape ",
                       broadcast(self.sizes(), src.sizes()), "\ncopy_(): src of shape ",
                       src.sizes(), " cannot be broadcast to self of shape ", self.sizes());
  warn_of_lost_part(src.dtype(), self.dtype());
  check_inplace(self, needs_grad(self, src), "copy_");
  check_no_internal_overlap(self, "copy_");
  if (!self.is_same(src)) copy_bits(self, needs_copy(self, src) ? clone(src) : src, non_blocking);
  record_inplace(
      "CopyBackwards", self,
      [shape = src.shape(), dtype = src.dtype(), device = src.device()](Tensor g, Node& node) {
        Tensor of_src;
        if (node.needs_input(1))  // of what is real the real part, without a warning
          of_src = sum_to(to(is_complex(dtype) ? g : real(g), dtype, device), shape);
        Tensor of_self;
        if (node.needs_input(0)) of_self = zeros_like(g);
        return Gradients(std::move(of_self), std::move(of_src));
      },
      src);
}

// The elements of self, each once where dimensions are expanded.
static View elements_once(const Tensor& self) {
  View v = stored_view_of(self);
  for (int d = 0; d < v.rank; ++d)
    if (v.strides[d] == 0 && v.sizes[d] > 1) {
      v.numel /= v.sizes[d];
      v.sizes[d] = 1;
    }
  return v;
}

void fill_(const Tensor& self, Scalar value) {
  check_inplace(self, needs_grad(self), "fill_");
  if (!self.device().is_meta() && self.numel()) {
    check_has_cast(value, self.dtype());
    const View v = elements_once(self);
    const Backend& b = backend(self.device());
    const Unlocked unlocked(double(v.numel) * 0.1, {&self});
    b.copy->fill(v, value);
  }
  record_inplace("FillBackward0", self, [](Tensor g) { return Gradients(zeros_like(g)); });
}
void zero_(const Tensor& self) {
  check_inplace(self, needs_grad(self), "zero_");
  if (!self.device().is_meta() && self.numel())
    backend(self.device()).copy->fill(elements_once(self), 0);
  record_inplace("ZeroBackward0", self, [](Tensor g) { return Gradients(zeros_like(g)); });
}

}  // namespace rushlight
