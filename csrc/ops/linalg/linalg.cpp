// LU, Cholesky, QR, symmetric eigenvalues and singular values: LAPACK's kernels, with gradients
// written in products (Giles 2008; Seeger and others 2017).
#include "ops/linalg/linalg.h"

#include "autograd/showing.h"
#include "ops/linalg/columns.h"
#include "ops/pointwise/pointwise.h"
#include "ops/triangular.h"

namespace rushlight {

Tensor diagonal_of(const Tensor& t) { return diagonal(t, 0, -2, -1); }

namespace {

Tensor info_of(const Tensor& a) { return zeros(with_last(a, {}), DType::int32, a.device()); }
bool runs(const Tensor& a) { return a.numel() && !a.device().is_meta(); }

Tensor on_diagonal(const Tensor& t) { return diag_embed(t, 0, -2, -1); }
// t with its diagonal halved.
Tensor half_diagonal(const Tensor& t) {
  return sub(t, on_diagonal(mul(diagonal_of(t), Scalar(0.5))));
}
// 1 / (s_j - s_i) off the diagonal, 0 on it.
Tensor inverse_gaps(const Tensor& s) {
  const Tensor gaps = sub(unsqueeze(s, -2), unsqueeze(s, -1));
  const std::int64_t n = s.size(-1);
  const Tensor one = eye(n, n, {DType::boolean, s.device()});
  const Tensor safe = masked_fill(gaps, one, as_input(Scalar(1.0)));
  return masked_fill(apply<Reciprocal>(safe), one, as_input(Scalar(0.0)));
}
Tensor plus(const Tensor& a, const Tensor& b) { return !a ? b : !b ? a : add(a, b); }

[[noreturn]] void fail_convergence(Name name, int info, const char* values) {
  if (info < 0)  // LAPACK refuses what is not finite
    fail<LinAlgError>(name,
                      ": The algorithm failed to converge because the input matrix contained "
                      "non-finite values.");
  fail<LinAlgError>(name,
                    ": The algorithm failed to converge because the input matrix is "
                    "ill-conditioned or has too many repeated ",
                    values, " (error code: ", info, ").");
}
// The first that is not 0; the one wait of a decomposition on a GPU.
int failure_in(const Tensor& info) {
  const Tensor host = on_host(info);
  const View v = view_of(host);
  const int* codes = v.as<const int>();
  const int* found = std::find_if(codes, codes + v.numel, [](int code) { return code != 0; });
  return found == codes + v.numel ? 0 : *found;
}

// The gradient of L U, rows as L has them, from that of both packed. What lies beside or below the
// square parts L1 and U1 depends on them and on its own part of the matrix alone.
Tensor lu_gradient(Name name, const Tensor& packed, const Tensor& g) {
  const std::int64_t m = g.size(-2), n = g.size(-1), k = std::min(m, n);
  const auto part = [&](const Tensor& t, bool below, bool beside) {
    return slice(slice(t, -2, below ? k : 0, below ? m : k, 1), -1, beside ? k : 0, beside ? n : k,
                 1);
  };
  const Tensor square = part(packed, false, false), gs = part(g, false, false);
  const Tensor one = eye(k, k, {g.dtype(), g.device()});
  const Tensor lower = adjoint(add(tril(square, -1), one)), upper = triu(square, 0);
  const auto over_lower = [&](const Tensor& t) {  // inv(L1)^H t
    return linalg_solve_triangular(name, lower, t, true, true);
  };
  const auto over_upper = [&](const Tensor& t) {  // t inv(U1)^H
    return adjoint(linalg_solve_triangular(name, upper, adjoint(t), true, false));
  };
  Tensor of_lower = matmul(lower, tril(gs, -1));
  Tensor of_upper = matmul(triu(gs, 0), adjoint(upper));
  if (n > k)
    of_lower = sub(of_lower, matmul(part(g, false, true), adjoint(part(packed, false, true))));
  if (m > k)
    of_upper = sub(of_upper, matmul(adjoint(part(packed, true, false)), part(g, true, false)));
  const Tensor first = over_upper(over_lower(add(tril(of_lower, -1), triu(of_upper, 0))));
  if (n > k) return cat({first, over_lower(part(g, false, true))}, -1);
  if (m > k) return cat({first, over_upper(part(g, true, false))}, -2);
  return first;
}

Tensor with_rows(const Tensor& t, const Tensor& index) {
  if (!is_complex(t.dtype())) return gather(t, -2, index);
  return complex_of(gather(real(t), -2, index), gather(imag(t), -2, index));
}

}  // namespace

Triple linalg_lu(Name name, const Tensor& input) {
  linalg_check(name, input, false);
  const Tensor a = detach(input);  // whose sizes no other thread changes
  if (is_left_to_host(a)) return back(linalg_lu(name, on_host(input)), a.device());
  Tensor packed = columns_of(a), info = info_of(a);
  const std::int64_t k = std::min(a.size(-2), a.size(-1));
  const Tensor pivots = empty(with_last(a, {k}), DType::int32, a.device());
  if (runs(a)) {
    const LinalgKernels& kernels = linalg_kernels(name, a);
    const View p = batch_of_matrices(packed), v = batch_of_rows(pivots), i = batch_of_numbers(info);
    const Unlocked unlocked(linalg_work(a), {&packed, &pivots, &info});
    kernels.lu(p, v, i);
  }
  packed = record(
      "LinalgLuFactorExBackward0", std::move(packed),
      [out = SavedOutput(packed), pivots, title = std::string(name)](Tensor g, Node& self) {
        const Tensor both = lu_gradient(title, out.get(self), g);
        const Tensor rows = linalg_permutation(pivots, g.size(-2), true);
        return Gradients(with_rows(both, expand(unsqueeze(rows, -1), g.shape())));
      },
      input);
  return {packed, pivots, info};
}

// The triangles of column-major matrices, column-major too.
static Tensor triangle(const Tensor& a, bool upper) {
  const Tensor rows = transposed(a);
  return alias(transposed(upper ? tril(rows, 0) : triu(rows, 0)));
}

Pair linalg_cholesky(Name name, const Tensor& input, bool upper) {
  linalg_check(name, input, true);
  const Tensor a = detach(input);  // whose sizes no other thread changes
  if (is_left_to_host(a)) return back(linalg_cholesky(name, on_host(input), upper), a.device());
  Tensor factor = columns_of(a), info = info_of(a);
  if (runs(a)) {
    const LinalgKernels& kernels = linalg_kernels(name, a);
    const View f = batch_of_matrices(factor), i = batch_of_numbers(info);
    const Unlocked unlocked(linalg_work(a), {&factor, &info});
    kernels.cholesky(f, upper, i);
  }
  {
    const GradMode off(false);
    factor = triangle(factor, upper);
  }
  factor = record(
      "LinalgCholeskyExBackward0", std::move(factor),
      showing(
          "L upper",
          [title = std::string(name)](Tensor g, Node& self, const SavedOutput& out, bool upper) {
            const Tensor y = out.get(self);
            const Tensor l = upper ? adjoint(y) : y, gl = upper ? adjoint(g) : g;
            const Tensor turn = matmul(adjoint(l), gl), lh = adjoint(l);
            const Tensor symmetric = mul(add(tril(turn, 0), adjoint(tril(turn, -1))), Scalar(0.5));
            const Tensor left = linalg_solve_triangular(title, lh, symmetric, true, false);
            return Gradients(
                adjoint(linalg_solve_triangular(title, lh, adjoint(left), true, false)));
          },
          SavedOutput(factor), bool(upper)),
      input);
  return {factor, info};
}

// m >= n, or the first m columns: R = [U V] with A = Q [U V].
static Tensor qr_gradient(Name name, const Tensor& q, const Tensor& r, const Tensor& gq,
                          const Tensor& gr) {
  const std::int64_t m = q.size(-2), n = r.size(-1);
  if (m >= n) {
    Tensor inner;
    if (gr) inner = matmul(gr, adjoint(r));
    if (gq) inner = plus(inner, neg(matmul(adjoint(q), gq)));
    inner = triu(inner, 0);
    const Tensor out = plus(matmul(q, half_diagonal(add(inner, adjoint(inner)))), gq);
    return adjoint(linalg_solve_triangular(name, r, adjoint(out), true, false));
  }
  const Tensor u = slice(r, -1, 0, m, 1), v = slice(r, -1, m, n, 1);
  Tensor g_left, g_right, g_q = gq;
  if (gr) {
    g_left = slice(gr, -1, 0, m, 1);
    g_right = slice(gr, -1, m, n, 1);
    g_q = plus(g_q, matmul(matmul(q, v), adjoint(g_right)));
    g_right = matmul(q, g_right);
  }
  const Tensor first = qr_gradient(name, q, u, g_q, g_left);
  if (!g_right) {
    Shape rest = first.shape();
    rest[rest.rank - 1] = n - m;
    g_right = zeros(rest, first.dtype(), first.device());
  }
  return cat({first, g_right}, -1);
}

// The factors of the reflections; R and the reflections are left in `packed`.
static Tensor factored(Name name, const Tensor& a, Tensor& packed) {
  const Tensor tau = empty(with_last(a, {std::min(a.size(-2), a.size(-1))}), a.dtype(), a.device());
  if (!runs(a)) return tau;
  const View p = batch_of_matrices(packed), t = batch_of_rows(tau);
  const Unlocked unlocked(linalg_work(a) * 2, {&packed, &tau});
  linalg_kernels(name, a).qr(p, t);
  return tau;
}

Pair geqrf(const Tensor& input) {
  linalg_check("geqrf", input, false);
  const Tensor a = detach(input);  // whose sizes no other thread changes
  if (is_complex(a.dtype()) && needs_grad(input))
    fail<RuntimeError>(
        "geqrf does not support automatic differentiation for outputs with complex dtype.\n"
        "torch.linalg.qr does; or call it with a.detach()");
  if (is_left_to_host(a)) return back(geqrf(on_host(input)), a.device());
  Tensor packed = columns_of(a);
  const Tensor tau = factored("geqrf", a, packed);
  Tensor outs[] = {packed, tau};
  record_many(
      "GeqrfBackward0", outs,
      [](std::span<Tensor>, Node&) -> Gradients {
        fail<NotImplementedError>(
            "the derivative for 'geqrf' is not implemented.\ntorch.linalg.qr has one");
      },
      input);
  return {outs[0], outs[1]};
}

Pair linalg_qr(Name name, const Tensor& input, Name mode) {
  linalg_check(name, input, false);
  const Tensor a = detach(input);  // whose sizes no other thread changes
  if (is_left_to_host(a)) return back(linalg_qr(name, on_host(input), mode), a.device());
  const std::int64_t m = a.size(-2), n = a.size(-1), k = std::min(m, n);
  const bool complete = mode == "complete", formed = mode != "r";
  const std::int64_t all = complete ? m : k;
  Tensor packed = columns_of(a), q = empty_columns(a, m, formed ? all : 0), r;
  {
    const GradMode off(false);
    if (runs(a)) {
      const Tensor tau = factored(name, a, packed);
      if (formed) {
        copy_bits(slice(q, -1, 0, k, 1), slice(packed, -1, 0, k, 1));
        if (all > k) zero_(slice(q, -1, k, all, 1));
        const View columns = batch_of_matrices(q), t = batch_of_rows(tau);
        const Unlocked unlocked(linalg_work(a) * 2, {&q, &tau});
        linalg_kernels(name, a).householder(columns, t);
      }
    } else if (!a.device().is_meta() && q.numel()) {  // no columns to factor: the identity
      copy_bits(q, eye(m, all, {a.dtype(), a.device()}));
    }
    r = triangle(all == m ? packed : slice(packed, -2, 0, all, 1), true);
  }
  Tensor outs[] = {q, r};
  record_many("LinalgQrBackward0", outs,
              showing(
                  "Q R mode",
                  [complete, formed, m, n, title = std::string(name)](
                      std::span<Tensor> g, Node& self, const SavedOutput& q, const SavedOutput& r) {
                    if (!formed)
                      fail<RuntimeError>(
                          "The derivative of linalg.qr depends on Q, which is not computed when "
                          "mode='r'; use mode='reduced'");
                    if (complete && m > n)
                      fail<RuntimeError>(
                          "The QR decomposition is not differentiable when mode='complete' and "
                          "nrows > ncols");
                    return Gradients(qr_gradient(title, q.get(self), r.get(self), g[0], g[1]));
                  },
                  SavedOutput(q, 0), SavedOutput(r, 1),
                  complete ? "complete"
                  : formed ? "reduced"
                           : "r"),
              input);
  return {outs[0], outs[1]};
}

Triple linalg_eigh(Name name, const Tensor& input, bool upper, bool vectors) {
  linalg_check(name, input, true);
  const Tensor a = detach(input);  // whose sizes no other thread changes
  if (is_left_to_host(a))
    return back(linalg_eigh(name, on_host(input), upper, vectors), a.device());
  Tensor v = columns_of(a), info = info_of(a);
  const Tensor w = empty(with_last(a, {a.size(-1)}), real_dtype(a), a.device());
  vectors |= needs_grad(input);
  if (runs(a)) {
    const LinalgKernels& kernels = linalg_kernels(name, a);
    const View m = batch_of_matrices(v), values = batch_of_rows(w), i = batch_of_numbers(info);
    const Unlocked unlocked(linalg_work(a) * 8, {&v, &w, &info});
    kernels.eigh(m, values, vectors, upper, i);
  }
  if (!a.device().is_meta())
    if (const int code = failure_in(info)) fail_convergence(name, code, "eigenvalues");
  Tensor outs[] = {w, v};
  record_many("LinalgEighBackward0", outs,
              showing(
                  "eigenvalues eigenvectors",
                  [](std::span<Tensor> g, Node& self, const SavedOutput& w, const SavedOutput& v) {
                    const Tensor vectors = v.get(self);
                    Tensor inner;
                    if (g[0]) inner = to(on_diagonal(g[0]), vectors.dtype());
                    if (g[1]) {  // the skew part is what moves orthogonal vectors
                      const Tensor turn = matmul(adjoint(vectors), g[1]);
                      check_turns(
                          "linalg_eigh_backward: The eigenvectors in the complex case are "
                          "specified up to multiplication by e^{i phi}. The specified loss "
                          "function depends on this quantity, so it is ill-defined.",
                          diagonal_of(turn));
                      const Tensor skew = mul(sub(turn, adjoint(turn)), Scalar(0.5));
                      inner = plus(inner, mul(skew, inverse_gaps(w.get(self))));
                    }
                    return Gradients(matmul(matmul(vectors, inner), adjoint(vectors)));
                  },
                  SavedOutput(w, 0), SavedOutput(v, 1)),
              input);
  return {outs[0], vectors ? outs[1] : Tensor(), info};
}

static Tensor svd_gradient(const Tensor& u, const Tensor& s, const Tensor& vh, const Tensor& gu,
                           const Tensor& gs, const Tensor& gvh) {
  const std::int64_t m = u.size(-2), n = vh.size(-1), k = s.size(-1);
  const auto skew = [](const Tensor& x) { return sub(x, adjoint(x)); };
  const Tensor column = unsqueeze(s, -1), row = unsqueeze(s, -2);
  Tensor inner;
  if (gs) inner = to(on_diagonal(gs), u.dtype());
  if (gu || gvh) {
    const Tensor gaps = inverse_gaps(mul(s, s));
    Tensor left, right;
    if (gu) left = skew(matmul(adjoint(u), gu));
    if (gvh) right = skew(matmul(vh, adjoint(gvh)));
    if (is_complex(u.dtype())) {
      const Tensor turn = plus(left ? diagonal_of(left) : left, right ? diagonal_of(right) : right);
      check_turns(
          "svd_backward: The singular vectors in the complex case are specified up to "
          "multiplication by e^{i phi}. The specified loss function depends on this phase term, "
          "making it ill-defined.",
          mul(turn, Scalar(0.5)));
      if (left) inner = plus(inner, on_diagonal(div(mul(diagonal_of(left), Scalar(0.5)), s)));
    }
    if (left) inner = plus(inner, mul(mul(left, gaps), row));
    if (right) inner = plus(inner, mul(column, mul(right, gaps)));
  }
  Tensor out = matmul(matmul(u, inner), vh);
  if (gu && m > k) {
    const Tensor outside = sub(gu, matmul(u, matmul(adjoint(u), gu)));
    out = add(out, matmul(div(outside, row), vh));
  }
  if (gvh && n > k) {
    const Tensor outside = sub(gvh, matmul(matmul(gvh, adjoint(vh)), vh));
    out = add(out, matmul(u, div(outside, column)));
  }
  return out;
}

Triple linalg_svd(Name name, const Tensor& input, bool full, bool vectors) {
  linalg_check(name, input, false);
  const Tensor a = detach(input);  // whose sizes no other thread changes
  if (is_left_to_host(a)) return back(linalg_svd(name, on_host(input), full, vectors), a.device());
  vectors |= needs_grad(input);
  const std::int64_t m = a.size(-2), n = a.size(-1), k = std::min(m, n);
  const Tensor s = empty(with_last(a, {k}), real_dtype(a), a.device());
  Tensor u, vh;
  if (vectors) {
    u = empty_columns(a, m, full ? m : k);
    vh = empty_columns(a, full ? n : k, n);
  }
  if (runs(a)) {
    const LinalgKernels& kernels = linalg_kernels(name, a);
    const Tensor lost = columns_of(a), info = info_of(a);
    const View from = batch_of_matrices(lost), values = batch_of_rows(s),
               codes = batch_of_numbers(info);
    View left{}, right{};
    if (vectors) {
      left = batch_of_matrices(u);
      right = batch_of_matrices(vh);
    }
    {
      const Unlocked unlocked(linalg_work(a) * 10, {&lost, &info, &s, &u, &vh});
      kernels.svd(from, left, values, right, codes);
    }
    const int code = failure_in(info);
    // Jacobi's method, which is a GPU's, may give up where LAPACK's does not.
    if (code && a.device().is_cuda())
      return back(linalg_svd(name, on_host(input), full, vectors), a.device());
    if (code) fail_convergence(name, code, "singular values");
  } else if (vectors && !a.device().is_meta()) {
    for (const Tensor& t : {u, vh})
      if (t.numel()) copy_bits(t, eye(t.size(-2), t.size(-1), {a.dtype(), a.device()}));
  }
  if (!vectors) return {Tensor(), s, Tensor()};
  Tensor outs[] = {u, s, vh};
  record_many("LinalgSvdBackward0", outs,
              showing(
                  "U S Vh",
                  [k](std::span<Tensor> g, Node& self, const SavedOutput& u, const SavedOutput& s,
                      const SavedOutput& vh) {
                    const auto first = [k](const Tensor& t, int dim) {
                      return t ? slice(t, dim, 0, k, 1) : Tensor();
                    };
                    return Gradients(svd_gradient(first(u.get(self), -1), s.get(self),
                                                  first(vh.get(self), -2), first(g[0], -1), g[1],
                                                  first(g[2], -2)));
                  },
                  SavedOutput(u, 0), SavedOutput(s, 1), SavedOutput(vh, 2)),
              input);
  return {outs[0], outs[1], outs[2]};
}

}  // namespace rushlight
