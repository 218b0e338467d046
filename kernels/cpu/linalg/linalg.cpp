// Factorisations by LAPACK, one matrix of the batch after the other.
#include "kernels/linalg.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "lapack.h"
#include "reflections.h"
#include "triangles.h"

namespace rushlight {
namespace {

template <class T>
Columns<T> matrix(const View& v, std::int64_t i) {
  return {v.as<T>() + i * v.sizes[1] * v.sizes[2], int(v.sizes[1]), int(v.sizes[2]),
          std::max(int(v.sizes[1]), 1)};
}
template <class T>
T* row(const View& v, std::int64_t i) {
  return v.as<T>() + i * v.sizes[1];
}

// f(type) for each matrix of the batch.
template <class F>
void each(const View& a, F&& f) {
  for (std::int64_t i = 0; i < a.sizes[0]; ++i)
    if (a.dtype == DType::float64)
      f(double(), i);
    else
      f(float(), i);
}

const char* absence() {
  return lapack<float>().complete && lapack<double>().complete
             ? nullptr
             : "the OpenBLAS library beside the core is missing";
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

void cholesky(const View& a, bool upper, const View& info) {
  each(a, [&]<class T>(T, std::int64_t i) {
    const Columns<T> m = matrix<T>(a, i);
    const int lead = m.lead;
    int& code = info.as<int>()[i];
    lapack<T>().potrf(upper ? "U" : "L", &m.rows, m.data, &lead, &code, 1);
    for (int k = 0; k < m.rows && code == 0; ++k)  // a NaN passes OpenBLAS
      if (std::isnan(m.data[std::ptrdiff_t(k) * (lead + 1)])) code = k + 1;
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

void eigh(const View& a, const View& values, bool vectors, bool upper, const View& info) {
  each(a, [&]<class T>(T, std::int64_t i) {
    const Columns<T> m = matrix<T>(a, i);
    const int lead = m.lead, ask = -1;
    T* w = row<T>(values, i);
    const char *job = vectors ? "V" : "N", *triangle = upper ? "U" : "L";
    T answer = 1;
    int integers = 1, *result = info.as<int>() + i;
    lapack<T>().syevd(job, triangle, &m.rows, m.data, &lead, w, &answer, &ask, &integers, &ask,
                      result, 1, 1);
    const int size = work_size(answer);
    std::vector<T> work(std::size_t(size) + 1);
    std::vector<int> iwork(std::size_t(integers) + 1);
    lapack<T>().syevd(job, triangle, &m.rows, m.data, &lead, w, work.data(), &size, iwork.data(),
                      &integers, result, 1, 1);
  });
}

void svd(const View& a, const View& u, const View& s, const View& vt, const View& info) {
  each(a, [&]<class T>(T, std::int64_t i) {
    const Columns<T> m = matrix<T>(a, i);
    const int k = std::min(m.rows, m.columns), lead = m.lead, ask = -1;
    const char* job = !u.data ? "N" : u.sizes[2] == k && vt.sizes[1] == k ? "S" : "A";
    const Columns<T> left = u.data ? matrix<T>(u, i) : Columns<T>{nullptr, 1, 1, 1};
    const Columns<T> right = u.data ? matrix<T>(vt, i) : Columns<T>{nullptr, 1, 1, 1};
    const int lead_u = left.lead, lead_v = right.lead;
    T answer = 1;
    int* result = info.as<int>() + i;
    std::vector<int> iwork(std::size_t(k) * 8 + 1);
    lapack<T>().gesdd(job, &m.rows, &m.columns, m.data, &lead, row<T>(s, i), left.data, &lead_u,
                      right.data, &lead_v, &answer, &ask, iwork.data(), result, 1);
    const int size = work_size(answer);
    std::vector<T> work(std::size_t(size) + 1);
    lapack<T>().gesdd(job, &m.rows, &m.columns, m.data, &lead, row<T>(s, i), left.data, &lead_u,
                      right.data, &lead_v, work.data(), &size, iwork.data(), result, 1);
  });
}

void lstsq(const View& a, const View& b, double rcond, const View& rank) {
  each(a, [&]<class T>(T, std::int64_t i) {
    const Columns<T> m = matrix<T>(a, i), x = matrix<T>(b, i);
    const int lead = m.lead, lead_x = x.lead, ask = -1;
    const T smallest = T(rcond);
    std::vector<int> pivots(std::size_t(m.columns), 0);  // 0: any column may be exchanged
    T answer = 1;
    int found = 0, info;
    lapack<T>().gelsy(&m.rows, &m.columns, &x.columns, m.data, &lead, x.data, &lead_x,
                      pivots.data(), &smallest, &found, &answer, &ask, &info);
    const int size = work_size(answer);
    std::vector<T> work(std::size_t(size) + 1);
    lapack<T>().gelsy(&m.rows, &m.columns, &x.columns, m.data, &lead, x.data, &lead_x,
                      pivots.data(), &smallest, &found, work.data(), &size, &info);
    rank.as<std::int64_t>()[i] = found;
  });
}

void eig(const View& a, const View& values, const View& vectors, const View& info) {
  each(a, [&]<class T>(T, std::int64_t i) {
    const Columns<T> m = matrix<T>(a, i);
    const int lead = m.lead, one = 1, ask = -1;
    const Columns<T> v = vectors.data ? matrix<T>(vectors, i) : Columns<T>{nullptr, 1, 1, 1};
    const int lead_v = v.lead;
    const char* job = vectors.data ? "V" : "N";
    T *w = row<T>(values, i), *imaginary = w + m.rows, answer = 1;
    int* result = info.as<int>() + i;
    lapack<T>().geev("N", job, &m.rows, m.data, &lead, w, imaginary, nullptr, &one, v.data, &lead_v,
                     &answer, &ask, result, 1, 1);
    const int size = work_size(answer);
    std::vector<T> work(std::size_t(size) + 1);
    lapack<T>().geev("N", job, &m.rows, m.data, &lead, w, imaginary, nullptr, &one, v.data, &lead_v,
                     work.data(), &size, result, 1, 1);
  });
}

}  // namespace

const LinalgKernels cpu_linalg = {
    absence, lu,          lu_solve, permutation, cholesky, solve_triangular,
    qr,      householder, eigh,     svd,         lstsq,    eig,
};

}  // namespace rushlight
