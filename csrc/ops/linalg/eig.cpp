// Eigenvalues of matrices that need not be symmetric: complex numbers, by LAPACK's geev, with the
// gradient of Boeddeker and others (2017).
#include "autograd/showing.h"
#include "ops/linalg/columns.h"
#include "ops/pointwise/pointwise.h"
#include "ops/reduce/reduce.h"
#include "ops/triangular.h"

namespace rushlight {

namespace {

// The vectors that geev has packed: of the two of a complex pair, which is `first` where the
// imaginary part of the value is positive, the real and the imaginary part.
Tensor unpacked(const Tensor& packed, const Tensor& imaginary) {
  const std::int64_t one[] = {1}, back[] = {-1}, last[] = {-1};
  const Tensor row = unsqueeze(imaginary, -2), none = zeros_like(packed);
  const Tensor first = apply<Gt>(row, Scalar(0)), second = apply<Lt>(row, Scalar(0));
  const Tensor re = apply<Where>(second, roll(packed, one, last), packed);
  const Tensor im =
      apply<Where>(first, roll(packed, back, last), apply<Where>(second, neg(packed), none));
  return complex_of(re, im);
}

Tensor eig_gradient(Name name, const Tensor& values, const Tensor& vectors, const Tensor& gw,
                    const Tensor& gv) {
  const Tensor rows = adjoint(vectors);
  Tensor inner;
  if (gv) {
    const Tensor turn = matmul(rows, gv);
    const Tensor along = diagonal_of(turn);
    check_turns(
        "linalg_eig_backward: The eigenvectors in the complex case are specified up to "
        "multiplication by e^{i phi}. The specified loss function depends on this quantity, so it "
        "is ill-defined.",
        along);
    const Tensor across = sub(turn, mul(matmul(rows, vectors), unsqueeze(real(along), -2)));
    const Tensor one =
        eye(values.size(-1), values.size(-1), {real_of(values.dtype()), values.device()});
    const Tensor gaps = conj(sub(unsqueeze(values, -2), unsqueeze(values, -1)));
    // The diagonal of `across` is imaginary, and 0 but for roundings.
    inner = mul(div(across, add(gaps, one)), apply<Rsub>(one, Scalar(1)));
  }
  if (gw) {
    const Tensor moved = diag_embed(gw, 0, -2, -1);
    inner = inner ? add(inner, moved) : moved;
  }
  return std::get<0>(linalg_solve(name, rows, matmul(inner, rows)));
}

}  // namespace

Pair linalg_eig(Name name, const Tensor& input, bool vectors) {
  linalg_check(name, input, true);
  const Tensor a = detach(input);  // whose sizes no other thread changes
  const bool is_meta = a.device().is_meta();
  if (!is_meta && !backend(a.device()).linalg->eig)
    return back(linalg_eig(name, on_host(input), vectors), a.device());
  const std::int64_t n = a.size(-1);
  vectors |= needs_grad(input);
  const bool complex = is_complex(a.dtype());
  Tensor w = empty(with_last(a, {complex ? n : 2 * n}), a.dtype(), a.device());
  Tensor v = vectors ? empty_columns(a, n, n) : Tensor();
  {
    const GradMode off(false);
    if (a.numel() && !is_meta) {
      const Tensor lost = columns_of(a);
      // geev may run forever on what is not a number.
      if (!item(all(apply<Eq>(sub(lost, lost), Scalar(0)), {}, false)).as_double())
        fail<RuntimeError>("torch.", name, ": input tensor should not contain infs or NaNs.\n",
                           describe("input", a));
      const LinalgKernels& kernels = linalg_kernels(name, a);
      const Tensor info = zeros(with_last(a, {}), DType::int32, a.device());
      const View from = batch_of_matrices(lost), values = batch_of_rows(w);
      const View to = vectors ? batch_of_matrices(v) : View{}, codes = batch_of_numbers(info);
      {
        const Unlocked unlocked(linalg_work(a) * 20, {&lost, &info, &w, &v});
        kernels.eig(from, values, to, codes);
      }
      linalg_check_info(name, info,
                        "The algorithm failed to converge because the input matrix is "
                        "ill-conditioned or has too many repeated eigenvalues (error code: {}).");
    }
    if (!complex) {
      const Tensor imaginary = slice(w, -1, n, 2 * n, 1);
      if (vectors) v = unpacked(v, imaginary);
      w = complex_of(slice(w, -1, 0, n, 1), imaginary);
    }
  }
  Tensor outs[] = {w, v};
  if (vectors)
    record_many(
        "LinalgEigBackward0", outs,
        showing(
            "eigenvalues eigenvectors",
            [title = std::string(name), complex](std::span<Tensor> g, Node& self,
                                                 const SavedOutput& w, const SavedOutput& v) {
              const Tensor out = eig_gradient(title, w.get(self), v.get(self), g[0], g[1]);
              return Gradients(complex ? out : real(out));
            },
            SavedOutput(w, 0), SavedOutput(v, 1)),
        input);
  return {outs[0], outs[1]};
}

}  // namespace rushlight
