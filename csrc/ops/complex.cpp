// Complex tensors and their real and imaginary parts, which lie side by side. Note: a view of the
// other kind has other dimensions than its base, so no recorded write goes through it.
#include "ops/pointwise/complex.h"

#include "core/backend.h"
#include "core/unlocked.h"
#include "ops/ops.h"
#include "ops/view.h"

namespace rushlight {

template <class F>
static Tensor seen_as_parts(const char* node, const Tensor& input, DType dtype, Sizes sizes,
                            const std::int64_t* strides, std::int64_t offset, F&& backward) {
  Tensor out = from_storage(input->storage, dtype, sizes, strides, offset);
  out->inference = input->inference;
  out->writes = input->writes;
  return make_view(node, input, std::move(out), std::forward<F>(backward));
}

Tensor view_as_real(const Tensor& input) {
  if (!is_complex(input.dtype()))
    fail<RuntimeError>("view_as_real is only supported for complex tensors");
  Shape shape = input.shape();
  Strides strides = input->strides;
  for (int d = 0; d < input.dim(); ++d)
    strides[std::size_t(d)] = checked_mul(strides[std::size_t(d)], 2);
  shape.push_back(2);
  strides[std::size_t(input.dim())] = 1;
  return seen_as_parts(
      "ViewAsRealBackward0", input, real_of(input.dtype()), shape, strides.data(),
      checked_mul(input.offset(), 2), [](Tensor g) {
        // Without elements any strides are contiguous, also those that no pairs have.
        return Gradients(view_as_complex(g.numel() ? contiguous(g) : row_major_clone(g)));
      });
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
  return seen_as_parts("ViewAsComplexBackward0", input, complex_of(dtype), shape, strides.data(),
                       input.offset() / 2, [](Tensor g) { return Gradients(view_as_real(g)); });
}

// Of complex(real, imag) and polar(abs, angle).
static void check_parts(const char* op, const Tensor& a, const char* a_name, const Tensor& b,
                        const char* b_name) {
  check_same_device(op, a, a_name, b, b_name);
  for (const Tensor* t : {&a, &b})
    if (t->dtype() != DType::float16 && t->dtype() != DType::float32 &&
        t->dtype() != DType::float64)
      fail<RuntimeError>("Expected both inputs to be Half, Float or Double tensors but got ",
                         scalar_name(a.dtype()), " and ", scalar_name(b.dtype()));
  if (a.dtype() != b.dtype())
    fail<RuntimeError>("Expected object of scalar type ", scalar_name(a.dtype()),
                       " but got scalar type ", scalar_name(b.dtype()), " for second argument");
}

// Both parts at once, where they lie as they are to lie in `out`. False: they do not.
static bool write_parts(const Tensor& out, const Tensor& real, const Tensor& imag) {
  const auto kernel = out.device().is_meta() ? nullptr : backend(out.device()).copy->interleave;
  if (!kernel || !out.numel() || !real.is_contiguous() || !imag.is_contiguous() ||
      real.numel() != out.numel() || imag.numel() != out.numel())
    return false;
  const View to = view_of(view_as_real(out)), a = view_of(real), b = view_of(imag);
  const Unlocked unlocked(double(out.numel()) * 0.5, {&out, &real, &imag});
  kernel(to, a, b);
  return true;
}

Tensor complex_of(const Tensor& real, const Tensor& imag, const char* node) {
  check_parts("complex", real, "real", imag, "imag");
  const DType dtype = complex_of(real.dtype());
  Tensor out = real.shape() == imag.shape()
                   ? empty_like(real, dtype)
                   : empty(broadcast(real.shape(), imag.sizes()), dtype, real.device());
  {
    const GradMode off(false);
    if (!write_parts(out, real, imag)) {
      copy_bits(rushlight::real(out), real);
      copy_bits(rushlight::imag(out), imag);
    }
  }
  return record(
      node, std::move(out),
      [a = real.shape(), b = imag.shape()](Tensor g) {
        return Gradients(sum_to(rushlight::real(g), a), sum_to(rushlight::imag(g), b));
      },
      real, imag);
}

Tensor polar(const Tensor& abs, const Tensor& angle) {
  check_parts("polar", abs, "abs", angle, "angle");
  if (abs.dtype() == DType::float16)
    fail<NotImplementedError>("\"polar_cpu\" not implemented for 'Half'\n",
                              "polar(): convert both, for example with .float()");
  const auto parts = [](const Tensor& r, const Tensor& a) {
    return complex_of(mul(r, apply<Cos>(a)), mul(r, apply<Sin>(a)));
  };
  Tensor out;
  {
    const GradMode off(false);
    out = parts(abs, angle);
  }
  return record(
      "PolarBackward0", std::move(out),
      [r = Saved(abs), a = Saved(angle)](Tensor g) {
        const Tensor abs = r.get(), angle = a.get();
        const Tensor c = apply<Cos>(angle), s = apply<Sin>(angle), x = real(g), y = imag(g);
        return Gradients(sum_to(add(mul(x, c), mul(y, s)), abs.shape()),
                         sum_to(mul(abs, sub(mul(y, c), mul(x, s))), angle.shape()));
      },
      abs, angle);
}

Tensor conj(const Tensor& input) {
  if (!is_complex(input.dtype())) return input;
  const Input in[] = {as_input(input)};
  Tensor out = of_pairs(ComplexFormula::conjugate, in, 1, input.dtype());
  if (!out) {
    const GradMode off(false);
    out = empty_like(input);
    copy_bits(real(out), real(input));
    copy_bits(imag(out), neg(imag(input)));
  }
  return record(
      "ConjBackward0", std::move(out), [](Tensor g) { return Gradients(conj(g)); }, input);
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
