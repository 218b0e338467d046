// Solving with LU and triangular factors, and the Householder product.
#include "autograd/showing.h"
#include "ops/linalg/columns.h"
#include "ops/triangular.h"

namespace rushlight {
namespace {

void check_solve(Name name, const Tensor& a, const Tensor& b) {
  linalg_check(name, a, true);
  check_same_device(std::string(name).c_str(), a, "A", b, "B");
  if (a.dtype() != b.dtype())
    fail<RuntimeError>(name, ": Expected A and B to have the same dtype, but found A of type ",
                       scalar_name(a.dtype()), " and B of type ", scalar_name(b.dtype()),
                       " instead");
  if (b.dim() < 2)
    fail<RuntimeError>(name, ": The input tensor B must have at least 2 dimensions.\n",
                       describe("B", b));
  if (a.size(-1) != b.size(-2))
    fail<RuntimeError>(name, ": Incompatible shapes of A and B for the equation AX = B (",
                       a.size(-2), "x", a.size(-1), " and ", b.size(-2), "x", b.size(-1), ")");
  if (b.size(-1) > 1 << 30) fail<RuntimeError>(name, ": B is too large: ", b.sizes());
}
bool runs(const Tensor& a, const Tensor& b) {
  return a.numel() && b.numel() && !a.device().is_meta();
}

}  // namespace

Tensor linalg_lu_solve(const Tensor& lu, const Tensor& pivots, const Tensor& b, bool adjoint) {
  check_solve("linalg.lu_solve", lu, b);
  if (pivots.dtype() != DType::int32)
    fail<RuntimeError>("linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32");
  if (!same(pivots.sizes(), lu.sizes().first(std::size_t(lu.dim() - 1))))
    fail<RuntimeError>("linalg.lu_solve: Number of pivots per batch should be same as the ",
                       "dimension of the matrix\n", describe("LU", lu), "; ",
                       describe("pivots", pivots));
  const GradMode off(false);
  if (is_left_to_host(lu))
    return back(linalg_lu_solve(on_host(lu), on_host(pivots), on_host(b), adjoint), lu.device());
  const auto [factors, right] = broadcast_batches(lu, b);
  Tensor out = columns_of(adjoint ? conj(right) : right);
  if (!runs(factors, right)) return out;
  const LinalgKernels& kernels = linalg_kernels("linalg.lu_solve", lu);
  const Tensor rows =
      contiguous(expand(pivots, factors.sizes().first(std::size_t(factors.dim() - 1))));
  const Tensor dense = columns_of(factors);
  const View a = batch_of_matrices(dense), p = batch_of_rows(rows), x = batch_of_matrices(out);
  std::int64_t bad;
  {
    const Unlocked unlocked(linalg_work(dense), {&dense, &rows, &out});
    bad = kernels.lu_solve(a, p, x, adjoint);  // which does not conjugate
  }
  if (bad >= 0)
    fail<RuntimeError>("Pivots given to lu_solve must all be greater or equal to 1 and at most ",
                       p.sizes[1], ", but one is ", p.as<int>()[bad]);
  return adjoint ? conj(out) : out;
}

Pair linalg_solve(Name name, const Tensor& a, const Tensor& b) {
  check_solve(name, a, b);
  if (is_left_to_host(a)) return back(linalg_solve(name, on_host(a), on_host(b)), a.device());
  Tensor x, lu, pivots, info;
  {
    const GradMode off(false);
    std::tie(lu, pivots, info) = linalg_lu(name, a);
    x = linalg_lu_solve(lu, pivots, b, false);
  }
  x = record("LinalgSolveExBackward0", std::move(x),
             showing(
                 "A LU pivots result",
                 [b_shape = b.shape(), title = std::string(name)](
                     Tensor g, Node& self, const Saved& a, const Saved& factors, const Saved& order,
                     const SavedOutput& x) {
                   // The factors have no history: a gradient that is to have one is solved for
                   // anew.
                   const Tensor &matrix = a.get(),
                                of_b = needs_grad(g, matrix)
                                           ? std::get<0>(linalg_solve(title, adjoint(matrix), g))
                                           : linalg_lu_solve(factors.get(), order.get(), g, true);
                   Tensor of_a;
                   if (self.needs_input(0))
                     of_a = sum_to(neg(matmul(of_b, adjoint(x.get(self)))), matrix.shape());
                   return Gradients(of_a, sum_to(of_b, b_shape));
                 },
                 Saved(a), Saved(lu), Saved(pivots), SavedOutput(x)),
             a, b);
  return {x, info};
}

Tensor linalg_permutation(const Tensor& pivots, std::int64_t n, bool inverse) {
  const GradMode off(false);
  const Tensor rows = contiguous(pivots);
  if (rows.dtype() != DType::int32 || rows.dim() == 0 || n < rows.size(-1))
    fail<RuntimeError>("pivots must be int32, one for each row\n", describe("pivots", pivots));
  Shape shape = rows.shape();
  shape[shape.rank - 1] = n;
  const Tensor out = empty(shape, DType::int64, rows.device());
  if (!out.numel() || out.device().is_meta()) return out;
  const View p = batch_of_rows(rows), o = batch_of_rows(out);
  const auto bad = backend(rows.device()).linalg->permutation(p, o, inverse);
  if (bad >= 0)
    fail<RuntimeError>("pivots must lie in [1, ", n, "], but one is ", p.as<int>()[bad]);
  return out;
}

Tensor linalg_solve_triangular(Name name, const Tensor& a, const Tensor& b, bool upper, bool unit) {
  check_solve(name, a, b);
  if (is_left_to_host(a))
    return back(linalg_solve_triangular(name, on_host(a), on_host(b), upper, unit), a.device());
  Tensor x;
  {
    const GradMode off(false);
    const auto [left, right] = broadcast_batches(a, b);
    x = columns_of(right);
    if (runs(left, right)) {
      const LinalgKernels& kernels = linalg_kernels(name, a);
      const Tensor dense = columns_of(left);
      const View m = batch_of_matrices(dense), to = batch_of_matrices(x);
      const Unlocked unlocked(linalg_work(dense), {&dense, &x});
      kernels.solve_triangular(m, to, upper, unit);
    }
  }
  return record(
      "LinalgSolveTriangularBackward0", std::move(x),
      [a = Saved(a), b_shape = b.shape(), x = SavedOutput(x), upper, unit,
       title = std::string(name)](Tensor g, Node& self) {
        const Tensor of_b = linalg_solve_triangular(title, adjoint(a.get()), g, !upper, unit);
        Tensor of_a;
        if (self.needs_input(0)) {
          of_a = neg(matmul(of_b, adjoint(x.get(self))));
          of_a =
              sum_to(upper ? triu(of_a, unit) : tril(of_a, -std::int64_t(unit)), a.get().shape());
        }
        return Gradients(of_a, sum_to(of_b, b_shape));
      },
      a, b);
}

void linalg_check_info(Name name, const Tensor& info, std::string_view words) {
  if (info.device().is_meta()) return;
  const Tensor host = contiguous(on_host(info));
  const View v = view_of(host);
  for (std::int64_t i = 0; i < v.numel; ++i) {
    const int code = v.as<const int>()[i];
    if (code == 0) continue;
    std::string text(words);
    for (std::size_t at; (at = text.find("{}")) != std::string::npos;)
      text.replace(at, 2, std::to_string(code));
    const std::string element =
        info.dim() ? "(Batch element " + std::to_string(i) + "): " : std::string();
    fail<LinAlgError>(name, ": ", element, text);
  }
}

static Pair inverse_and_info(Name name, const Tensor& a) {
  const std::int64_t n = a.size(-1);
  if (is_left_to_host(a) || !runs(a, a) || !linalg_kernels(name, a).invert)
    return linalg_solve(name, a, eye(n, n, {a.dtype(), a.device()}));
  const auto [lu, pivots, info] = linalg_lu(name, a);
  const Tensor x = empty_columns(a, n, n);
  const Unlocked unlocked(linalg_work(a), {&lu, &pivots, &x});
  linalg_kernels(name, a).invert(batch_of_matrices(lu), batch_of_rows(pivots),
                                 batch_of_matrices(x));
  return {x, info};
}

Pair linalg_inv_ex(Name name, const Tensor& input) {
  linalg_check(name, input, true);
  const Tensor a = detach(input);  // whose sizes no other thread changes
  Tensor inverse, info;
  {
    const GradMode off(false);
    std::tie(inverse, info) = inverse_and_info(name, a);
  }
  inverse = record("LinalgInvExBackward0", std::move(inverse),
                   showing(
                       "inverse",
                       [](Tensor g, Node& self, const SavedOutput& inverse) {
                         const Tensor y = adjoint(inverse.get(self));
                         return Gradients(neg(matmul(y, matmul(g, y))));
                       },
                       SavedOutput(inverse)),
                   input);
  return {inverse, info};
}

Tensor linalg_inv(Name name, const Tensor& a) {
  const auto [inverse, info] = linalg_inv_ex(name, a);
  linalg_check_info(name, info,
                    "The diagonal element {} is zero, the inversion could not be completed because "
                    "the input matrix is singular.");
  return inverse;
}

// The product is E - V T V1^H, V being the vectors, V1 their first n rows, and T = inv(I + D S) D
// with the taus as D and the strict upper triangle of V^H V as S (Schreiber and Van Loan 1989).
static Gradients householder_gradient(Name name, const Tensor& a, const Tensor& tau,
                                      const Tensor& g) {
  const std::int64_t m = a.size(-2), n = a.size(-1), k = tau.size(-1);
  if (!a.numel() || !tau.numel()) return Gradients(Tensor(), Tensor());
  const Tensor v = add(tril(narrow(a, -1, 0, k), -1), eye(m, k, {a.dtype(), a.device()}));
  const Tensor first = narrow(v, -2, 0, n), s = triu(matmul(adjoint(v), v), 1);
  const Tensor d = unsqueeze(tau, -1), system = mul(d, s);
  const Tensor t = linalg_solve_triangular(name, system, diag_embed(tau, 0, -2, -1), true, true);
  const Tensor of_t = neg(matmul(matmul(adjoint(v), g), first));
  const Tensor x = linalg_solve_triangular(name, adjoint(system), of_t, false, true);
  const Tensor of_system = neg(matmul(x, adjoint(t)));
  const Tensor of_tau = add(diagonal(x, 0, -2, -1), sum(mul(of_system, conj(s)), Shape{-1}, false));
  const Tensor of_s = triu(mul(conj(d), of_system), 1);
  const Tensor of_first = neg(matmul(adjoint(g), matmul(v, t)));
  const Tensor of_v =
      sub(matmul(v, add(of_s, adjoint(of_s))), matmul(g, matmul(first, adjoint(t))));
  const auto padded = [](const Tensor& part, std::int64_t dim, std::int64_t size) {
    Shape rest = part.shape();
    std::int64_t& missing = rest[rest.rank + int(dim)];
    missing = size - missing;
    return missing ? cat({part, zeros(rest, part.dtype(), part.device())}, dim) : part;
  };
  const Tensor whole = add(of_v, padded(of_first, -2, m));
  return Gradients(padded(tril(whole, -1), -1, n), of_tau);
}

Tensor linalg_householder(Name name, const Tensor& input, const Tensor& factors) {
  const Tensor a = detach(input), tau = detach(factors);  // whose sizes no other thread changes
  linalg_check(name, a, false);
  if (a.size(-2) < a.size(-1))
    fail<RuntimeError>(name, ": input.shape[-2] must be greater than or equal to input.shape[-1]");
  if (tau.dim() != a.dim() - 1 || tau.size(-1) > a.size(-1) ||
      !same(tau.sizes().first(std::size_t(tau.dim() - 1)),
            a.sizes().first(std::size_t(a.dim() - 2))))
    fail<RuntimeError>(name, ": input.shape[-1] must be greater than or equal to tau.shape[-1], ",
                       "and their batches must agree\n", describe("input", a), "; ",
                       describe("tau", tau));
  if (tau.dtype() != a.dtype())
    fail<RuntimeError>(name, ": tau dtype ", scalar_name(tau.dtype()),
                       " does not match input dtype ", scalar_name(a.dtype()));
  check_same_device(std::string(name).c_str(), a, "input", tau, "tau");
  if (is_left_to_host(a))
    return back(linalg_householder(name, on_host(input), on_host(factors)), a.device());
  Tensor out = columns_of(a);
  if (out.numel() && !out.device().is_meta()) {
    const GradMode off(false);
    if (tau.numel()) {
      const LinalgKernels& kernels = linalg_kernels(name, a);
      const Tensor dense = contiguous(tau);
      const View m = batch_of_matrices(out), t = batch_of_rows(dense);
      const Unlocked unlocked(linalg_work(a), {&out, &dense});
      kernels.householder(m, t);
    } else {  // no reflection: the identity
      copy_bits(out, eye(a.size(-2), a.size(-1), {a.dtype(), a.device()}));
    }
  }
  return record(
      "LinalgHouseholderProductBackward0", std::move(out),
      [a = Saved(input), tau = Saved(factors), title = std::string(name)](Tensor g) {
        return householder_gradient(title, a.get(), tau.get(), g);
      },
      input, factors);
}

static void check_ormqr(const Tensor& input, const Tensor& tau, const Tensor& other, int dim) {
  constexpr const char* kName = "torch.ormqr: ";
  const auto refuse_least = [kName](const char* name, const Tensor& t) {
    if (t.dim() < 2)
      fail<RuntimeError>(kName, name, " must have at least 2 dimensions.\n", describe(name, t));
  };
  refuse_least("input", input);
  refuse_least("other", other);
  const auto sizes = [&] {
    return describe("input", input) + "; " + describe("tau", tau) + "; " + describe("other", other);
  };
  if (other.size(dim) != input.size(-2))
    fail<RuntimeError>(kName, "other.shape[", dim, "] must be equal to input.shape[-2]\n", sizes());
  if (tau.dim() != input.dim() - 1)
    fail<RuntimeError>(kName, "Expected tau to have one dimension less than input, but got ",
                       "tau.ndim equal to ", tau.dim(), " and input.ndim is equal to ", input.dim(),
                       "\n", sizes());
  if (other.dim() != input.dim())
    fail<RuntimeError>(kName, "Expected other to have the same number of dimensions as input, ",
                       "but got other.ndim equal to ", other.dim(), " and input.ndim is equal to ",
                       input.dim(), "\n", sizes());
  if (tau.size(-1) > std::min(other.size(dim), input.size(-1)))
    fail<RuntimeError>(kName, "tau.shape[-1] must be equal to min(other.shape[", dim,
                       "], input.shape[-1])\n", sizes());
  for (const auto& [name, t] : {std::pair("tau", &tau), std::pair("other", &other)})
    if (t->dtype() != input.dtype())
      fail<RuntimeError>(kName, "Expected input and ", name, " to have the same dtype, but input ",
                         "has dtype ", scalar_name(input.dtype()), " and ", name, " has dtype ",
                         scalar_name(t->dtype()), "\n", sizes());
}

Tensor ormqr(const Tensor& input, const Tensor& tau, const Tensor& other, bool left,
             bool transpose_q) {
  check_ormqr(input, tau, other, left ? -2 : -1);
  // Reflections whose factor is 0 change nothing: with them Q is square.
  const std::int64_t m = input.size(-2), k = tau.size(-1);
  const auto padded = [&](const Tensor& t) {
    Shape rest = t.shape();
    rest[rest.rank - 1] = m - k;
    return cat({t, zeros(rest, t.dtype(), t.device())}, -1);
  };
  Tensor q = linalg_householder("torch.ormqr", padded(narrow(input, -1, 0, k)), padded(tau));
  if (transpose_q) q = adjoint(q);
  // Transposed, since LAPACK's results are stored by columns, and torch's with them.
  const Tensor a = transposed(q), b = transposed(other);
  return transposed(left ? matmul(b, a) : matmul(a, b));
}

}  // namespace rushlight
