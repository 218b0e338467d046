// Triangular systems and LU factorisation by halves, so that nearly all of the work is products.
#pragma once
#include <cstdint>

namespace rushlight {

// A part of a matrix whose columns are dense, `lead` elements apart.
template <class T>
struct Columns {
  T* data;
  int rows, columns, lead;

  T* at(int row, int column) const { return data + std::int64_t(column) * lead + row; }
  Columns part(int row, int column, int count, int width) const {
    return {at(row, column), count, width, lead};
  }
};

// x = inv(triangle of a) * x
template <class T>
void solve_triangle(Columns<T> a, Columns<T> x, bool upper, bool transposed, bool unit);

// As LAPACK's getrf: L and U in the place of a, rows exchanged; the number of the first zero on
// U's diagonal, or 0.
template <class T>
int factor_lu(Columns<T> a, int* pivots);

// As `count` of LAPACK's pivots say, first to last or backwards: row r with row pivots[r], counted
// from 1.
template <class T>
void exchange_rows(Columns<T> x, const int* pivots, int count, bool backwards);

// x := the inverse of the matrix that factor_lu() made `lu` of.
template <class T>
void invert_lu(Columns<T> lu, const int* pivots, Columns<T> x);

}  // namespace rushlight
