// The loops behind convert.h: one for each pair of dtypes, but that float16 becomes others, and
// others become float16, by way of float.
#include "convert.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "gaps.h"
#include "half.h"
#include "load_as.h"

namespace rushlight {
namespace {

using Index = std::int64_t;

template <class To, class From>
CLONES_512 void convert_dense(To* to, const From* from, Index n) {
  for (Index i = 0; i < n; ++i) store(to + i, load_as<Compute<To>>(from + i));
}
// Numbers that become integers in vectors on every processor: of an int32, or as the last bits of a
// double, since only AVX-512 makes int64 of doubles.
template <class To, class C>
constexpr C kNear = sizeof(To) < 8 ? C(2147483648.0) : C(2251799813685248.0);
template <class To, class From>
CLONES_512 bool all_near(const From* from, Index n) {
  int far = 0;
  for (Index i = 0; i < n; ++i) {
    const Compute<From> v = load(from + i);
    far |= !(v > -kNear<To, Compute<From>> && v < kNear<To, Compute<From>>);
  }
  return !far;
}
template <class To, class From>
CLONES_512 void convert_near(To* to, const From* from, Index n) {
  constexpr double magic = 6755399441055744.;  // 1.5 * 2^52
  for (Index i = 0; i < n; ++i) {
    if constexpr (sizeof(To) < 8) {
      to[i] = static_cast<To>(static_cast<std::int32_t>(load(from + i)));
    } else {
      const double shifted = std::trunc(static_cast<double>(load(from + i))) + magic;
      to[i] = static_cast<To>(std::bit_cast<Index>(shifted) - std::bit_cast<Index>(magic));
    }
  }
}

template <class T>
constexpr bool kInteger = std::is_integral_v<T> && !std::is_same_v<T, bool>;
template <class To, class From>
constexpr bool kByFloat =
    std::is_same_v<From, float16> || (std::is_same_v<To, float16> && !std::is_same_v<From, bool>);

template <class To, class From>
void dense_row(To* to, const From* from, Index n) {
  constexpr Index kBlock = 1024;
  if constexpr (std::is_same_v<To, float> && std::is_same_v<From, float16>) {
    widen(to, from, n);
  } else if constexpr (std::is_same_v<To, float16> && std::is_same_v<From, float>) {
    narrow(to, from, n);
  } else if constexpr (kByFloat<To, From>) {
    alignas(64) float block[kBlock];
    for (Index done = 0; done < n; done += kBlock) {
      const Index count = std::min(kBlock, n - done);
      dense_row<float>(block, from + done, count);
      dense_row<To, float>(to + done, block, count);
    }
  } else if constexpr (std::is_floating_point_v<Compute<From>> && kInteger<To>) {
    for (Index done = 0; done < n; done += kBlock) {
      const Index count = std::min(kBlock, n - done);
      (all_near<To>(from + done, count) ? convert_near<To, From>
                                        : convert_dense<To, From>)(to + done, from + done, count);
    }
  } else {
    convert_dense(to, from, n);
  }
}
template <class To, class From>
void row(void* to, Index to_stride, const void* from, Index from_stride, Index n) {
  To* const y = static_cast<To*>(to);
  const From* const x = static_cast<const From*>(from);
  if (to_stride == 1 && from_stride == 1) return dense_row(y, x, n);
  for (Index i = 0; i < n; ++i)
    store(y + i * to_stride, convert<Compute<To>>(load(x + i * from_stride)));
}

// [to][from], filled before the first call, as small pointwise calls look up several.
using Loops = std::array<std::array<ConvertRow::Loop, kDTypes>, kDTypes>;
const Loops kLoops = [] {
  Loops loops{};
  for (int to = 0; to < kDTypes; ++to)
    for (int from = 0; from < kDTypes; ++from)
      dispatch_all(DType(to), [&]<class To>(Type<To>) {
        dispatch_all(DType(from), [&]<class From>(Type<From>) {
          if constexpr (!std::is_same_v<To, From> || std::is_same_v<To, bool>)
            loops[std::size_t(to)][std::size_t(from)] = row<To, From>;
        });
      });
  return loops;
}();

}  // namespace

// Elements with gaps between them are first brought together as they are, or last taken apart.
void ConvertRow::with_gaps(void* to, Index to_stride, const void* from, Index from_stride,
                           Index n) const {
  constexpr std::size_t kBytes = 4096;
  const std::size_t to_item = item_size(to_), from_item = item_size(from_);
  alignas(64) char before[kBytes], after[kBytes];
  const Index block = Index(kBytes / std::max(to_item, from_item));
  for (Index done = 0; done < n; done += block) {
    const Index count = std::min(block, n - done);
    const char* dense = static_cast<const char*>(from) + done * from_stride * Index(from_item);
    char* const target = static_cast<char*>(to) + done * to_stride * Index(to_item);
    if (from_stride != 1) {
      bring_together(before, dense, from_item, from_stride, count);
      dense = before;
    }
    loop_(to_stride == 1 ? target : after, 1, dense, 1, count);
    if (to_stride != 1) take_apart(target, to_item, to_stride, after, count);
  }
}

ConvertRow row_conversion(DType to, DType from) {
  return {to, from, kLoops[std::size_t(to)][std::size_t(from)]};
}

}  // namespace rushlight
