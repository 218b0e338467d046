// What a kernel sees of a tensor: plain data. A View is made in one place of csrc (view_of), which
// has checked that every element lies inside its storage.
#pragma once
#include "dtype.h"

namespace rushlight {

inline constexpr int kMaxRank = 8;

struct View {
  void* data;
  DType dtype;
  int rank;
  std::int64_t numel;
  std::int64_t sizes[kMaxRank];
  std::int64_t strides[kMaxRank];  // in elements; 0 along a broadcast dimension

  template <class T>
  T* as() const {
    return static_cast<T*>(data);
  }
};

// A Python number as a kernel gets it: integers keep their 64 bits.
struct Scalar {
  enum class Kind : std::uint8_t { boolean, integer, floating };
  Kind kind = Kind::floating;
  union {
    double d = 0;
    std::int64_t i;
  };
  constexpr Scalar() = default;
  constexpr Scalar(double v) : kind(Kind::floating), d(v) {}
  constexpr Scalar(std::int64_t v) : kind(Kind::integer), i(v) {}
  constexpr Scalar(int v) : kind(Kind::integer), i(v) {}
  constexpr Scalar(bool v) : kind(Kind::boolean), i(v) {}
  constexpr bool is_floating() const { return kind == Kind::floating; }
  constexpr double as_double() const { return is_floating() ? d : static_cast<double>(i); }
  constexpr std::int64_t as_int() const { return is_floating() ? convert<std::int64_t>(d) : i; }
  template <class T>
  T to() const {
    return is_floating() ? convert<T>(d) : convert<T>(i);
  }
};

}  // namespace rushlight
