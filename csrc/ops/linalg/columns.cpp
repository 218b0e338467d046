// See columns.h.
#include "ops/linalg/columns.h"

#include "ops/pointwise/pointwise.h"
#include "ops/reduce/reduce.h"

namespace rushlight {

Shape with_last(const Tensor& of, std::initializer_list<std::int64_t> sizes) {
  Shape shape = of.shape();
  shape.rank = std::int8_t(shape.rank - 2);
  for (const std::int64_t n : sizes) shape.push_back(n);
  return shape;
}

Tensor empty_columns(const Tensor& of, std::int64_t m, std::int64_t n) {
  Strides strides;
  const Shape swapped = with_last(of, {n, m});
  contiguous_strides(swapped, strides);
  std::swap(strides[std::size_t(swapped.rank - 1)], strides[std::size_t(swapped.rank - 2)]);
  return empty_strided(with_last(of, {m, n}), strides.data(), of.dtype(), of.device());
}

Tensor columns_of(const Tensor& a) {
  Tensor out = empty_columns(a, a.size(-2), a.size(-1));
  if (out.numel() && !out.device().is_meta()) {
    const GradMode off(false);
    copy_bits(out, a);
  }
  return out;
}

static View batched(const Tensor& t, int own) {
  View v = stored_view_of(t);  // of complex numbers too
  std::int64_t batch = 1;
  for (int d = 0; d < t.dim() - own; ++d) batch *= v.sizes[d];
  View out = v;
  out.rank = own + 1;
  out.sizes[0] = batch;
  for (int d = 0; d < own; ++d) {
    out.sizes[d + 1] = v.sizes[t.dim() - own + d];
    out.strides[d + 1] = v.strides[t.dim() - own + d];
  }
  out.strides[0] = own == 2 ? out.sizes[1] * out.sizes[2] : own == 1 ? out.sizes[1] : 1;
  return out;
}
View batch_of_matrices(const Tensor& t) { return batched(t, 2); }
View batch_of_rows(const Tensor& t) { return batched(t, 1); }
View batch_of_numbers(const Tensor& t) { return batched(t, 0); }

bool is_left_to_host(const Tensor& a) {
  if (!a.device().is_cuda()) return false;
  const LinalgKernels& kernels = *backend(a.device()).linalg;
  return kernels.absence() || (is_complex(a.dtype()) && !kernels.takes_complex);
}

const LinalgKernels& linalg_kernels(Name name, const Tensor& a) {
  const LinalgKernels& kernels = *backend(a.device()).linalg;
  if (const char* why = kernels.absence())
    fail<RuntimeError>("Calling ", name, " on a CPU tensor requires compiling with LAPACK.\n", why,
                       ": install rushlight from its wheel, which holds it");
  return kernels;
}

Pair broadcast_batches(const Tensor& a, const Tensor& b) {
  const auto batch = [](const Tensor& t) { return t.sizes().first(std::size_t(t.dim() - 2)); };
  const Shape shape = broadcast(batch(a), batch(b));
  const auto wide = [&](const Tensor& t) {
    Shape whole = shape;
    whole.push_back(t.size(-2));
    whole.push_back(t.size(-1));
    return expand(t, whole);
  };
  return {wide(a), wide(b)};
}

void check_turns(std::string_view words, const Tensor& along) {
  if (!is_complex(along.dtype()) || along.numel() == 0 || along.device().is_meta()) return;
  const GradMode off(false);
  const Tensor size = apply<Abs>(imag(along)), whole = apply<Abs>(along);
  const Tensor allowed = apply<Add>(mul(whole, Scalar(1e-2)), Scalar(1e-2));
  if (!(item(amax(sub(size, allowed), {}, false)).as_double() <= 0))
    fail<RuntimeError>(
        words, "\nthe loss has to depend on the directions alone, as abs() of the vectors does");
}

double linalg_work(const Tensor& a) {
  return double(a.numel()) * double(std::min(a.size(-1), a.size(-2))) * 0.2 + 1000;
}

void linalg_check(Name name, const Tensor& a, bool square) {
  if (a.dim() < 2)
    fail<RuntimeError>(name, ": The input tensor A must have at least 2 dimensions.\n",
                       describe("A", a));
  if (square && a.size(-1) != a.size(-2))
    fail<RuntimeError>(name, ": A must be batches of square matrices, but they are ", a.size(-2),
                       " by ", a.size(-1), " matrices");
  const bool complex = a.dtype() == DType::complex64 || a.dtype() == DType::complex128;
  if (!is_floating(a.dtype()) && !complex)
    fail<RuntimeError>(name, ": Expected a floating point or complex tensor as input. Got ",
                       scalar_name(a.dtype()), "\nconvert it with .float() or .double()");
  if (a.dtype() != DType::float32 && a.dtype() != DType::float64 && !complex)
    fail<RuntimeError>(name, ": Low precision dtypes not supported. Got ", scalar_name(a.dtype()),
                       "\nconvert it with .float()");
  if (a.size(-1) > 1 << 30 || a.size(-2) > 1 << 30)
    fail<RuntimeError>(name, ": the matrix is too large: ", a.sizes());
}

}  // namespace rushlight
