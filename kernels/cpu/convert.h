// Rows of one dtype that become another.
#pragma once
#include "../dtype.h"

namespace rushlight {

// A row of n elements, with a stride on each side.
class ConvertRow {
 public:
  using Loop = void (*)(void* to, std::int64_t to_stride, const void* from,
                        std::int64_t from_stride, std::int64_t n);
  constexpr ConvertRow(DType to, DType from, Loop loop)
      : loop_(loop), to_item_(item_size(to)), from_item_(item_size(from)) {}
  void operator()(void* to, std::int64_t to_stride, const void* from, std::int64_t from_stride,
                  std::int64_t n) const;

 private:
  Loop loop_;  // quick where both sides are dense
  std::size_t to_item_, from_item_;
};

// Of two different dtypes that kernels compute with.
ConvertRow row_conversion(DType to, DType from);

}  // namespace rushlight
