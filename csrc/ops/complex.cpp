// Views between complex tensors and their real and imaginary parts, which lie side by side. Note:
// gradients do not flow through them; a tensor that needs one is refused.
#include "ops/ops.h"
#include "ops/view.h"

namespace rushlight {

static void check_without_gradient(const char* op, const Tensor& input) {
  if (needs_grad(input))
    fail<NotImplementedError>(op, "(): gradients of complex tensors are not in rushlight\ntake ",
                              op, "(x.detach())");
}

static Tensor seen_as_parts(const Tensor& input, DType dtype, Sizes sizes,
                            const std::int64_t* strides, std::int64_t offset) {
  Tensor out = from_storage(input->storage, dtype, sizes, strides, offset);
  out->inference = input->inference;
  out->writes = input->writes;
  return out;
}

Tensor view_as_real(const Tensor& input) {
  if (!is_complex(input.dtype()))
    fail<RuntimeError>("view_as_real is only supported for complex tensors");
  check_without_gradient("view_as_real", input);
  Shape shape = input.shape();
  Strides strides = input->strides;
  for (int d = 0; d < input.dim(); ++d)
    strides[std::size_t(d)] = checked_mul(strides[std::size_t(d)], 2);
  shape.push_back(2);
  strides[std::size_t(input.dim())] = 1;
  return seen_as_parts(input, real_of(input.dtype()), shape, strides.data(),
                       checked_mul(input.offset(), 2));
}

Tensor view_as_complex(const Tensor& input) {
  const DType dtype = input.dtype();
  if (dtype != DType::float16 && dtype != DType::float32 && dtype != DType::float64)
    fail<RuntimeError>(
        "view_as_complex is only supported for half, float and double tensors, but got a tensor of "
        "scalar type: ",
        scalar_name(dtype));
  if (input.dim() == 0) fail<RuntimeError>("Input tensor must have one or more dimensions");
  const int last = input.dim() - 1;
  if (input->shape[last] != 2) fail<RuntimeError>("Tensor must have a last dimension of size 2");
  if (input->strides[std::size_t(last)] != 1)
    fail<RuntimeError>("Tensor must have a last dimension with stride 1");
  check_without_gradient("view_as_complex", input);
  Shape shape;
  Strides strides{};
  for (int d = 0; d < last; ++d) {
    const std::int64_t step = input->strides[std::size_t(d)];
    if (step % 2)
      fail<RuntimeError>("Tensor must have a stride divisible by 2 for all but last dimension");
    shape.push_back(input->shape[d]);
    strides[std::size_t(d)] = step / 2;
  }
  if (input.offset() % 2) fail<RuntimeError>("Tensor must have a storage_offset divisible by 2");
  return seen_as_parts(input, complex_of(dtype), shape, strides.data(), input.offset() / 2);
}

Tensor complex_of(const Tensor& real, const Tensor& imag) {
  check_same_device("complex", real, "real", imag, "imag");
  for (const Tensor* t : {&real, &imag})
    if (t->dtype() != DType::float16 && t->dtype() != DType::float32 &&
        t->dtype() != DType::float64)
      fail<RuntimeError>("Expected both inputs to be Half, Float or Double tensors but got ",
                         scalar_name(real.dtype()), " and ", scalar_name(imag.dtype()));
  if (real.dtype() != imag.dtype())
    fail<RuntimeError>("Expected object of scalar type ", scalar_name(real.dtype()),
                       " but got scalar type ", scalar_name(imag.dtype()), " for second argument");
  check_without_gradient("complex", real);
  check_without_gradient("complex", imag);
  const DType dtype = complex_of(real.dtype());
  Tensor out = real.shape() == imag.shape()
                   ? empty_like(real, dtype)
                   : empty(broadcast(real.shape(), imag.sizes()), dtype, real.device());
  copy_bits(rushlight::real(out), real);
  copy_bits(rushlight::imag(out), imag);
  return out;
}

Tensor real(const Tensor& input) {
  return is_complex(input.dtype()) ? select(view_as_real(input), -1, 0) : input;
}
Tensor imag(const Tensor& input) {
  if (!is_complex(input.dtype()))
    fail<RuntimeError>("imag is not implemented for tensors with non-complex dtypes.");
  return select(view_as_real(input), -1, 1);
}

}  // namespace rushlight
