// Triangles of matrices, and the indices of their elements: the formulas for all devices.
#pragma once
#include "view.h"

namespace rushlight {

// The elements of a matrix on a diagonal and on one side of it. The diagonal lies in
// [-rows, columns], so that nothing here overflows.
struct Triangle {
  std::int64_t rows, columns, diagonal;
  bool lower;

  HOST_DEVICE bool holds(std::int64_t row, std::int64_t column) const {
    return lower ? column - row <= diagonal : column - row >= diagonal;
  }
  // Its columns in a row: [begin, end).
  HOST_DEVICE std::int64_t begin(std::int64_t row) const {
    return lower ? 0 : clamped(row + diagonal);
  }
  HOST_DEVICE std::int64_t end(std::int64_t row) const {
    return lower ? clamped(row + diagonal + 1) : columns;
  }
  // How many of its elements lie in the rows before this one.
  HOST_DEVICE std::int64_t count_before(std::int64_t row) const {
    return lower ? sum_of_clamped(row, diagonal + 1)
                 : row * columns - sum_of_clamped(row, diagonal);
  }

 private:
  HOST_DEVICE std::int64_t clamped(std::int64_t column) const {
    return column < 0 ? 0 : column > columns ? columns : column;
  }
  // sum of clamped(i + shift) over i in [0, row): zeros, an arithmetic series, then whole rows.
  HOST_DEVICE std::int64_t sum_of_clamped(std::int64_t row, std::int64_t shift) const {
    const std::int64_t first = shift < 0 ? -shift : 0;              // below: 0
    const std::int64_t full = columns > shift ? columns - shift : 0;  // from here on: columns
    const std::int64_t from = first < row ? first : row, to = full < row ? full : row;
    const std::int64_t terms = to > from ? to - from : 0;
    // The sum of the terms' first and last is whole or their count is even.
    const std::int64_t ends = from + shift + to - 1 + shift;
    const std::int64_t series = terms % 2 == 0 ? terms / 2 * ends : ends / 2 * terms;
    return series + (row > full ? (row - full) * columns : 0);
  }
};

struct TriangularKernels {
  // out = in inside the triangle of the last two dimensions, else 0; equal sizes.
  void (*keep)(const View& out, const View& in, const Triangle& triangle);
  // out: int64 [2, count], dense: the rows of all elements, then their columns; row-major order.
  void (*indices)(const View& out, const Triangle& triangle);
};
extern const TriangularKernels cpu_triangular;

}  // namespace rushlight
