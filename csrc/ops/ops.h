// The table of contents of the ops: every op with its shapes, in families. A family's own header is
// named where it has one. All of them record their gradient, and check before they write.
#pragma once
#include <optional>
#include <tuple>
#include <vector>

#include "autograd/record.h"
#include "ops/input.h"

namespace rushlight {

// ---- creation (creation.cpp)
struct Options {
  std::optional<DType> dtype;  // none: the default dtype, or what the values say
  std::optional<Device> device;  // none: cpu
  bool requires_grad = false;
  bool pin_memory = false;
};
Device device_of(const Options& o);
Tensor finish(Tensor t, const Options& o);  // pinned, and requires_grad for a new leaf
Tensor finish(Tensor t, bool requires_grad);
Tensor full(const Shape& size, Scalar value, DType dtype, Device device = kCpu);
Tensor zeros(const Shape& size, DType dtype, Device device = kCpu);
Tensor zeros_like(const Tensor& input);
Tensor ones_like(const Tensor& input);
Tensor full_like(const Tensor& input, Scalar value);
Tensor arange(Scalar start, Scalar end, Scalar step, const Options& o);
Tensor range(Scalar start, Scalar end, Scalar step, const Options& o);  // up to and with end
Tensor linspace(Scalar start, Scalar end, std::int64_t steps, const Options& o);
Tensor logspace(Scalar start, Scalar end, std::int64_t steps, double base, const Options& o);
Tensor eye(std::int64_t n, std::int64_t m, const Options& o);
Tensor scalar_tensor(Scalar value, DType dtype, Device device);
// Sums and factors of 16-bit floats are float32.
inline DType computed_in(const Tensor& t) {
  return is_reduced(t.dtype()) ? DType::float32 : t.dtype();
}
DType dtype_of(Scalar number);  // of a tensor that is made of it: bool, int64 or the default dtype

// ---- views between complex tensors and their parts (complex.cpp)
Tensor view_as_real(const Tensor& input);
Tensor view_as_complex(const Tensor& input);
Tensor complex_of(const Tensor& real, const Tensor& imag, const char* node = "ComplexBackward0");
Tensor polar(const Tensor& abs, const Tensor& angle);
Tensor conj(const Tensor& input);  // a new tensor, where the numbers are complex
Tensor real(const Tensor& input);
Tensor imag(const Tensor& input);

// ---- numbers among integers (number.cpp)
bool holds(DType dtype, Scalar value);  // torch's law: -200 is 56 of uint8, but -200.0 is refused
void check_fits(std::string_view op, const char* argument, Scalar value, DType dtype);
// A complex number (core/tensor.h) as one of this dtype: where that is real, so must be the number.
Tensor number_as(std::string_view op, const Tensor& number, DType dtype);
// The one element of a tensor, where that is no wait.
void check_value(std::string_view op, const Tensor& value, DType dtype);
Scalar wrapped_to(DType dtype, Scalar value);  // an integer as dtype holds it: 300 is 44 of uint8

// ---- copy (copy.cpp): casts, devices, layout
void check_has_cast(Scalar value, DType to);  // NotImplementedError, for float4 alone
struct Element;
Element element_of(const Tensor& t, std::int64_t offset);  // of any dtype
Scalar item(const Tensor& t);  // of the one element
Scalar element(const Tensor& t, std::int64_t offset);  // at a storage offset inside t; checked
Tensor to(const Tensor& input, DType dtype);  // input itself if nothing changes
Tensor to(const Tensor& input, DType dtype, Device device, bool copy = false,
          bool non_blocking = false);
Tensor to(const Tensor& input, Device device);
Tensor clone(const Tensor& input);  // preserves the order of dimensions
Tensor contiguous(const Tensor& input);  // input itself if it is row-major
Tensor row_major_clone(const Tensor& input);  // a copy whatever the layout was
// Warns or raises, as set_sync_debug_mode() is set: called by each op that waits for a GPU.
void report_wait(Device d, const char* op);
// For Unlocked: endless where the call waits for a GPU, whose other work comes first.
double time_of_wait(Device d, double nanoseconds = 0);
// No history, no version: same shapes.
void copy_bits(const Tensor& out, const Tensor& in, bool non_blocking = false);
// Broadcasts, casts, crosses devices.
void copy_(const Tensor& self, const Tensor& src, bool non_blocking = false);
void fill_(const Tensor& self, Scalar value);
Tensor pin_memory(const Tensor& input);  // pinned.cpp; input itself if it is
bool is_pinned(const Tensor& input);
void zero_(const Tensor& self);

// ---- views (view.cpp): no element is moved
Tensor detach(const Tensor& input);
Tensor view(const Tensor& input, const Shape& size);  // -1 is inferred; refuses a copy
Tensor view_dtype(const Tensor& input, DType dtype);  // the same bytes
Tensor reshape(const Tensor& input, const Shape& size);  // a view where possible
Tensor flatten(const Tensor& input, std::int64_t start, std::int64_t end);
Tensor unflatten(const Tensor& input, std::int64_t dim, const Shape& sizes);
Tensor expand(const Tensor& input, const Shape& size);  // -1 keeps a size
Tensor permute(const Tensor& input, const Shape& dims);
Tensor transpose(const Tensor& input, std::int64_t dim0, std::int64_t dim1);
Tensor t(const Tensor& input);
// resize.cpp. channels_last: 0, or the rank of the format.
void resize_storage(const Tensor& of, std::int64_t bytes);
Tensor resize_(const Tensor& self, const Shape& size, int channels_last);
void take_geometry(const Tensor& self, const Tensor& view);  // inplace.cpp; view: a view of self
Tensor squeeze(const Tensor& input, Sizes dims);  // those of size 1; none named: all
Tensor unsqueeze(const Tensor& input, std::int64_t dim);
Tensor select(const Tensor& input, std::int64_t dim, std::int64_t index);
Tensor slice(const Tensor& input, std::int64_t dim, std::optional<std::int64_t> start,
             std::optional<std::int64_t> end, std::int64_t step);
Tensor narrow(const Tensor& input, std::int64_t dim, std::int64_t start, std::int64_t length);
Tensor diagonal(const Tensor& input, std::int64_t offset, std::int64_t dim1, std::int64_t dim2);
Tensor as_strided(const Tensor& input, const Shape& size, const Shape& stride,
                  std::optional<std::int64_t> offset);
Tensor unfold(const Tensor& input, std::int64_t dim, std::int64_t size, std::int64_t step);
Tensor movedim(const Tensor& input, Sizes source, Sizes destination);
// split.cpp; more in join.h
std::vector<Tensor> unbind(const Tensor& input, std::int64_t dim);
std::vector<Tensor> split(const Tensor& input, std::int64_t size, std::int64_t dim);
std::vector<Tensor> split_sizes(const Tensor& input, Sizes sizes, std::int64_t dim);
std::vector<Tensor> chunk(const Tensor& input, std::int64_t chunks, std::int64_t dim);

// Gradients of views: g scattered into zeros of shape `whole`; differentiable themselves.
Tensor select_backward(const Tensor& g, const Shape& whole, int dim, std::int64_t index);
Tensor slice_backward(const Tensor& g, const Shape& whole, int dim, std::int64_t start,
                      std::int64_t end, std::int64_t step);
Tensor diagonal_backward(const Tensor& g, const Shape& whole, std::int64_t offset, int dim1,
                         int dim2);
Tensor unfold_backward(const Tensor& g, const Shape& whole, int dim, std::int64_t size,
                       std::int64_t step);

// ---- indexing (index.cpp): by tensors of indices or masks; more in index.h
// One entry per leading dimension of input; undefined: the whole dimension. Masks (bool, uint8)
// take as many dimensions as they have.
Tensor index(const Tensor& input, const std::vector<Tensor>& indices);
void index_put_(const Tensor& self, const std::vector<Tensor>& indices, const Tensor& values,
                bool accumulate, const char* op = "index_put_");
void index_put_(const Tensor& self, const std::vector<Tensor>& indices, Scalar number);
Tensor index_put(const Tensor& input, const std::vector<Tensor>& indices, const Tensor& values,
                 bool accumulate);
Tensor nonzero(const Tensor& input);  // [n, dim]
std::vector<Tensor> nonzero_tuple(const Tensor& input);  // one [n] per dimension
Tensor masked_select(const Tensor& input, const Tensor& mask);
Tensor index_select(const Tensor& input, std::int64_t dim, const Tensor& index);
// ---- gather and scatter (scatter.cpp): index has the shape of the result
Tensor gather(const Tensor& input, std::int64_t dim, const Tensor& index);
Tensor scatter(const Tensor& input, std::int64_t dim, const Tensor& index, const Tensor& src);
Tensor scatter_add(const Tensor& input, std::int64_t dim, const Tensor& index, const Tensor& src);
void scatter_(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src);
void scatter_add_(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src);
// A number as the source of a scatter at index.
Tensor source_of(Scalar value, const Tensor& input, const Tensor& index);
Tensor scatter_value(const Tensor& input, std::int64_t dim, const Tensor& index, Scalar value);
// reduce: "add" or "multiply"
Tensor scatter_reduced(const Tensor& input, std::int64_t dim, const Tensor& index,
                       const Tensor& src, std::string_view reduce);
Tensor scatter_value_reduced(const Tensor& input, std::int64_t dim, const Tensor& index,
                             Scalar value, std::string_view reduce);
Tensor index_add(const Tensor& input, std::int64_t dim, const Tensor& index, const Tensor& source,
                 Scalar alpha);  // index_write.cpp

// ---- joins, repeats, flips (join.cpp, repeat.cpp, flip.cpp); more in join.h
Tensor cat(const std::vector<Tensor>& tensors, std::int64_t dim);
Tensor stack(const std::vector<Tensor>& tensors, std::int64_t dim);
Tensor repeat(const Tensor& input, const Shape& repeats);
Tensor flip(const Tensor& input, Sizes dims);
Tensor roll(const Tensor& input, Sizes shifts, Sizes dims);

// ---- arithmetic that other ops use (pointwise.cpp) and sums (reduce.cpp)
Tensor add(const Tensor& a, const Tensor& b);
Tensor sub(const Tensor& a, const Tensor& b);
Tensor mul(const Tensor& a, const Tensor& b);
Tensor mul(const Tensor& a, Scalar b);
Tensor div(const Tensor& a, const Tensor& b);
Tensor neg(const Tensor& a);
void add_into(const Tensor& self, const Tensor& other);  // self += other; no history
Tensor sum(const Tensor& input, Sizes dims, bool keepdim, std::optional<DType> dtype = {});

// ---- gradients (gradients.cpp): what backward formulas share
Tensor sum_to(const Tensor& g, const Shape& shape);  // adds up what broadcasting had spread
Tensor sum_to(const Tensor& g, Sizes shape);
Shape with_rows(const Tensor& rows, Sizes shape);  // of gradients with rows in front (Rows)
Tensor sum_rows_to(const Tensor& rows, Sizes shape);  // sum_to() of each

// ---- in-place recording (inplace.cpp)
// Before writing: refuses leaves that require grad and views of them (torch's words), inference
// tensors in autograd, and outputs that overlap themselves.
void check_inplace(const Tensor& self, bool records, const char* op);
void check_no_internal_overlap(const Tensor& self, const char* op);
bool overlaps_itself(const Tensor& self);  // an expanded tensor, for example
// The same as a warning, of writes by indices.
void warn_of_internal_overlap(const Tensor& self, const char* op);
// Refuses to write to `out` what is found by or read from `in`, where they share elements.
void check_apart(const Tensor& out, const Tensor& in);
// After writing: counts the version up. With `node` (whose first input is self), self's history
// becomes that node's, and so does its base's where self is a view.
void finish_inplace(const Tensor& self);
void finish_inplace(const Tensor& self, Ref<Node> node);
// A result that was made by writes before it was returned, so its version is 0 as any result's.
inline Tensor as_new(Tensor made) {
  made->version() = 0;
  return made;
}

template <class F, class... T>
void record_inplace(const char* name, const Tensor& self, F&& f, const T&... inputs) {
  if (!needs_grad(self, inputs...) || !is_differentiable(self.dtype())) return finish_inplace(self);
  auto node =
      Ref<Node>::adopt(new typename NodeOf<std::decay_t<F>>::type(name, std::forward<F>(f)));
  connect(*node, self);
  (connect(*node, inputs), ...);
  finish_inplace(self, std::move(node));
}

}  // namespace rushlight
