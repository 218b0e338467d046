// Indexing by tensors. Every index value is read once, checked, and turned into an offset before
// anything is written, so a thread that changes an index tensor meanwhile cannot lead outside.
#include "../index.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "../parallel.h"
#include "index_gather.h"
#include "patience.h"
#include "positions.h"
#include "read_once.h"

namespace rushlight {
namespace {

// Offsets into the indexed dimensions, one for each position of the index shape.
BadIndex offsets_of(const View& self, const IndexList& list, std::vector<std::int64_t>& offsets) {
  const std::int64_t n = list.of[0].numel;
  offsets.assign(std::size_t(n), 0);
  for (int k = 0; k < list.count; ++k) {
    const View& index = list.of[k];
    const std::int64_t size = self.sizes[k], stride = self.strides[k];
    Positions<1> at(index.rank, index.sizes, {index.strides});
    BadIndex bad;
    serial_for(n, [&](std::int64_t i, std::int64_t end) {
      for (; i < end && bad.which < 0; ++i, at.next()) {
        const std::int64_t value = read_once(index.as<const std::int64_t>() + at.offset[0]);
        if (value < -size || value >= size)
          bad = {k, value, size};
        else
          offsets[std::size_t(i)] += (value < 0 ? value + size : value) * stride;
      }
    });
    if (bad.which >= 0) return bad;
  }
  return {};
}

// The dimensions behind the indexed ones, of self and of the other side.
struct Rest {
  int rank = 0;
  std::int64_t sizes[kMaxRank] = {}, self[kMaxRank] = {}, other[kMaxRank] = {}, numel = 1;
  bool dense = true;  // one run on both sides
};
Rest rest_of(const View& self, const View& other, const IndexList& list) {
  Rest r;
  const int shift = list.of[0].rank;
  for (int d = list.count; d < self.rank; ++d) {
    const int o = d - list.count + shift;
    if (self.sizes[d] == 1) continue;
    r.sizes[r.rank] = self.sizes[d];
    r.self[r.rank] = self.strides[d];
    r.other[r.rank++] = other.strides[o];
    r.numel *= self.sizes[d];
  }
  std::int64_t step = 1;
  for (int d = r.rank - 1; d >= 0; --d) {
    r.dense &= r.self[d] == step && r.other[d] == step;
    step *= r.sizes[d];
  }
  return r;
}

template <class S, class F>
void each_row(const Rest& r, std::int64_t self, std::int64_t other, const F& f) {
  Positions<2> at(r.rank, r.sizes, {r.self, r.other});
  for (std::int64_t i = 0; i < r.numel; ++i, at.next())
    f(self + at.offset[0], other + at.offset[1]);
}

BadIndex get(const View& out, const View& self, const IndexList& list) {
  std::vector<std::int64_t> offsets;
  if (const BadIndex bad = offsets_of(self, list, offsets); bad.which >= 0) return bad;
  const Rest r = rest_of(self, out, list);
  const int rank = list.of[0].rank;
  dispatch_size(out.dtype, [&]<class S>(Type<S>) {
    S* to = out.as<S>();
    const S* from = self.as<const S>();
    const std::int64_t grain =
        std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(r.numel, 1));
    parallel_for(std::int64_t(offsets.size()), grain, [&](std::int64_t begin, std::int64_t end) {
      Positions<1> at(rank, out.sizes, {out.strides}, begin);
      for (std::int64_t i = begin; i < end; ++i, at.next()) {
        const std::int64_t source = offsets[std::size_t(i)], target = at.offset[0];
        if (r.numel == 1)
          to[target] = from[source];
        else if (r.dense)
          std::memcpy(to + target, from + source, std::size_t(r.numel) * sizeof(S));
        else
          each_row<S>(r, source, target, [&](std::int64_t s, std::int64_t t) { to[t] = from[s]; });
      }
    });
  });
  return {};
}

// One position after the other: where two name the same element, the last one stays, or all add up.
BadIndex put(const View& self, const View& values, const IndexList& list, bool accumulate) {
  std::vector<std::int64_t> offsets;
  if (const BadIndex bad = offsets_of(self, list, offsets); bad.which >= 0) return bad;
  const Rest r = rest_of(self, values, list);
  const int rank = list.of[0].rank;
  const auto run = [&]<class S>(Type<S>, auto write) {
    S* to = self.as<S>();
    const S* from = values.as<const S>();
    Positions<1> at(rank, values.sizes, {values.strides});
    Patience patience;
    for (const std::int64_t offset : offsets) {
      each_row<S>(r, offset, at.offset[0],
                  [&](std::int64_t s, std::int64_t v) { write(to + s, from + v); });
      at.next();
      patience.done(r.numel);
    }
  };
  if (!accumulate)
    dispatch_size(self.dtype,
                  [&]<class S>(Type<S> t) { run(t, [](S* to, const S* from) { *to = *from; }); });
  else
    dispatch_all(self.dtype, [&]<class S>(Type<S> t) {
      run(t, [](S* to, const S* from) {
        store(to, combined<S>(load(to), load(from), ScatterMode::add));
      });
    });
  return {};
}

template <class S>
std::int64_t count(const View& in) {
  std::int64_t n = 0;
  Positions<1> at(in.rank, in.sizes, {in.strides});
  serial_for(in.numel, [&](std::int64_t i, std::int64_t end) {
    for (; i < end; ++i, at.next()) n += load(in.as<const S>() + at.offset[0]) != Compute<S>(0);
  });
  return n;
}
std::int64_t count_nonzero(const View& in) {
  return dispatch_all(in.dtype, [&]<class S>(Type<S>) { return count<S>(in); });
}

std::int64_t nonzero(const View& out, const View& in) {
  return dispatch_all(in.dtype, [&]<class S>(Type<S>) {
    std::int64_t row = 0;
    Positions<1> at(in.rank, in.sizes, {in.strides});
    serial_for(in.numel, [&](std::int64_t i, std::int64_t end) {
      for (; i < end; ++i, at.next()) {
        if (load(in.as<const S>() + at.offset[0]) == Compute<S>(0)) continue;
        if (row < out.sizes[0])
          for (int d = 0; d < in.rank; ++d)
            out.as<std::int64_t>()[row * out.strides[0] + d * out.strides[1]] = at[d];
        ++row;
      }
    });
    return row;
  });
}

}  // namespace

const IndexKernels cpu_index = {get,           put,    gather_elements, scatter_elements,
                                count_nonzero, nonzero};

}  // namespace rushlight
