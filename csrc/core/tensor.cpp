// Making tensors and views of storages; every geometry is checked here.
#include "core/tensor.h"

#include <cstring>

#include "core/cuda.h"

namespace rushlight {

void (*release_python)(_object*) = nullptr;

static Tensor new_body() {
  return Tensor(Ref<Body>::adopt(new (BlockCache::take(sizeof(Body))) Body));
}

Tensor empty(Sizes sizes, DType dtype, Device device) {
  Tensor t = new_body();
  Body& b = *t.body();
  b.shape.assign(sizes);
  b.dtype = dtype;
  if (is_only_stored(dtype)) [[unlikely]]
    has_stored_dtypes = true;
  b.numel = contiguous_strides(sizes, b.strides);
  b.device = device.is_cpu() ? kCpu : resolve(device);
  b.storage =
      Storage::make(std::size_t(checked_mul(b.numel, std::int64_t(item_size(dtype)))), b.device);
  return t;
}

Tensor empty_like(const Tensor& t) { return empty_like(t, t.dtype()); }

// Whether t's elements, in some order of its dimensions, fill memory without a gap or an overlap.
static bool fills_memory(const Tensor& t) {
  std::int64_t next = 1;
  for (int left = t.dim(); left > 0; --left) {
    int found = -1;
    for (int d = 0; d < t.dim() && found < 0; ++d)
      if (t->shape.sizes[std::size_t(d)] > 1 && t->strides[std::size_t(d)] == next) found = d;
    if (found < 0) break;
    next *= t->shape.sizes[std::size_t(found)];
  }
  return next == t.numel();
}

// The strides of torch's preserve_format. A tensor that fills its memory keeps its own. Any other
// gets dense ones in the order of its strides.
Tensor empty_like(const Tensor& t, DType dtype) {
  if (t.is_contiguous() || t.numel() == 0) [[likely]]
    return empty(t.sizes(), dtype, t.device());
  if (fills_memory(t)) return empty_strided(t.sizes(), t->strides.data(), dtype, t.device());
  int order[kMaxRank];
  order_by_strides(t.sizes(), &t->strides, 1, order);
  return empty_strided(t.sizes(), dense_strides(t.sizes(), order).data(), dtype, t.device());
}

Tensor empty_strided(Sizes sizes, const std::int64_t* strides, DType dtype, Device device) {
  for (std::size_t d = 0; d < sizes.size(); ++d)
    if (strides[d] < 0)
      fail<RuntimeError>(
          "as_strided: Negative strides are not supported at the moment, got strides: ",
          Sizes(strides, sizes.size()));
  numel_of(sizes);
  const Extent e = extent_of(sizes, strides);
  const std::int64_t elements = checked_add(e.high, 1);
  device = resolve(device);
  auto storage =
      Storage::make(std::size_t(checked_mul(elements, std::int64_t(item_size(dtype)))), device);
  return from_storage(std::move(storage), dtype, sizes, strides, 0);
}

Tensor sparse_body(Sizes sizes, DType dtype, Device device) {
  Tensor t = empty({0}, dtype, device);
  Body& b = *t.body();
  b.shape.assign(sizes);
  b.numel = contiguous_strides(sizes, b.strides);
  b.sparse = true;
  return t;
}

Tensor alias(const Tensor& t) {
  Tensor v = new_body();
  const Body& from = *t.body();
  Body& to = *v.body();
  to.dtype = from.dtype;
  to.device = from.device;
  to.contiguous = from.contiguous;
  to.inference = from.inference;
  to.sparse = from.sparse;
  to.shape = from.shape;
  to.strides = from.strides;
  to.numel = from.numel;
  to.offset = from.offset;
  to.storage = from.storage;
  to.writes = from.writes;
  return v;
}

static void check_inside(const Storage& s, DType dtype, Sizes sizes, const std::int64_t* strides,
                         std::int64_t offset) {
  const Extent e = extent_of(sizes, strides);
  if (offset < 0) fail<RuntimeError>("Tensor: invalid storage offset ", offset);
  checked_mul(offset, std::int64_t(item_size(dtype)));  // even without elements: out= adds some
  if (e.high < e.low) return;                           // no elements
  const std::int64_t low = checked_add(offset, e.low), high = checked_add(offset, e.high);
  const std::int64_t end = checked_mul(checked_add(high, 1), std::int64_t(item_size(dtype)));
  if (low < 0 || std::uint64_t(end) > s.bytes)
    fail<RuntimeError>("setStorage: sizes ", sizes, ", strides ", Sizes(strides, sizes.size()),
                       ", storage offset ", offset, ", and itemsize ", item_size(dtype),
                       " requiring a storage size of ", end,
                       " are out of bounds for storage of size ", s.bytes);
}

// The same for a tensor that exists: where it is dense, its number of elements tells its extent.
static void check_inside(const Body& b) {
  const std::uint64_t bytes = b.storage->bytes;
  const std::uint64_t end = std::uint64_t(b.offset) + std::uint64_t(b.numel);
  if (b.contiguous && end <= bytes && end * item_size(b.dtype) <= bytes) [[likely]]
    return;
  check_inside(*b.storage, b.dtype, b.shape, b.strides.data(), b.offset);
}

Tensor from_storage(Ref<Storage> storage, DType dtype, Sizes sizes, const std::int64_t* strides,
                    std::int64_t offset) {
  const std::int64_t numel = numel_of(sizes);
  check_inside(*storage, dtype, sizes, strides, offset);
  Tensor t = new_body();
  Body& b = *t.body();
  b.shape.assign(sizes);
  b.dtype = dtype;
  if (is_only_stored(dtype)) has_stored_dtypes = true;
  b.device = storage->device;
  for (std::size_t d = 0; d < sizes.size(); ++d) b.strides[d] = strides[d];
  b.numel = numel;
  b.offset = offset;
  b.contiguous = contiguous(sizes, b.strides);
  b.storage = std::move(storage);
  return t;
}

Tensor geometry(const Tensor& t, Sizes sizes, const std::int64_t* strides, std::int64_t offset) {
  Tensor v = from_storage(t->storage, t.dtype(), sizes, strides, offset);
  v->inference = t->inference;
  v->writes = t->writes;
  return v;
}

void check_alive(const Tensor& t) {
  if (t.device().is_cpu()) [[likely]]
    return;
  if (t.device().is_meta())
    fail<NotImplementedError>(
        "Cannot copy out of meta tensor; no data!\n", describe("tensor", t),
        "; make it real with Module.to_empty(device=...) or torch.empty_like(t, device=...)");
  if (!cuda_is_alive(t.storage().generation))
    fail<RuntimeError>("this tensor's device is gone: ", describe("tensor", t),
                       " was made before the virtual GPUs were changed by cuda.virtual(...)\n"
                       "copy tensors with .cpu() before changing the devices");
}

void refuse_stored(std::string_view op, DType d) {
  fail<NotImplementedError>(
      "\"", op, "\" not implemented for '", scalar_name(d), "'\n", op, "(): tensors of ", d,
      " are stored, copied and cast here, ",
      d > DType::complex32 ? "and have arithmetic; " : "nothing is computed with them; ",
      is_complex(d)    ? "compute with the real and imaginary parts: torch.view_as_real(x)"
      : is_integral(d) ? "cast first: x.to(torch.int64)"
      : d == DType::float4_e2m1fn_x2 ? "look at the bytes: x.view(torch.uint8)"
                                     : "cast first: x.to(torch.float32)");
}

const Body& start_stored_view(View& v, const Tensor& t) {
  if (!t) fail<RuntimeError>("an undefined tensor was given to a kernel");
  check_alive(t);
  const Body& b = *t.body();
  check_inside(b);
  v.data = static_cast<char*>(b.storage->data) + b.offset * std::int64_t(item_size(b.dtype));
  v.dtype = b.dtype;
  return b;
}

const Body& start_view(View& v, const Tensor& t) {
  const Body& b = start_stored_view(v, t);
  if (is_only_stored(b.dtype)) [[unlikely]]
    refuse_stored("kernel", b.dtype);
  return b;
}

static void add_geometry(View& v, const Body& b, Sizes to) {
  v.rank = int(to.size());
  v.numel = numel_of(to);
  broadcast_strides(b.shape, b.strides.data(), to, v.strides);
  for (std::size_t d = 0; d < to.size(); ++d) v.sizes[d] = to[d];
}
View view_of(const Tensor& t, Sizes to) {
  View v;
  const Body& b = start_view(v, t);
  add_geometry(v, b, to);
  return v;
}
View stored_view_of(const Tensor& t, Sizes to) {
  View v;
  const Body& b = start_stored_view(v, t);
  add_geometry(v, b, to);
  return v;
}

static void add_geometry(View& v, const Body& b) {
  v.rank = b.shape.rank;
  v.numel = b.numel;
  // All eight: a copy of fixed size is four moves, one of a few sizes a call.
  std::memcpy(v.sizes, b.shape.sizes.data(), sizeof v.sizes);
  std::memcpy(v.strides, b.strides.data(), sizeof v.strides);
}
View view_of(const Tensor& t) {
  View v;
  const Body& b = start_view(v, t);
  add_geometry(v, b);
  return v;
}
View stored_view_of(const Tensor& t) {
  View v;
  const Body& b = start_stored_view(v, t);
  add_geometry(v, b);
  return v;
}

std::string describe(const char* name, const Tensor& t) {
  return text(name, ": ", dtype_name(t.dtype()), " ", t.sizes(), " on ", t.device());
}

void fail_devices(const char* op, const Tensor& a, const char* a_name, const Tensor& b,
                  const char* b_name) {
  Device first = a.device(), second = b.device();
  if (first.is_cpu()) std::swap(first, second);  // torch names the GPU first
  fail<RuntimeError>(
      "Expected all tensors to be on the same device, but found at least two devices, ", first,
      " and ", second, "!\n", op, "(): ", describe(a_name ? a_name : "first", a), "; ",
      describe(b_name ? b_name : "second", b), "\nmove one of them: x.to(y.device)");
}

void check_same_device(const char* op, const Tensor& a, const char* a_name, const Tensor& b,
                       const char* b_name) {
  if (a.device() == b.device()) [[likely]]
    return;
  fail_devices(op, a, a_name, b, b_name);
}

}  // namespace rushlight
