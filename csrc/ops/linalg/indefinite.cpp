// L D L^T, or L D L^H, of symmetric and Hermitian matrices, and solving with it: by LAPACK, on the
// host also where the matrices are a GPU's.
#include "ops/linalg/columns.h"
#include "ops/pointwise/pointwise.h"
#include "ops/triangular.h"

namespace rushlight {
namespace {

[[noreturn]] Gradients no_derivative(const char* name) {
  fail<RuntimeError>("derivative for aten::", name,
                     " is not implemented\ntorch.linalg.solve() has one");
}

}  // namespace

Triple linalg_ldl_factor(const Tensor& input, bool hermitian) {
  const Tensor a = detach(input);  // whose sizes no other thread changes
  constexpr const char* kName = "torch.linalg.ldl_factor_ex";
  if (is_reduced(a.dtype()) && a.dim() >= 2)
    fail<NotImplementedError>("\"ldl_factor_kernel_cpu\" not implemented for '",
                              scalar_name(a.dtype()), "'\n", kName, ": convert it with .float()");
  linalg_check(kName, a, true);
  const bool is_meta = a.device().is_meta();
  if (!is_meta && !backend(a.device()).linalg->ldl)
    return back(linalg_ldl_factor(on_host(input), hermitian), a.device());
  Tensor factors = columns_of(a);
  const Tensor pivots = empty(with_last(a, {a.size(-1)}), DType::int32, a.device());
  const Tensor info = zeros(with_last(a, {}), DType::int32, a.device());
  if (a.numel() && !is_meta) {
    const GradMode off(false);
    const LinalgKernels& kernels = linalg_kernels(kName, a);
    const View f = batch_of_matrices(factors), p = batch_of_rows(pivots),
               i = batch_of_numbers(info);
    {
      const Unlocked unlocked(linalg_work(a), {&factors, &pivots, &info});
      kernels.ldl(f, p, hermitian, i);
    }
    factors = alias(transposed(triu(transposed(factors), 0)));  // by columns, as it was
  }
  factors = record(
      "LinalgLdlFactorExBackward0", std::move(factors),
      [](Tensor) { return no_derivative("linalg_ldl_factor_ex"); }, input);
  return {factors, pivots, info};
}

static void check_ldl_solve(const Tensor& ld, const Tensor& pivots, const Tensor& b) {
  constexpr const char* kName = "torch.linalg.ldl_solve";
  linalg_check(kName, ld, true);
  if (b.dim() < 2)
    fail<IndexError>("Dimension out of range (expected to be in range of [-1, 0], but got -2)\n",
                     kName, ": B must have at least 2 dimensions: ", describe("B", b));
  if (b.size(-2) != ld.size(-1))
    fail<RuntimeError>("Incompatible matrix sizes for ", kName, ": each A matrix is ", ld.size(-1),
                       " by ", ld.size(-1), " but each b matrix is ", b.size(-2), " by ",
                       b.size(-1));
  if (b.dtype() != ld.dtype())
    fail<RuntimeError>("Expected b and A to have the same dtype, but found b of type ",
                       scalar_name(b.dtype()), " and A of type ", scalar_name(ld.dtype()),
                       " instead.\n", kName, ": A is LD, b is B");
  if (!same(pivots.sizes(), ld.sizes().first(std::size_t(ld.dim() - 1))))
    fail<RuntimeError>(kName, ": Expected LD.shape[:-1] and pivots.shape to be the same, but got ",
                       "pivots with shape ", pivots.sizes(), " instead\n", describe("LD", ld));
  if (!is_integral(pivots.dtype()) || pivots.dtype() == DType::boolean)
    fail<RuntimeError>(kName, ": Expected pivots to be integers. Got ",
                       scalar_name(pivots.dtype()));
  if (b.size(-1) > 1 << 30) fail<RuntimeError>(kName, ": B is too large: ", b.sizes());
  check_same_device(kName, ld, "LD", b, "B");
  check_same_device(kName, ld, "LD", pivots, "pivots");
}

Tensor linalg_ldl_solve(const Tensor& ld, const Tensor& pivots, const Tensor& b, bool hermitian) {
  check_ldl_solve(ld, pivots, b);
  const bool is_meta = ld.device().is_meta();
  if (!is_meta && !backend(ld.device()).linalg->ldl_solve)
    return back(linalg_ldl_solve(on_host(ld), on_host(pivots), on_host(b), hermitian), ld.device());
  const auto [factors, right] = broadcast_batches(ld, b);
  Tensor x = columns_of(right);
  if (factors.numel() && right.numel() && !is_meta) {
    const GradMode off(false);
    const LinalgKernels& kernels = linalg_kernels("torch.linalg.ldl_solve", ld);
    const Tensor dense = columns_of(factors);
    const Tensor wide = expand(pivots, factors.sizes().first(std::size_t(factors.dim() - 1)));
    // What does not fit 32 bits must not become a row's number.
    const Tensor limit = full(Shape{}, double(1 << 30), DType::int64, ld.device());
    const Tensor rows = contiguous(to(
        apply<Maximum>(apply<Minimum>(to(wide, DType::int64), limit), neg(limit)), DType::int32));
    const View m = batch_of_matrices(dense), p = batch_of_rows(rows), to = batch_of_matrices(x);
    std::int64_t bad;
    {
      const Unlocked unlocked(linalg_work(dense), {&dense, &rows, &x});
      bad = kernels.ldl_solve(m, p, to, hermitian);
    }
    if (bad >= 0) {
      const std::int64_t pivot = p.as<const int>()[bad], n = ld.size(-1);
      if (pivot == 0)
        fail<RuntimeError>("Pivots given to ldl_solve must all satisfy |pivot| >= 1. Did you ",
                           "properly pass the result of ldl_factor?");
      if (pivot > n || pivot < -n)
        fail<RuntimeError>("Pivots given to ldl_solve must all satisfy |pivot| <= LD.size(-2). ",
                           "Did you properly pass the result of ldl_factor?\none is ", pivot);
      fail<RuntimeError>("Pivots given to ldl_solve that are negative must come in pairs. Did you ",
                         "properly pass the result of ldl_factor?\n", pivot, " has no neighbour");
    }
  }
  return record(
      "LinalgLdlSolveBackward0", std::move(x),
      [](Tensor) { return no_derivative("linalg_ldl_solve"); }, ld, b);
}

}  // namespace rushlight
