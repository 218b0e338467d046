// Rows of one dtype that become another.
#pragma once
#include <cstring>

#include "../dtype.h"

namespace rushlight {

// A row of n elements, with a stride on each side.
class ConvertRow {
 public:
  using Loop = void (*)(void* to, std::int64_t to_stride, const void* from,
                        std::int64_t from_stride, std::int64_t n);
  constexpr ConvertRow(DType to, DType from, Loop loop) : loop_(loop), to_(to), from_(from) {}
  void operator()(void* to, std::int64_t to_stride, const void* from, std::int64_t from_stride,
                  std::int64_t n) const {
    if (n <= kFew || (to_stride == 1 && from_stride == 1))
      loop_(to, to_stride, from, from_stride, n);
    else
      with_gaps(to, to_stride, from, from_stride, n);
  }

 private:
  static constexpr std::int64_t kFew = 16;  // elements that are not worth two steps
  void with_gaps(void* to, std::int64_t to_stride, const void* from, std::int64_t from_stride,
                 std::int64_t n) const;
  Loop loop_;  // quick where both sides are dense
  DType to_, from_;
};

// Of two different dtypes that kernels compute with, or of bool, whose bytes become 0 or 1.
ConvertRow row_conversion(DType to, DType from);

// n elements that lie dense on both sides, of one dtype or of two.
template <class To, class From>
void convert_row(To* to, const From* from, std::int64_t n) {
  if constexpr (std::is_same_v<To, From>)
    std::memcpy(to, from, std::size_t(n) * sizeof(To));
  else
    row_conversion(dtype_of<To>(), dtype_of<From>())(to, 1, from, 1, n);
}

}  // namespace rushlight
