// Factorisations by LAPACK, one matrix of the batch after the other.
#include "kernels/linalg.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "gemm.h"
#include "kernels/parallel.h"
#include "lapack.h"

namespace rushlight {
namespace {

// One matrix of a batch; its columns are dense.
template <class T>
struct Columns {
  T* data;
  int rows, columns;
  int leading() const { return std::max(rows, 1); }
};
template <class T>
Columns<T> matrix(const View& v, std::int64_t i) {
  return {v.as<T>() + i * v.sizes[1] * v.sizes[2], int(v.sizes[1]), int(v.sizes[2])};
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

// x = inv(triangle) * x: halves, with a product between them, down to what the library solves; its
// own solver of many rows takes twice as long as a product.
template <class T>
struct TriangularSolver {
  static constexpr int kFew = 32;
  Columns<T> a, x;
  bool upper, transposed, unit;

  void solve(int first, int past) const {
    const int lead = a.leading(), rows = past - first;
    if (rows <= kFew) {
      const T one = 1;
      return lapack<T>().trsm("L", upper ? "U" : "L", transposed ? "T" : "N", unit ? "U" : "N",
                              &rows, &x.columns, &one, &at(first, first), &lead, x.data + first,
                              &lead, 1, 1, 1, 1);
    }
    const int middle = first + (rows / 2 + kFew - 1) / kFew * kFew;
    if (upper == transposed) {  // the first rows are known first
      solve(first, middle);
      subtract(first, middle, middle, past);
      solve(middle, past);
    } else {
      solve(middle, past);
      subtract(middle, past, first, middle);
      solve(first, middle);
    }
    check_interrupt();
  }
  // What the known rows contribute to others. Transposed, as products have rows: the columns of x
  // are rows of `lead` elements.
  void subtract(int known, int known_past, int from, int past) const {
    const int lead = a.leading();
    const Matrix<const T> factor = transposed ? Matrix<const T>{&at(known, from), lead, true}
                                              : Matrix<const T>{&at(from, known), lead};
    gemm<T>(x.columns, past - from, known_past - known, T(-1), {x.data + known, lead}, factor, T(1),
            {x.data + from, lead});
  }
  const T& at(int row, int column) const {
    return a.data[std::int64_t(column) * a.leading() + row];
  }
};
template <class T>
void solve_triangle(Columns<T> a, Columns<T> x, bool upper, bool transposed, bool unit) {
  if (x.columns) TriangularSolver<T>{a, x, upper, transposed, unit}.solve(0, a.rows);
}

void lu(const View& a, const View& pivots, const View& info) {
  each(a, [&]<class T>(T, std::int64_t i) {
    const Columns<T> m = matrix<T>(a, i);
    const int lead = m.leading();
    lapack<T>().getrf(&m.rows, &m.columns, m.data, &lead, row<int>(pivots, i), info.as<int>() + i);
  });
}

// Where the first lies that names none of n rows; -1 where all do.
std::int64_t bad_pivot(const View& pivots, std::int64_t n) {
  for (std::int64_t i = 0; i < pivots.numel; ++i)
    if (const int at = pivots.as<int>()[i]; at < 1 || at > n) return i;
  return -1;
}

// As LAPACK's pivots say, first to last or backwards: row r with row pivots[r], counted from 1.
template <class T>
void exchange_rows(Columns<T> x, const int* pivots, bool backwards) {
  for (int c = 0; c < x.columns; ++c) {
    T* const column = x.data + std::int64_t(c) * x.rows;
    for (int i = 0; i < x.rows; ++i) {
      const int r = backwards ? x.rows - 1 - i : i;
      std::swap(column[r], column[pivots[r] - 1]);
    }
  }
}

std::int64_t lu_solve(const View& a, const View& pivots, const View& b, bool transposed) {
  if (const auto bad = bad_pivot(pivots, a.sizes[1]); bad >= 0) return bad;
  each(a, [&]<class T>(T, std::int64_t i) {
    const Columns<T> m = matrix<T>(a, i), x = matrix<T>(b, i);
    if (!transposed) exchange_rows(x, row<int>(pivots, i), false);
    solve_triangle(m, x, transposed, transposed, !transposed);
    solve_triangle(m, x, !transposed, transposed, transposed);
    if (transposed) exchange_rows(x, row<int>(pivots, i), true);
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
    const int lead = m.leading();
    lapack<T>().potrf(upper ? "U" : "L", &m.rows, m.data, &lead, info.as<int>() + i, 1);
  });
}

void solve_triangular(const View& a, const View& b, bool upper, bool unit) {
  each(a, [&]<class T>(T, std::int64_t i) {
    solve_triangle(matrix<T>(a, i), matrix<T>(b, i), upper, false, unit);
  });
}

// What a first call with lwork = -1 answers; float cannot hold every size exactly, so one more.
template <class T>
int work_size(T answer) {
  return int(std::min(double(answer) * 1.0000002 + 1, 2147483000.0));
}

void qr(const View& a, const View& tau) {
  each(a, [&]<class T>(T, std::int64_t i) {
    const Columns<T> m = matrix<T>(a, i);
    const int lead = m.leading(), ask = -1;
    T* t = row<T>(tau, i);
    T answer = 1;
    int info;
    lapack<T>().geqrf(&m.rows, &m.columns, m.data, &lead, t, &answer, &ask, &info);
    const int size = work_size(answer);
    std::vector<T> work(std::size_t(size) + 1);
    lapack<T>().geqrf(&m.rows, &m.columns, m.data, &lead, t, work.data(), &size, &info);
  });
}

void householder(const View& a, const View& tau) {
  each(a, [&]<class T>(T, std::int64_t i) {
    const Columns<T> m = matrix<T>(a, i);
    const int lead = m.leading(), ask = -1, k = int(tau.sizes[1]);
    const T* t = row<T>(tau, i);
    T answer = 1;
    int info;
    lapack<T>().orgqr(&m.rows, &m.columns, &k, m.data, &lead, t, &answer, &ask, &info);
    const int size = work_size(answer);
    std::vector<T> work(std::size_t(size) + 1);
    lapack<T>().orgqr(&m.rows, &m.columns, &k, m.data, &lead, t, work.data(), &size, &info);
  });
}

void eigh(const View& a, const View& values, bool vectors, bool upper, const View& info) {
  each(a, [&]<class T>(T, std::int64_t i) {
    const Columns<T> m = matrix<T>(a, i);
    const int lead = m.leading(), ask = -1;
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
    const int k = std::min(m.rows, m.columns), lead = m.leading(), ask = -1;
    const char* job = !u.data ? "N" : u.sizes[2] == k && vt.sizes[1] == k ? "S" : "A";
    const Columns<T> left = u.data ? matrix<T>(u, i) : Columns<T>{nullptr, 1, 1};
    const Columns<T> right = u.data ? matrix<T>(vt, i) : Columns<T>{nullptr, 1, 1};
    const int lead_u = left.leading(), lead_v = right.leading();
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

}  // namespace

const LinalgKernels cpu_linalg = {
    absence, lu, lu_solve, permutation, cholesky, solve_triangular, qr, householder, eigh, svd,
};

}  // namespace rushlight
