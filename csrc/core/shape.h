// Shape, and all arithmetic on sizes: checked here and nowhere else. No other file multiplies
// sizes.
#pragma once
#include <algorithm>
#include <array>
#include <initializer_list>
#include <ostream>
#include <span>
#include <vector>

#include "core/error.h"
#include "kernels/view.h"

namespace rushlight {

using Sizes = std::span<const std::int64_t>;
using Strides = std::array<std::int64_t, kMaxRank>;

class Shape {
 public:
  std::int8_t rank = 0;
  std::array<std::int64_t, kMaxRank> sizes;

  Shape() = default;
  Shape(Sizes s) { assign(s); }  // RuntimeError beyond kMaxRank
  Shape(std::initializer_list<std::int64_t> s) : Shape(Sizes(s.begin(), s.size())) {}
  Shape(const std::vector<std::int64_t>& s) : Shape(Sizes(s)) {}

  // Without a Shape between: copying one that was just written waits for its bytes (4 ns).
  void assign(Sizes s) {
    if (s.size() > std::size_t(kMaxRank)) [[unlikely]]
      too_many(s.size());
    rank = std::int8_t(s.size());
    // A loop: for the few sizes there are, a call of memmove costs more than the copy.
    for (std::size_t d = 0; d < s.size(); ++d) sizes[d] = s[d];
  }
  Sizes view() const { return {sizes.data(), std::size_t(rank)}; }
  operator Sizes() const { return view(); }
  const std::int64_t* begin() const { return sizes.data(); }
  const std::int64_t* end() const { return sizes.data() + rank; }
  std::int64_t& operator[](int d) { return sizes[std::size_t(d)]; }
  std::int64_t operator[](int d) const { return sizes[std::size_t(d)]; }
  void push_back(std::int64_t n) {
    if (rank == kMaxRank) [[unlikely]]
      too_many(std::size_t(kMaxRank) + 1);
    sizes[std::size_t(rank++)] = n;
  }
  bool operator==(const Shape& o) const {
    if (rank != o.rank) return false;
    for (std::size_t d = 0; d < std::size_t(rank); ++d)  // no call of memcmp for two or three sizes
      if (sizes[d] != o.sizes[d]) return false;
    return true;
  }

 private:
  [[noreturn]] static void too_many(std::size_t rank);
};

inline bool same(Sizes a, Sizes b) {
  if (a.size() != b.size()) return false;
  for (std::size_t d = 0; d < a.size(); ++d)
    if (a[d] != b[d]) return false;
  return true;
}
inline std::ostream& operator<<(std::ostream& s, const Shape& shape) { return s << shape.view(); }

// Checked arithmetic: RuntimeError on overflow.
[[noreturn]] void fail_overflow(std::int64_t a, const char* sign, std::int64_t b);
inline std::int64_t checked_mul(std::int64_t a, std::int64_t b) {
  std::int64_t r;
  if (__builtin_mul_overflow(a, b, &r)) [[unlikely]]
    fail_overflow(a, " * ", b);
  return r;
}
inline std::int64_t checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t r;
  if (__builtin_add_overflow(a, b, &r)) [[unlikely]]
    fail_overflow(a, " + ", b);
  return r;
}
std::int64_t numel_of(Sizes sizes);  // also refuses negative sizes
std::int64_t bytes_of(Sizes sizes, DType dtype);

// Row-major strides; a size of 0 counts as 1, as in torch. Returns the number of elements, checked.
std::int64_t contiguous_strides(Sizes sizes, Strides& strides);
bool contiguous(Sizes sizes, const Strides& strides);

// First and last element that a strided view touches, relative to its offset, checked.
struct Extent {
  std::int64_t low, high;
};
Extent extent_of(Sizes sizes, const std::int64_t* strides);

// -1 is the last dimension. A 0-d tensor counts as having one, as in torch.
int wrap_dim(std::int64_t dim, int rank);
// A set of dimensions as a bit mask; no list means all. RuntimeError if one appears twice.
unsigned dim_mask(Sizes dims, int rank, bool empty_means_all = true);

// The common shape of two operands; torch's words if there is none.
Shape broadcast(Sizes a, Sizes b);
bool can_broadcast_to(Sizes from, Sizes to);
// Into `out`, the strides of a tensor when read with the sizes of `to`: 0 along broadcast
// dimensions.
void broadcast_strides(Sizes from, const std::int64_t* strides, Sizes to, std::int64_t* out);

// The dimensions in the order of memory, the fastest first: by insertion from the last one on. The
// strides of the first operand that is not broadcast along either of two dimensions decide; of
// equal ones, the longer dimension's is the slower.
void order_by_strides(Sizes sizes, const Strides* operands, int count, int* order);
// Strides of dense memory of these sizes, in such an order.
Strides dense_strides(Sizes sizes, const int* order);

// The strides with which a tensor can be seen as `to` without a copy; false if it cannot.
bool view_strides(Sizes from, const std::int64_t* strides, Sizes to, Strides& out);
// Replaces one -1 by what is left.
Shape infer_shape(Sizes wanted, std::int64_t numel);

}  // namespace rushlight
