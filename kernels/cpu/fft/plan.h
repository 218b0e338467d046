// How a length is transformed, and the roots of unity that this takes; kept for the next call.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

namespace rushlight::fft {

using Index = std::int64_t;

// One pass of Stockham's algorithm: m transforms of `radix` values each, of what is left of the
// length, m * radix.
struct Pass {
  int radix;
  Index m;
  Index roots;  // where its roots begin: of value k >= 1, m real parts and m imaginary ones
};

inline constexpr Index kGroup = 16;  // columns of a long line that are transformed together

template <class T>
struct Plan {
  Index n = 1;
  Index capacity = 1;  // values of working memory that a line takes
  // A length of small prime factors: by passes.
  std::vector<Pass> passes;
  std::vector<T> roots;
  // The same, too long for a fast cache: as a matrix (columns->n, rows->n), whose columns are
  // transformed, turned by exp(-2 pi i row column / n), and then its rows. Such a root is the
  // product of one for the group of columns, groups[group][row], and one for the column in it,
  // inside[row][part][column].
  std::shared_ptr<const Plan> columns, rows;
  std::vector<T> groups, inside;
  // A large prime factor (Bluestein): a product of polynomials, by `inner` transforms, with the
  // chirp exp(-pi i j^2 / n); real parts, then imaginary ones. `response`: the transform of its
  // conjugate, divided by the length.
  std::shared_ptr<const Plan> inner;
  std::vector<T> chirp, response;

  std::size_t bytes() const;
  bool takes_one_line() const { return columns || (inner && inner->columns); }
};

template <class T>
std::shared_ptr<const Plan<T>> plan_of(Index n);

// The roots exp(-2 pi i k / n) for k <= n / 2, n even: real parts, then imaginary ones.
template <class T>
std::shared_ptr<const std::vector<T>> half_circle(Index n);

}  // namespace rushlight::fft
