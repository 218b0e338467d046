// Eigenvalues of matrices that need not be symmetric: complex numbers, by LAPACK's geev. The
// gradient (Boeddeker and others 2017) is written with real matrices of twice the size,
// [[re, -im], [im, re]], whose products and inverses are those of the complex ones.
#include "autograd/showing.h"
#include "ops/linalg/columns.h"
#include "ops/pointwise/pointwise.h"
#include "ops/reduce/reduce.h"
#include "ops/triangular.h"

namespace rushlight {

Tensor in_real_numbers(const Tensor& z) {
  const Tensor re = real(z), im = imag(z);
  return cat({cat({re, neg(im)}, -1), cat({im, re}, -1)}, -2);
}

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

Tensor in_complex_numbers(const Tensor& z) {
  const std::int64_t n = z.size(-1) / 2;
  const Tensor left = slice(z, -1, 0, n, 1);
  return complex_of(slice(left, -2, 0, n, 1), slice(left, -2, n, 2 * n, 1));
}
// Each vector may be turned by any complex number of size 1: a function of them that changes then
// has no gradient.
void check_turns(Name name, const Tensor& along) {
  if (along.numel() == 0 || along.device().is_meta()) return;
  const GradMode off(false);
  const Tensor size = apply<Abs>(imag(along)), whole = apply<Abs>(along);
  const Tensor allowed = apply<Add>(mul(whole, Scalar(1e-2)), Scalar(1e-2));
  if (item(amax(sub(size, allowed), {}, false)).as_double() > 0)
    fail<RuntimeError>(
        name,
        "_backward: The eigenvectors in the complex case are specified up to multiplication by "
        "e^{i phi}. The specified loss function depends on this quantity, so it is ill-defined.\n"
        "the loss has to depend on the directions alone, as abs() of the vectors does");
}

Tensor eig_gradient(Name name, const Tensor& values, const Tensor& vectors, const Tensor& gw,
                    const Tensor& gv) {
  const Tensor adjoint = transposed(in_real_numbers(vectors));  // of the vectors
  Tensor inner;
  if (gv) {
    const Tensor turn = in_complex_numbers(matmul(adjoint, in_real_numbers(gv)));
    const Tensor along = diagonal_of(turn);
    check_turns(name, along);
    const Tensor gram = in_complex_numbers(matmul(adjoint, transposed(adjoint)));
    const Tensor across = sub(turn, mul(gram, unsqueeze(real(along), -2)));
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
  const Tensor right = matmul(in_real_numbers(inner), adjoint);
  return real(in_complex_numbers(std::get<0>(linalg_solve(name, adjoint, right))));
}

}  // namespace

Pair linalg_eig(Name name, const Tensor& a, bool vectors) {
  linalg_check(name, a, true);
  const bool is_meta = a.device().is_meta();
  if (!is_meta && !backend(a.device()).linalg->eig)
    return back(linalg_eig(name, on_host(a), vectors), a.device());
  const std::int64_t n = a.size(-1);
  vectors |= needs_grad(a);
  Tensor w = empty(with_last(a, {2 * n}), a.dtype(), a.device());
  Tensor v = vectors ? empty_columns(a, n, n) : Tensor();
  {
    const GradMode off(false);
    if (a.numel() && !is_meta) {
      // geev may run forever on what is not a number.
      if (!item(all(apply<Eq>(sub(a, a), Scalar(0)), {}, false)).as_double())
        fail<RuntimeError>(name, ": input tensor should not contain infs or NaNs.\n",
                           describe("input", a));
      const LinalgKernels& kernels = linalg_kernels(name, a);
      const Tensor lost = columns_of(a);
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
    const Tensor imaginary = slice(w, -1, n, 2 * n, 1);
    if (vectors) v = unpacked(v, imaginary);
    w = complex_of(slice(w, -1, 0, n, 1), imaginary);
  }
  Tensor outs[] = {w, v};
  if (vectors)
    record_many(
        "LinalgEigBackward0", outs,
        showing(
            "eigenvalues eigenvectors",
            [title = std::string("linalg_eig")](std::span<Tensor> g, Node& self,
                                                const SavedOutput& w, const SavedOutput& v) {
              return Gradients(eig_gradient(title, w.get(self), v.get(self), g[0], g[1]));
            },
            SavedOutput(w, 0), SavedOutput(v, 1)),
        a);
  return {outs[0], outs[1]};
}

}  // namespace rushlight
