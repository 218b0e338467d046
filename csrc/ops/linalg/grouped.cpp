// Products of groups of rows, columns or inner elements, whose ends a tensor holds.
#include "autograd/showing.h"
#include "core/dense_view.h"
#include "ops/linalg/matmul.h"

namespace rushlight {
namespace {

using Ends = std::vector<std::int64_t>;

bool has_columns(const Tensor& t) {
  return t.stride(-2) == 1 && t.stride(-1) >= std::max<std::int64_t>(1, t.size(-2));
}

// As torch's kernels read them, 16 bytes at a time: rows or columns that are dense and aligned.
void check_group_layout(const char* name, const Tensor& t) {
  const bool columns = has_columns(t);
  if (!columns && !has_columns(transposed(t)))
    fail<RuntimeError>("Invalid strides/sizes, got ", t.strides(), " for strides and ", t.sizes(),
                       " for sizes\ngrouped_mm(): rows or columns of ", name,
                       " must be dense; contiguous() makes them so");
  if (t.stride(columns ? -1 : -2) * std::int64_t(item_size(t.dtype())) % 16)
    fail<RuntimeError>("strides should be multiple of 16 bytes\n", describe(name, t), ", strides ",
                       t.strides(), " of ", item_size(t.dtype()), " bytes each");
}

void check_groups(const Tensor& a, const Tensor& b, const std::optional<Tensor>& offs) {
  const auto check_dtype = [](const char* name, const Tensor& t) {
    const DType d = t.dtype();
    if (d != DType::float32 && d != DType::bfloat16 && d != DType::float16)
      fail<RuntimeError>("Expected ", name, " to be Float32, BFloat16 or Float16 matrix, got ",
                         scalar_name(d));
  };
  check_dtype("mat_a", a);
  check_dtype("mat_b", b);
  const auto both = [&] { return "\n" + describe("mat_a", a) + "; " + describe("mat_b", b); };
  const bool a_is_2d = a.dim() == 2, b_is_2d = b.dim() == 2;
  if (!a_is_2d && a.dim() != 3) fail<RuntimeError>("mat_a has to be 2 or 3d", both());
  if (!b_is_2d && b.dim() != 3) fail<RuntimeError>("mat_b has to be 2 or 3d", both());
  if (a.size(-1) != b.size(-2))
    fail<RuntimeError>("contraction dimension of mat_a and mat_b must match", both());
  check_group_layout("mat_a", a);
  check_group_layout("mat_b", b);
  if (offs.has_value() != (a_is_2d || b_is_2d))
    fail<RuntimeError>(
        "Have to provide offsets if there is a 2d matrix, or no offset if both matrices are 3d",
        both());
  if (offs) {
    if (offs->dim() != 1) fail<RuntimeError>("offs has to be 1D\n", describe("offs", *offs));
    if (offs->dtype() != DType::int32)
      fail<RuntimeError>("Offsets have to be int32\n", describe("offs", *offs));
    check_same_device("grouped_mm", a, "mat_a", *offs, "offs");
  }
  const std::int64_t groups = offs ? offs->size(0) : a.size(0);
  if (offs && a_is_2d != b_is_2d && (a_is_2d ? b : a).size(0) != groups)
    fail<RuntimeError>("matrix batch sizes have to match\n", describe("offs", *offs), both());
  if (!offs && b.size(0) != groups) fail<RuntimeError>("batched dimension has to match", both());
}

// Where the groups end, which must lie in a dimension of this size; on meta there are no numbers.
Ends ends_in(const Tensor& offs, std::int64_t size) {
  const Tensor here = contiguous(to(offs, DType::int64, kCpu));
  const View v = dense_view(here, DType::int64, offs.numel());
  Ends ends(v.as<std::int64_t>(), v.as<std::int64_t>() + v.numel);
  std::int64_t last = 0;
  for (const std::int64_t end : ends) {
    if (end < last || end > size)
      fail<RuntimeError>("grouped_mm(): offs must not decrease, nor pass the ", size,
                         " elements that it divides, but ", end, " comes after ", last);
    last = end;
  }
  return ends;
}

// Rows as wide as torch makes them: of whole 16 bytes.
Tensor empty_groups(const Shape& shape, DType dtype, Device device) {
  const std::int64_t unit = 16 / std::int64_t(item_size(dtype));
  const int d = shape.rank;
  std::int64_t strides[3] = {};
  strides[d - 1] = 1;
  strides[d - 2] = checked_mul(std::max<std::int64_t>(1, (shape[d - 1] + unit - 1) / unit), unit);
  if (d == 3) strides[0] = checked_mul(strides[1], shape[1]);
  return empty_strided(shape.view(), strides, dtype, device);
}

Tensor group_products(const Tensor& a, const Tensor& b, const std::optional<Tensor>& offs) {
  const GradMode off(false);
  const std::int64_t rows = a.size(-2), columns = b.size(-1);
  const bool a_is_2d = a.dim() == 2, b_is_2d = b.dim() == 2;
  const Shape shape = a_is_2d != b_is_2d ? Shape{rows, columns}
                                         : Shape{offs ? offs->size(0) : a.size(0), rows, columns};
  const Tensor out = empty_groups(shape, a.dtype(), a.device());
  if (a.device().is_meta()) return out;
  if (!offs) {
    copy_bits(out, bmm(a, b));
    return out;
  }
  const int divided = a_is_2d && !b_is_2d ? 0 : 1;  // dimension of a, of out and b, or of a and b
  const std::int64_t size = b_is_2d && !a_is_2d ? columns : a.size(divided ? -1 : 0);
  std::int64_t start = 0, group = 0;
  for (const std::int64_t end : ends_in(*offs, size)) {
    const auto part = [&](const Tensor& t, int dim) { return narrow(t, dim, start, end - start); };
    if (a_is_2d && b_is_2d)
      copy_bits(select(out, 0, group), mm(part(a, 1), part(b, 0)));
    else if (a_is_2d)
      copy_bits(part(out, 0), mm(part(a, 0), select(b, 0, group)));
    else
      copy_bits(part(out, 1), mm(select(a, 0, group), part(b, 1)));
    start = end, ++group;
  }
  if (!a_is_2d || !b_is_2d) fill_(narrow(out, divided, start, size - start), 0);
  return out;
}

// The gradient of each factor is a product of groups too, laid out as that factor is.
Tensor grouped(const Tensor& a, const Tensor& b, const std::optional<Tensor>& offs) {
  Tensor out = group_products(a, b, offs);
  if (!needs_grad(a, b)) return out;
  const auto backward = [a_columns = has_columns(a), b_columns = has_columns(b)](
                            Tensor g, Node& self, const Saved& b, const Saved& offs,
                            const Saved& a) {
    const auto ends = offs ? std::optional<Tensor>(offs.get()) : std::nullopt;
    const auto product = [&](const Tensor& left, const Tensor& right, bool columns) {
      if (columns) return transposed(grouped(transposed(right), transposed(left), ends));
      return grouped(left, right, ends);
    };
    Tensor of_a, of_b;
    if (self.needs_input(0)) of_a = product(g, transposed(b.get()), a_columns);
    if (self.needs_input(1)) of_b = product(transposed(a.get()), g, b_columns);
    return Gradients(of_a, of_b);
  };
  return record("GroupedMmBackward0", std::move(out),
                showing("mat2 offs self", backward, wants_grad(a) ? Saved(b) : Saved(),
                        offs ? Saved(*offs) : Saved(), wants_grad(b) ? Saved(a) : Saved()),
                a, b);
}

}  // namespace

Tensor grouped_mm(const Tensor& a, const Tensor& b, const std::optional<Tensor>& offs,
                  const std::optional<Tensor>& bias, std::optional<DType> out_dtype) {
  check_same_device("grouped_mm", a, "mat_a", b, "mat_b");
  check_groups(a, b, offs);
  if (bias) fail<RuntimeError>("Bias not supported yet\nadd it to the result");
  if (out_dtype && *out_dtype != a.dtype())
    fail<RuntimeError>("Grouped gemm output dtype must match `mat_a` dtype\nout_dtype: ",
                       *out_dtype, "; ", describe("mat_a", a));
  if (a.dtype() != b.dtype())
    fail<RuntimeError>("expected m1 and m2 to have the same dtype, but got: ", c_name(a.dtype()),
                       " != ", c_name(b.dtype()), "\n", describe("mat_a", a), "; ",
                       describe("mat_b", b));
  return grouped(a, b, offs);
}

}  // namespace rushlight
