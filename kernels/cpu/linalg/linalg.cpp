// Factorisations by LAPACK, one matrix of the batch after the other.
#include "kernels/linalg.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "batches.h"
#include "indefinite.h"
#include "lapack.h"
#include "reflections.h"
#include "spectra.h"

namespace rushlight {
namespace {

const char* absence() {
  const bool complete = lapack<float>().complete && lapack<double>().complete &&
                        lapack<std::complex<float>>().complete &&
                        lapack<std::complex<double>>().complete;
  return complete ? nullptr : "the OpenBLAS library beside the core is missing";
}

void lu(const View& a, const View& pivots, const View& info) {
  each(a, [&]<class T>(T, std::int64_t i) {
    info.as<int>()[i] = factor_lu(matrix<T>(a, i), row<int>(pivots, i));
  });
}

// Where the first lies that names none of n rows; -1 where all do.
std::int64_t bad_pivot(const View& pivots, std::int64_t n) {
  for (std::int64_t i = 0; i < pivots.numel; ++i)
    if (const int at = pivots.as<int>()[i]; at < 1 || at > n) return i;
  return -1;
}

std::int64_t lu_solve(const View& a, const View& pivots, const View& b, bool transposed) {
  if (const auto bad = bad_pivot(pivots, a.sizes[1]); bad >= 0) return bad;
  each(a, [&]<class T>(T, std::int64_t i) {
    const Columns<T> m = matrix<T>(a, i), x = matrix<T>(b, i);
    if (!transposed) exchange_rows(x, row<int>(pivots, i), x.rows, false);
    solve_triangle(m, x, transposed, transposed, !transposed);
    solve_triangle(m, x, !transposed, transposed, transposed);
    if (transposed) exchange_rows(x, row<int>(pivots, i), x.rows, true);
  });
  return -1;
}

std::int64_t permutation(const View& pivots, const View& order, bool inverse) {
  const std::int64_t n = order.sizes[1], k = pivots.sizes[1];
  if (const auto bad = bad_pivot(pivots, n); bad >= 0) return bad;
  std::vector<std::int64_t> from(std::size_t(n), 0);
  for (std::int64_t b = 0; b < order.sizes[0]; ++b) {
    std::iota(from.begin(), from.end(), 0);
    for (std::int64_t i = 0; i < k; ++i)
      std::swap(from[std::size_t(i)], from[std::size_t(row<int>(pivots, b)[i] - 1)]);
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t at = from[std::size_t(i)];
      row<std::int64_t>(order, b)[inverse ? at : i] = inverse ? i : at;
    }
  }
  return -1;
}

void invert(const View& a, const View& pivots, const View& x) {
  each(a, [&]<class T>(T, std::int64_t i) {
    invert_lu(matrix<T>(a, i), row<int>(pivots, i), matrix<T>(x, i));
  });
}

void cholesky(const View& a, bool upper, const View& info) {
  each(a, [&]<class T>(T, std::int64_t i) {
    const Columns<T> m = matrix<T>(a, i);
    const int lead = m.lead;
    int& code = info.as<int>()[i];
    lapack<T>().potrf(upper ? "U" : "L", &m.rows, m.data, &lead, &code, 1);
    for (int k = 0; k < m.rows && code == 0; ++k)  // a NaN passes OpenBLAS
      if (std::isnan(std::real(m.data[std::ptrdiff_t(k) * (lead + 1)]))) code = k + 1;
  });
}

void solve_triangular(const View& a, const View& b, bool upper, bool unit) {
  each(a, [&]<class T>(T, std::int64_t i) {
    solve_triangle(matrix<T>(a, i), matrix<T>(b, i), upper, false, unit);
  });
}

void qr(const View& a, const View& tau) {
  each(a, [&]<class T>(T, std::int64_t i) { factor_qr(matrix<T>(a, i), row<T>(tau, i)); });
}

void householder(const View& a, const View& tau) {
  each(a, [&]<class T>(T, std::int64_t i) {
    form_q(matrix<T>(a, i), int(tau.sizes[1]), row<T>(tau, i));
  });
}

}  // namespace

const LinalgKernels cpu_linalg = {
    absence,   lu,       lu_solve,   permutation, cholesky,   solve_triangular, qr,     householder,
    find_eigh, find_svd, find_lstsq, find_eig,    factor_ldl, solve_ldl,        invert, true,
};

}  // namespace rushlight
