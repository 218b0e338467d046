// Halves of a system, with a product between them, down to 32 rows, whose right-hand sides are
// solved a vector at a time; halves of a matrix's columns, down to 16, which LAPACK factors.
// Complex numbers are left to LAPACK as a whole, but for tiny matrices.
#include "triangles.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "gemm.h"
#include "kernels/cpu/transpose.h"
#include "kernels/host_device.h"
#include "kernels/parallel.h"
#include "lapack.h"

namespace rushlight {
namespace {

constexpr int kFew = 32;      // rows of a system
constexpr int kPanel = 16;    // columns of a factorisation
constexpr int kSides = 32;    // right-hand sides at a time
constexpr int kFewSides = 4;  // that LAPACK solves sooner
constexpr int kTiny = 8;      // rows, and columns, that take less time than a call of a library

int half(int n, int unit) { return (n / 2 + unit - 1) / unit * unit; }

// Rows of a triangle in the order in which they are solved: what those before contribute, and the
// reciprocals of the diagonal.
template <class T>
struct SmallTriangle {
  T factors[kFew][kFew], reciprocals[kFew];
  int rows;
};
// From row x on, `step` rows of kSides from one to the next.
template <class T>
CLONES_512 void substitute(const SmallTriangle<T>& a, T* x, int step) {
  for (int i = 0; i < a.rows; ++i) {
    T* const row = x + i * step * kSides;
    T sum[kSides];
    for (int s = 0; s < kSides; ++s) sum[s] = row[s];
    for (int j = 0; j < i; ++j) {
      const T* const known = x + j * step * kSides;
      for (int s = 0; s < kSides; ++s) sum[s] -= a.factors[i][j] * known[s];
    }
    for (int s = 0; s < kSides; ++s) row[s] = sum[s] * a.reciprocals[i];
  }
}

template <class T>
CLONES_512 void gather(T* column, const std::vector<int>& from, std::vector<T>& copy) {
  std::copy_n(column, copy.size(), copy.data());
  const T* const source = copy.data();
  const int* const at = from.data();
  for (std::size_t i = 0, n = copy.size(); i < n; ++i) column[i] = source[at[i]];
}

template <class T>
struct TriangularSolver {
  Columns<T> a, x;
  bool upper, transposed, unit;
  bool right_is_lower = false;  // x is a lower triangle: so is the solution, where it goes down

  bool goes_down() const { return upper == transposed; }  // the first rows are known first

  // How many columns have anything in the rows before `past`.
  int columns(int past) const { return right_is_lower ? past : x.columns; }
  void solve(int first, int past) const {
    const int rows = past - first;
    if (rows <= kTiny && x.columns <= kTiny) return solve_tiny(first, rows);
    if constexpr (kIsComplex<T>)
      solve_by_library(first, rows);
    else
      solve_by_halves(first, past, rows);
  }
  void solve_by_halves(int first, int past, int rows) const {
    if (rows <= kFew)
      return x.columns <= kFewSides ? solve_by_library(first, rows) : solve_few(first, rows);
    const int middle = first + half(rows, kFew);
    if (goes_down()) {
      solve(first, middle);
      subtract_known(first, middle, middle, past);
      solve(middle, past);
    } else {
      solve(middle, past);
      subtract_known(middle, past, first, middle);
      solve(first, middle);
    }
    check_interrupt();
  }
  void solve_by_library(int first, int rows) const {
    const T one = 1;
    lapack<T>().trsm("L", upper ? "U" : "L", transposed ? "T" : "N", unit ? "U" : "N", &rows,
                     &x.columns, &one, a.at(first, first), &a.lead, x.at(first, 0), &x.lead, 1, 1,
                     1, 1);
  }
  void solve_tiny(int first, int rows) const {
    const int step = goes_down() ? 1 : -1, begin = goes_down() ? first : first + rows - 1;
    for (int c = 0; c < x.columns; ++c)
      for (int i = begin, known = 0; known < rows; i += step, ++known) {
        T sum = *x.at(i, c);
        for (int k = 0, j = begin; k < known; ++k, j += step)
          sum -= (transposed ? *a.at(j, i) : *a.at(i, j)) * *x.at(j, c);
        *x.at(i, c) = unit ? sum : sum / *a.at(i, i);
      }
  }
  void solve_few(int first, int rows) const {
    const auto row = [&](int i) { return first + (goes_down() ? i : rows - 1 - i); };
    SmallTriangle<T> small;
    small.rows = rows;
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < i; ++j)
        small.factors[i][j] = transposed ? *a.at(row(j), row(i)) : *a.at(row(i), row(j));
      small.reciprocals[i] = unit ? T(1) : T(1) / *a.at(row(i), row(i));
    }
    alignas(64) T sides[kFew * kSides] = {};
    const int columns = this->columns(first + rows);
    for (int c = 0; c < columns; c += kSides) {
      const int some = std::min(kSides, columns - c);
      transpose(x.at(first, c), x.lead, some, rows, sides, kSides);
      substitute(small, sides + (row(0) - first) * kSides, goes_down() ? 1 : -1);
      transpose(sides, kSides, rows, some, x.at(first, c), x.lead);
    }
  }
  // What the known rows contribute to others.
  void subtract_known(int known, int known_past, int from, int past) const {
    const Matrix<const T> factor = transposed ? Matrix<const T>{a.at(known, from), a.lead, true}
                                              : Matrix<const T>{a.at(from, known), a.lead};
    gemm<T>(columns(known_past), past - from, known_past - known, T(-1), {x.at(known, 0), x.lead},
            factor, T(1), {x.at(from, 0), x.lead});
  }
};

// What pivots are compared by: as LAPACK does, of a complex number the sum of both parts' sizes.
template <class T>
Real<T> magnitude(T x) {
  if constexpr (kIsComplex<T>)
    return std::fabs(x.real()) + std::fabs(x.imag());
  else
    return std::fabs(x);
}

// Column after column, with the largest of each below the diagonal as its pivot.
template <class T>
int factor_tiny(Columns<T> a, int* pivots) {
  int info = 0;
  for (int k = 0; k < std::min(a.rows, a.columns); ++k) {
    int top = k;
    for (int i = k + 1; i < a.rows; ++i)
      if (magnitude(*a.at(i, k)) > magnitude(*a.at(top, k))) top = i;
    pivots[k] = top + 1;
    const T pivot = *a.at(top, k);
    if (pivot == T(0)) {
      if (!info) info = k + 1;
      continue;
    }
    if (top != k)
      for (int j = 0; j < a.columns; ++j) std::swap(*a.at(k, j), *a.at(top, j));
    for (int i = k + 1; i < a.rows; ++i) *a.at(i, k) /= pivot;
    for (int j = k + 1; j < a.columns; ++j) {
      const T factor = *a.at(k, j);
      for (int i = k + 1; i < a.rows; ++i) *a.at(i, j) -= factor * *a.at(i, k);
    }
  }
  return info;
}

}  // namespace

template <class T>
void solve_triangle(Columns<T> a, Columns<T> x, bool upper, bool transposed, bool unit) {
  if (x.columns) TriangularSolver<T>{a, x, upper, transposed, unit}.solve(0, a.rows);
}

template <class T>
int factor_halves(Columns<T> a, int* pivots) {
  const int n = half(std::min(a.rows, a.columns), kPanel), below = a.rows - n;
  const Columns<T> left = a.part(0, 0, a.rows, n), right = a.part(0, n, a.rows, a.columns - n);
  const int first = factor_lu(left, pivots);
  exchange_rows(right, pivots, n, false);
  const Columns<T> top = right.part(0, 0, n, right.columns);
  solve_triangle(left.part(0, 0, n, n), top, false, false, true);
  const Columns<T> rest = right.part(n, 0, below, right.columns);
  gemm<T>(rest.columns, below, n, T(-1), {top.data, top.lead}, {left.at(n, 0), left.lead}, T(1),
          {rest.data, rest.lead});
  check_interrupt();
  const int second = factor_lu(rest, pivots + n);
  const int more = std::min(below, rest.columns);
  exchange_rows(left.part(n, 0, below, n), pivots + n, more, false);
  for (int i = 0; i < more; ++i) pivots[n + i] += n;
  return first ? first : second ? second + n : 0;
}

template <class T>
int factor_by_library(Columns<T> a, int* pivots) {
  int info = 0;
  lapack<T>().getrf(&a.rows, &a.columns, a.data, &a.lead, pivots, &info);
  // No row is promised for the largest of numbers that are not any.
  for (int i = 0; i < std::min(a.rows, a.columns); ++i)
    pivots[i] = std::clamp(pivots[i], i + 1, a.rows);
  return info;
}

template <class T>
int factor_lu(Columns<T> a, int* pivots) {
  if (a.columns <= kTiny && a.rows <= kTiny) return factor_tiny(a, pivots);
  if constexpr (kIsComplex<T>)
    return factor_by_library(a, pivots);
  else
    return a.columns <= kPanel || a.rows <= kPanel ? factor_by_library(a, pivots)
                                                   : factor_halves(a, pivots);
}

template <class T>
void exchange_rows(Columns<T> x, const int* pivots, int count, bool backwards) {
  const auto exchange = [&](auto* column) {
    for (int i = 0; i < count; ++i) {
      const int r = backwards ? count - 1 - i : i;
      std::swap(column[r], column[pivots[r] - 1]);
    }
  };
  if (count < x.rows || count <= kTiny) {
    for (int c = 0; c < x.columns; ++c) exchange(x.at(0, c));
    return;
  }
  std::vector<int> from(std::size_t(x.rows));
  std::iota(from.begin(), from.end(), 0);
  exchange(from.data());
  std::vector<T> copy(std::size_t(x.rows));
  for (int c = 0; c < x.columns; ++c) gather(x.at(0, c), from, copy);
}

// inv(A) = inv(U) inv(L) P: the identity below L stays a lower triangle, so that a third of the
// products is enough for it, and P exchanges columns, last to first.
template <class T>
void invert_lu(Columns<T> lu, const int* pivots, Columns<T> x) {
  for (int c = 0; c < x.columns; ++c) {
    std::fill_n(x.at(0, c), x.rows, T(0));
    *x.at(c, c) = T(1);
  }
  TriangularSolver<T>{lu, x, false, false, true, true}.solve(0, lu.rows);
  solve_triangle(lu, x, true, false, false);
  for (int c = x.columns - 1; c >= 0; --c)
    if (const int other = pivots[c] - 1; other != c)
      std::swap_ranges(x.at(0, c), x.at(0, c) + x.rows, x.at(0, other));
}

template void solve_triangle(Columns<float>, Columns<float>, bool, bool, bool);
template void solve_triangle(Columns<double>, Columns<double>, bool, bool, bool);
template int factor_lu(Columns<float>, int*);
template int factor_lu(Columns<double>, int*);
template void exchange_rows(Columns<float>, const int*, int, bool);
template void exchange_rows(Columns<double>, const int*, int, bool);
template void invert_lu(Columns<float>, const int*, Columns<float>);
template void invert_lu(Columns<double>, const int*, Columns<double>);

using std::complex;
template void solve_triangle(Columns<complex<float>>, Columns<complex<float>>, bool, bool, bool);
template void solve_triangle(Columns<complex<double>>, Columns<complex<double>>, bool, bool, bool);
template int factor_lu(Columns<complex<float>>, int*);
template int factor_lu(Columns<complex<double>>, int*);
template void exchange_rows(Columns<complex<float>>, const int*, int, bool);
template void exchange_rows(Columns<complex<double>>, const int*, int, bool);
template void invert_lu(Columns<complex<float>>, const int*, Columns<complex<float>>);
template void invert_lu(Columns<complex<double>>, const int*, Columns<complex<double>>);

}  // namespace rushlight
