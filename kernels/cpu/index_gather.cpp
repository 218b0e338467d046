// gather and scatter along one dimension, in the order of the index tensor.
#include "index_gather.h"

#include <algorithm>

#include "../parallel.h"
#include "patience.h"
#include "positions.h"
#include "read_once.h"

namespace rushlight {
namespace {

// Strides of `t` with the indexed dimension taken out: its part comes from the index value.
struct Without {
  std::int64_t strides[kMaxRank];
  Without(const View& t, int dim) {
    std::copy_n(t.strides, kMaxRank, strides);
    if (t.rank) strides[dim] = 0;
  }
};

}  // namespace

BadIndex gather_elements(const View& out, const View& self, int dim, const View& index) {
  const std::int64_t size = self.rank ? self.sizes[dim] : 1,
                     step = self.rank ? self.strides[dim] : 0;
  const Without base(self, dim);
  BadIndex bad;
  dispatch_size(out.dtype, [&]<class S>(Type<S>) {
    Positions<3> at(index.rank, index.sizes, {out.strides, index.strides, base.strides});
    serial_for(index.numel, [&](std::int64_t i, std::int64_t end) {
      for (; i < end && bad.which < 0; ++i, at.next()) {
        const std::int64_t value = read_once(index.as<const std::int64_t>() + at.offset[1]);
        if (value < 0 || value >= size)
          bad = {0, value, size};
        else
          out.as<S>()[at.offset[0]] = self.as<const S>()[at.offset[2] + value * step];
      }
    });
  });
  return bad;
}

BadIndex scatter_elements(const View& self, int dim, const View& index, const View& src,
                          ScatterMode mode) {
  const std::int64_t size = self.rank ? self.sizes[dim] : 1,
                     step = self.rank ? self.strides[dim] : 0;
  BadIndex bad;
  Positions<1> checked(index.rank, index.sizes, {index.strides});
  serial_for(index.numel, [&](std::int64_t i, std::int64_t end) {
    for (; i < end && bad.which < 0; ++i, checked.next()) {
      const std::int64_t value = read_once(index.as<const std::int64_t>() + checked.offset[0]);
      if (value < 0 || value >= size) bad = {0, value, size};
    }
  });
  if (bad.which >= 0) return bad;
  const Without base(self, dim);
  dispatch_all(self.dtype, [&]<class S>(Type<S>) {
    Positions<3> at(index.rank, index.sizes, {src.strides, index.strides, base.strides});
    serial_for(index.numel, [&](std::int64_t i, std::int64_t end) {
      for (; i < end; ++i, at.next()) {
        const std::int64_t value = read_once(index.as<const std::int64_t>() + at.offset[1]);
        if (value < 0 || value >= size) continue;  // changed by another thread since the check
        S* to = self.as<S>() + at.offset[2] + value * step;
        store(to, combined(load(to), load(src.as<const S>() + at.offset[0]), mode));
      }
    });
  });
  return {};
}

}  // namespace rushlight
