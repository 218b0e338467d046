// What the files index*.cu share: how values that meet in one place are combined.
#pragma once
#include "../index.h"
#include "elements.h"
#include "launch.h"

namespace rushlight::gpu {

template <class C>
__device__ C combined(C a, C b, ScatterMode mode, bool is_bool) {
  if (is_bool && mode == ScatterMode::add) return C(a != C(0) || b != C(0));
  switch (mode) {
    case ScatterMode::add:
      if constexpr (std::is_integral_v<C>)
        return C(std::uint64_t(a) + std::uint64_t(b));
      else
        return a + b;
    case ScatterMode::multiply:
      if constexpr (std::is_integral_v<C>)
        return C(std::uint64_t(a) * std::uint64_t(b));
      else
        return a * b;
    case ScatterMode::largest: return b > a || b != b ? b : a;
    case ScatterMode::smallest: return b < a || b != b ? b : a;
    default: return b;
  }
}

BadIndex index_gather(const View& out, const View& self, int dim, const View& index);
BadIndex index_scatter(const View& self, int dim, const View& index, const View& src,
                       ScatterMode mode);
Index index_count_nonzero(const View& in);
Index index_nonzero(const View& out, const View& in);

}  // namespace rushlight::gpu
