// Tensor: one handle to one body. Two blocks per tensor: the body (shape inline, no vectors) and
// the storage (header and bytes together). Autograd state is ONE pointer: null until something
// needs a gradient, the grad_fn of a result, or the accumulator (which owns .grad) of a leaf.
#pragma once
#include "core/shape.h"
#include "core/storage.h"

struct _object;  // PyObject: the core stores one pointer and never looks inside

namespace rushlight {

struct Node;
struct Body;
void destroy(Node*);
void destroy(Body*);

// Of this thread: what is made now is an inference tensor, which no recorded operation may keep.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local bool inference_mode = false;

// How often a tensor that `.data` made, or a view of it, was written to: apart from its storage's
// count, as the writes are to go unnoticed by the tensor that it came from.
struct WriteCount : Shared {
  std::uint32_t value = 0;
};
inline void destroy(WriteCount* c) { delete c; }

// Of a view: what made it, or what it views, if no write to it can be recorded.
enum class Unrecorded : std::uint8_t {
  none,       // its writes are recorded
  part,       // split(), unbind(), or a custom Function with several results
  no_grad,    // made by the user under no_grad()
  inference,  // made by the user under inference_mode()
  function    // the result of a custom Function, whose backward would be passed by
};

struct Body : Shared {
  DType dtype = DType::float32;
  Device device;
  bool requires_grad = false;  // leaf flag or "has a grad_fn": one load answers both
  bool contiguous = true;
  bool retains_grad = false;
  bool inference = inference_mode;
  Unrecorded unrecorded = Unrecorded::none;
  std::uint16_t output = 0;  // which output of `node` this is
  bool number = false;  // a number of Python's that no Scalar holds: it promotes as one
  bool sparse = false;  // a stand-in without memory: see sparse_body()
  std::uint32_t node_version = 0;  // of a view: the storage's version its node was made at
  Shape shape;
  Strides strides;
  std::int64_t numel = 1, offset = 0;
  Ref<Storage> storage;
  Ref<WriteCount> writes;  // null: the storage counts them
  Ref<Body> base;  // of a view: whose elements it views, for in-place gradients
  Node* node = nullptr;  // owned; grad_fn of a result, accumulator of a leaf
  _object* python = nullptr;  // borrowed: the Python object of this tensor, while there is one
  _object* left_behind = nullptr;  // owned: (class, attributes) of a freed Python object

  // Raised by every write in place: what an operation saved must have the version that it had.
  std::uint32_t& version() { return writes ? writes->value : storage->version; }
};

class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(Ref<Body> body) : body_(std::move(body)) {}
  Body* body() const { return body_.get(); }
  Body* operator->() const { return body_.get(); }
  explicit operator bool() const { return bool(body_); }
  [[nodiscard]] Body* detach_body() { return body_.detach(); }
  const Ref<Body>& ref() const { return body_; }

  Sizes sizes() const { return body_->shape.view(); }
  const Shape& shape() const { return body_->shape; }
  Sizes strides() const { return {body_->strides.data(), std::size_t(body_->shape.rank)}; }
  // Of 0-d tensors, which take 0 and -1 as dimensions: 1.
  std::int64_t size(std::int64_t d) const {
    const int at = wrap_dim(d, dim());
    return dim() ? body_->shape[at] : 1;
  }
  std::int64_t stride(std::int64_t d) const {
    const int at = wrap_dim(d, dim());
    return dim() ? body_->strides[std::size_t(at)] : 1;
  }
  int dim() const { return body_->shape.rank; }
  std::int64_t numel() const { return body_->numel; }
  std::int64_t offset() const { return body_->offset; }
  DType dtype() const { return body_->dtype; }
  Device device() const { return body_->device; }
  bool is_contiguous() const { return body_->contiguous; }
  bool requires_grad() const { return body_->requires_grad; }
  Storage& storage() const { return *body_->storage; }
  bool is_same(const Tensor& o) const { return body() == o.body(); }

 private:
  Ref<Body> body_;
};

Tensor empty(Sizes sizes, DType dtype, Device device = kCpu);
inline Tensor empty(const Shape& shape, DType dtype, Device device = kCpu) {
  return empty(shape.view(), dtype, device);
}
inline Tensor empty(std::initializer_list<std::int64_t> sizes, DType dtype, Device device = kCpu) {
  return empty(Sizes(sizes.begin(), sizes.size()), dtype, device);
}
// Dense memory in the order of t's own dimensions (torch's preserve_format).
Tensor empty_like(const Tensor& t);
Tensor empty_like(const Tensor& t, DType dtype);
Tensor empty_strided(Sizes sizes, const std::int64_t* strides, DType dtype, Device device);
// The body of a sparse tensor, whose indices and values its Python object holds: sizes, dtype and
// device are right, and its storage is empty, so that no view of it can be made.
Tensor sparse_body(Sizes sizes, DType dtype, Device device);

// Whether nothing else refers to t or to its memory, which is ours and not lent: a backward pass
// may write the next gradient over such a one.
inline bool is_sole(const Tensor& t) {
  return t->is_unique() && !t->sparse && !t->base && !t->requires_grad && t->storage->is_unique() &&
         t->device.is_cpu() && !t->storage->release_memory;
}

// A second body on the same storage, without history and not a view.
Tensor alias(const Tensor& t);
// The same storage seen with another geometry; checked against the storage's end. No history.
Tensor geometry(const Tensor& t, Sizes sizes, const std::int64_t* strides, std::int64_t offset);
Tensor from_storage(Ref<Storage> storage, DType dtype, Sizes sizes, const std::int64_t* strides,
                    std::int64_t offset);

// Whether there has been a tensor of a type that is only stored: only then does a call look for one
// among its arguments.
inline bool has_stored_dtypes = false;
// NotImplementedError of an operation that computes, with what to do instead.
[[noreturn]] void refuse_stored(std::string_view op, DType d);

// What kernels receive. The only place that makes one; it refuses what lies outside the storage,
// meta tensors, and tensors of a device that is gone.
View view_of(const Tensor& t);
View view_of(const Tensor& t, Sizes broadcast_to);
// The same for kernels that copy, fill and cast: of any dtype, also of those that are only stored,
// which view_of() refuses.
View stored_view_of(const Tensor& t);
View stored_view_of(const Tensor& t, Sizes broadcast_to);
// The beginning of both, with all their checks: data and dtype. The caller adds a geometry that
// lies inside the tensor's own.
const Body& start_view(View& v, const Tensor& t);
const Body& start_stored_view(View& v, const Tensor& t);
// Throws for a tensor of a device that is gone; free for CPU tensors.
void check_alive(const Tensor& t);

// Torch's words where operands are on different devices; names may be null.
void check_same_device(const char* op, const Tensor& a, const char* a_name, const Tensor& b,
                       const char* b_name);
[[noreturn]] void fail_devices(const char* op, const Tensor& a, const char* a_name, const Tensor& b,
                               const char* b_name);
// "weight: float32 [2, 3] on cuda:0": how error messages describe an argument.
std::string describe(const char* name, const Tensor& t);

// Set by the bindings: drops the Python object a body has kept.
extern void (*release_python)(_object*);

}  // namespace rushlight
