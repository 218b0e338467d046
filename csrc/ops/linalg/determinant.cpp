// Determinants and the pseudo-inverse: by the factors of linalg.cpp, with gradients of their own.
#include <limits>

#include "autograd/showing.h"
#include "ops/linalg/columns.h"
#include "ops/reduce/reduce.h"
#include "ops/triangular.h"
#include "ops/value.h"

namespace rushlight {
namespace {

Tensor identity_like(const Tensor& a, DType dtype) {
  return eye(a.size(-1), a.size(-1), {dtype, a.device()});
}
// One number for each matrix, times the identity.
Tensor times_identity(const Tensor& numbers, const Tensor& a) {
  return mul(unsqueeze(unsqueeze(numbers, -1), -1), identity_like(a, a.dtype()));
}

// 1 or -1 by the number of exchanges.
Tensor parity(const Tensor& pivots, DType dtype) {
  const Tensor here =
      arange(Scalar(1), Scalar(pivots.size(-1) + 1), Scalar(1), {DType::int32, pivots.device()});
  const Value moved = sum((Value(pivots) != Value(here)).tensor(), Shape{-1}.view(), false);
  return to((Value(1) - Value(2) * apply_to_values<Remainder>(moved, Value(2))).tensor(), dtype);
}

Tensor determinant(const Tensor& diagonal, const Tensor& pivots) {
  return mul(prod(diagonal, -1, false, {}), parity(pivots, diagonal.dtype()));
}

// The conjugate of det(A) inv(A)^T, from the factors. An exact 0 among the pivots is replaced by
// epsilon: the product is continuous in A, so that this is its value there, without a look at the
// values.
Tensor cofactors(const Tensor& g, const Tensor& lu, const Tensor& pivots) {
  const double epsilon = real_dtype(lu) == DType::float32 ? std::numeric_limits<float>::epsilon()
                                                          : std::numeric_limits<double>::epsilon();
  const Value entries(diagonal_of(lu));
  const Tensor safe = where(entries == Value(0), Value(epsilon), entries).tensor();
  const Tensor factors = add(lu, diag_embed(sub(safe, entries.tensor()), 0, -2, -1));
  const Tensor scale = mul(g, conj(determinant(safe, pivots)));
  return linalg_lu_solve(factors, pivots, times_identity(scale, lu), true);
}

// The same for a singular A, in ops: by singular values.
Tensor cofactors_of_singular(const Tensor& g, const Tensor& a) {
  const auto [u, s, vh] = linalg_svd("linalg.det", a, true, true);
  Shape square = s.shape();
  square.push_back(s.size(-1));
  const Tensor each = expand(unsqueeze(s, -2), square);
  const Tensor one = identity_like(a, DType::boolean);
  const Tensor others = prod(masked_fill(each, one, as_input(Scalar(1.0))), -1, false, {});
  // Constant where the numbers are real.
  const auto turn = [](const Tensor& t) {
    return conj(linalg_det(is_complex(t.dtype()) ? t : detach(t)));
  };
  const Tensor scale = unsqueeze(unsqueeze(mul(g, mul(turn(u), turn(vh))), -1), -1);
  return matmul(mul(mul(u, unsqueeze(others, -2)), scale), vh);
}

}  // namespace

Tensor linalg_det(const Tensor& a) {
  linalg_check("linalg.det", a, true);
  Tensor lu, pivots, out;
  {
    const GradMode off(false);
    std::tie(lu, pivots, std::ignore) = linalg_lu("linalg.det", a);
    out = determinant(diagonal_of(lu), pivots);
  }
  // Its gradient waits, as torch's does: the ops that serve a regular matrix do not a singular one.
  return record(
      "LinalgDetBackward0", out,
      showing(
          "A result",
          [lu = Saved(lu), pivots = Saved(pivots)](Tensor g, Node& self, const Saved& a,
                                                   const SavedOutput& det) -> Gradients {
            const Tensor &matrix = a.get(), value = det.get(self);
            if (!needs_grad(g, matrix)) return cofactors(g, lu.get(), pivots.get());
            if (!value.device().is_meta() && value.numel() &&
                item(any((Value(detach(value)) == Value(0)).tensor(), {}, false)).as_double() != 0)
              return cofactors_of_singular(g, matrix);
            return std::get<0>(linalg_solve("linalg.det", adjoint(matrix),
                                            times_identity(mul(g, conj(value)), matrix)));
          },
          Saved(a), SavedOutput(out)),
      a);
}

// The gradient by log det: the sign, which only turns, adds an imaginary part.
static Tensor slogdet_change(std::span<Tensor> g, const Tensor& sign) {
  if (!is_complex(sign.dtype()) || !g[0]) return g[1];
  const Tensor turn = imag(mul(g[0], conj(sign)));
  return complex_of(g[1] ? g[1] : zeros_like(turn), turn);
}

Pair linalg_slogdet(const Tensor& a) {
  linalg_check("linalg.slogdet", a, true);
  Tensor lu, pivots, outs[2];
  {
    const GradMode off(false);
    std::tie(lu, pivots, std::ignore) = linalg_lu("linalg.slogdet", a);
    const Value entries(diagonal_of(lu));
    outs[0] =
        mul(prod(apply_to_values<Sgn>(entries).tensor(), -1, false, {}), parity(pivots, a.dtype()));
    outs[1] = sum(log(abs(entries)).tensor(), Shape{-1}.view(), false);
  }
  record_many(
      "LinalgSlogdetBackward0", outs,
      [a = Saved(a), lu = Saved(lu), pivots = Saved(pivots), outs_sign = SavedOutput(outs[0], 0)](
          std::span<Tensor> g, Node& self) -> Gradients {
        const Tensor& matrix = a.get();
        const Tensor change = slogdet_change(g, outs_sign.get(self));
        if (!change) return zeros_like(matrix);
        const Tensor right = times_identity(change, matrix);
        if (!needs_grad(change, matrix))
          return linalg_lu_solve(lu.get(), pivots.get(), right, true);
        return std::get<0>(linalg_solve("linalg.slogdet", adjoint(matrix), right));
      },
      a);
  return {outs[0], outs[1]};
}

// That of Golub and Pereyra (1973), which needs no singular vectors.
Tensor pinv_gradient(const Tensor& matrix, const Tensor& p, const Tensor& g) {
  const auto flip = [](const Tensor& t) { return adjoint(t); };
  const Tensor across = flip(g), pt = flip(p);
  if (matrix.size(-2) <= matrix.size(-1)) {
    const Tensor k = matmul(across, p), right = matmul(k, pt);
    const Tensor within = sub(right, matmul(matmul(matrix, p), right));
    const Tensor outside = matmul(matmul(pt, p), sub(across, matmul(k, matrix)));
    // tolerances for each matrix may have spread the result over a batch
    return sum_to(sub(add(within, outside), flip(matmul(p, k))), matrix.shape());
  }
  const Tensor k = matmul(p, across), left = matmul(pt, k);
  const Tensor outside = matmul(matmul(sub(across, matmul(matrix, k)), p), pt);
  const Tensor within = sub(left, matmul(matmul(left, p), matrix));
  return sum_to(sub(add(outside, within), flip(matmul(k, p))), matrix.shape());
}

Tensor linalg_pinv(const Tensor& a, const Tensor& atol, const Tensor& rtol, bool hermitian) {
  linalg_check("linalg.pinv", a, hermitian);
  Tensor out;
  {
    const GradMode off(false);
    const auto inverse = [&](const Value& values, const Value& sizes) {
      const Value largest(amax(sizes.tensor(), Shape{-1}.view(), true));
      const Value keep = sizes > apply_to_values<Maximum>(Value(atol), Value(rtol) * largest);
      const Value safe = where(keep, values, Value(1));
      return unsqueeze(where(keep, Value(1) / safe, Value(0)).tensor(), -2);
    };
    if (hermitian) {
      const auto [values, vectors, info] = linalg_eigh("linalg.pinv", a, false, true);
      const Tensor scale = inverse(values, abs(Value(values)));
      out = matmul(mul(vectors, scale), adjoint(vectors));
    } else {
      const auto [u, s, vh] = linalg_svd("linalg.pinv", a, false, true);
      out = matmul(mul(adjoint(vh), inverse(s, s)), adjoint(u));
    }
  }
  return record(
      "LinalgPinvBackward0", out,
      [a = Saved(a), pinv = SavedOutput(out)](Tensor g, Node& self) -> Gradients {
        return pinv_gradient(a.get(), pinv.get(self), g);
      },
      a);
}

}  // namespace rushlight
