// Pointwise calls on a device: which row of the table, which of its ways, and the search for an
// integer divisor that is zero.
#include "kernels.h"
#include "kernels/cuda/families.h"

namespace rushlight::gpu {

PointwiseJob make_job(const PointwiseCall& c, int outputs, int inputs, int parameters) {
  PointwiseJob job = {};
  Index steps[kMostOperands] = {};
  for (int k = 0; k < outputs + inputs; ++k) {
    const Operand& o = k < outputs ? c.out[k] : c.in[k - outputs];
    job.is_scalar[k] = o.data && o.is_scalar();
    job.dtype[k] = o.dtype;
    if (job.is_scalar[k])
      job.scalar[k] = *static_cast<const Scalar*>(o.data);
    else
      job.data[k] = o.data;
  }
  for (int d = c.rank - 1; d >= 0; --d) {
    for (int k = 0; k < outputs + inputs; ++k) {
      const Operand& o = k < outputs ? c.out[k] : c.in[k - outputs];
      // An operand without memory never prevents merging.
      steps[k] = job.data[k]      ? o.strides[d]
                 : job.items.rank ? job.items.strides[k][job.items.rank - 1] *
                                        job.items.sizes[job.items.rank - 1]
                                  : 0;
    }
    job.items.add_array(c.sizes[d], steps);
  }
  for (int p = 0; p < parameters; ++p) job.parameters[p] = c.parameters[p];
  return job;
}

bool cut_into_vectors(PointwiseJob& job, int outputs, int operands, unsigned bools,
                      bool bool_result) {
  Strided<kMostOperands>& items = job.items;
  if (items.rank == 0 || items.rank > 3 || items.numel == 0) return false;
  for (int k = 0; k < operands; ++k) {
    if (!job.data[k]) continue;
    const bool is_bool = k < outputs ? bool_result : bools >> (k - outputs) & 1;
    const DType d = job.dtype[k];
    const Index step = items.strides[k][0];
    if (is_bool ? d != DType::boolean : d != DType::float32 && !is_reduced(d)) return false;
    if (step != 1 && (step != 0 || k < outputs)) return false;
    job.is_single[k] = step == 0;
    job.is_aligned[k] =
        step == 1 && reinterpret_cast<std::uintptr_t>(job.data[k]) % (item_size(d) * kVector) == 0;
    for (int i = 1; i < items.rank; ++i) job.is_aligned[k] &= items.strides[k][i] % kVector == 0;
  }
  job.length = items.sizes[0];
  items.numel /= job.length;
  items.sizes[0] = (job.length + kVector - 1) / kVector;
  items.numel *= items.sizes[0];
  for (int k = 0; k < operands; ++k) items.strides[k][0] *= kVector;
  return true;
}

namespace {

const PointwiseRow& row_at(int op) {
  static const PointwiseTable table = [] {
    PointwiseTable rows;
    append_arithmetic_rows(rows);
    append_selection_rows(rows);
    append_comparison_rows(rows);
    append_exponential_rows(rows);
    append_trigonometric_rows(rows);
    append_activation_rows(rows);
    append_loss_rows(rows);
    append_special_rows(rows);
    append_bessel_rows(rows);
    PointwiseRow* wide = rows.data();
    wide = fill_wide_arithmetic_rows(wide);
    wide = fill_wide_selection_rows(wide);
    wide = fill_wide_comparison_rows(wide);
    wide = fill_wide_exponential_rows(wide);
    wide = fill_wide_trigonometric_rows(wide);
    wide = fill_wide_activation_rows(wide);
    fill_wide_loss_rows(wide);
    return rows;
  }();
  return table[std::size_t(op)];
}

__global__ void find_zero(Strided<1> items, const void* divisor, DType dtype,
                          unsigned long long* first) {
  for (Index i = first_item(); i < items.numel; i += stride()) {
    Index at[1];
    items.at(i, at);
    if (load_as<Index>(divisor, at[0], dtype) == 0) atomicMin(first, (unsigned long long)(i));
  }
}

// Waits for the device: integers are rarely divided by a tensor, and a result that says
// nothing of a division by zero would be a wrong one.
Index zero_in(const PointwiseCall& c, const Operand& divisor) {
  if (divisor.is_scalar()) return static_cast<const Scalar*>(divisor.data)->as_int() == 0 ? 0 : -1;
  Strided<1> items;
  for (int d = c.rank - 1; d >= 0; --d) items.add(c.sizes[d], divisor.strides[d]);
  const Scratch<unsigned long long> first(1, "division");
  check(cudaMemsetAsync(first.data(), 0xff, sizeof(unsigned long long), current().stream),
        "division");
  launch_items("division", find_zero, items.numel, items, static_cast<const void*>(divisor.data),
               divisor.dtype, first.data());
  return static_cast<Index>(fetch(first.data(), "division"));
}

Index forward(int op, const PointwiseCall& c) {
  const PointwiseRow& row = row_at(op);
  if (row.divides && c.computes == Computes::integer)
    if (const Index zero = zero_in(c, c.in[1]); zero >= 0) return zero;
  row.forward[int(c.computes)](c);
  return -1;
}

void backward(int op, const PointwiseCall& c) { row_at(op).backward[int(c.computes)](c); }

}  // namespace

const PointwiseKernels pointwise_kernels = {forward, backward, nullptr};

}  // namespace rushlight::gpu
