// Indexing by tensors. Every index value is read once and checked as it becomes an offset,
// so a thread that changes an index tensor meanwhile cannot lead outside; nothing of a tensor that
// is there already is written before all of them are checked.
#include "kernels/index.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <utility>

#include "gather.h"
#include "kernels/cpu/interruptible.h"
#include "kernels/cpu/load_as.h"
#include "kernels/cpu/memory_order.h"
#include "kernels/cpu/positions.h"
#include "kernels/cpu/read_once.h"
#include "kernels/cpu/runs.h"
#include "kernels/cpu/scratch.h"
#include "kernels/parallel.h"

namespace rushlight {
namespace {

// Offsets into the indexed dimensions, for `count` positions of the index shape from `begin` on.
BadIndex offsets_of(const View& self, const IndexList& list, std::int64_t begin, std::int64_t count,
                    std::int64_t* offsets) {
  std::fill(offsets, offsets + count, 0);
  for (int k = 0; k < list.count; ++k) {
    const View& index = list.of[k];
    const std::int64_t size = self.sizes[k], stride = self.strides[k];
    Positions<1> at(index.rank, index.sizes, {index.strides}, begin);
    for (std::int64_t i = 0; i < count;) {
      const std::int64_t n = std::min(count - i, at.left()), step = at.step(0);
      const auto* from = index.as<const std::int64_t>() + at.offset[0];
      std::int64_t bad = 0;  // the first of those outside
      bool any = false;
      for (std::int64_t j = 0; j < n; ++j) {
        const std::int64_t value = read_once(from + j * step);
        const std::int64_t wrapped = value < 0 ? value + size : value;
        const bool outside = std::uint64_t(wrapped) >= std::uint64_t(size);
        bad = outside && !any ? value : bad;
        any |= outside;
        offsets[i + j] += std::int64_t(std::uint64_t(wrapped) * std::uint64_t(stride));
      }
      if (any) return {k, bad, size};
      at.skip(n), i += n;
    }
  }
  return {};
}

// The dimensions behind the indexed ones, of self and of the other side, merged where they can be.
// The last of them is a run; rank 0 is one run of one element.
struct Rest {
  int rank = 0;  // without the run
  std::int64_t sizes[kMaxRank] = {}, self[kMaxRank] = {}, other[kMaxRank] = {}, numel = 1;
  std::int64_t length = 1, self_step = 1, other_step = 1;
};
Rest rest_of(const View& self, const View& other, const IndexList& list) {
  Rest r;
  const int shift = list.of[0].rank - list.count;
  for (int d = list.count; d < self.rank; ++d) {
    const std::int64_t size = self.sizes[d], a = self.strides[d], b = other.strides[d + shift];
    r.numel *= size;
    if (size == 1) continue;
    const int last = r.rank - 1;
    if (last >= 0 && r.self[last] == a * size && r.other[last] == b * size) {
      r.sizes[last] *= size, r.self[last] = a, r.other[last] = b;
    } else {
      r.sizes[r.rank] = size, r.self[r.rank] = a, r.other[r.rank++] = b;
    }
  }
  if (r.rank == 0) return r;
  --r.rank;
  r.length = r.sizes[r.rank], r.self_step = r.self[r.rank], r.other_step = r.other[r.rank];
  return r;
}

template <class F>
void each_run(const Rest& r, std::int64_t self, std::int64_t other, const F& f) {
  Positions<2> at(r.rank, r.sizes, {r.self, r.other});
  for (std::int64_t i = 0; i < r.numel; i += r.length, at.next())
    f(self + at.offset[0], other + at.offset[1]);
}

// Whether neighbours on the other side differ in their index: then positions are the inner loop.
bool is_across(const Rest& r, const View& other, const IndexList& list) {
  const int rank = list.of[0].rank;
  return r.numel > 1 && rank && other.strides[rank - 1] == 1 && r.other_step != 1;
}

constexpr std::int64_t kPiece = 1024;  // positions that become offsets at a time
constexpr std::int64_t kMost = 1 << 20;  // elements between two looks for Ctrl-C
constexpr std::int64_t kRow = 1024;    // bytes of a run from which the next is fetched meanwhile

BadIndex get(const View& out, const View& self, const IndexList& list) {
  const Rest r = rest_of(self, out, list);
  const int rank = list.of[0].rank;
  const bool across = is_across(r, out, list);
  BadIndex bad;
  std::int64_t bad_at = std::numeric_limits<std::int64_t>::max();  // where the first one is
  std::mutex guard;
  dispatch_size(out.dtype, [&]<class S>(Type<S>) {
    S* to = out.as<S>();
    const S* from = self.as<const S>();
    const std::int64_t grain =
        std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(r.numel, 1));
    parallel_for(list.of[0].numel, grain, [&](std::int64_t begin, std::int64_t end) {
      std::int64_t sources[kPiece], targets[kPiece];
      Positions<1> at(rank, out.sizes, {out.strides}, begin);
      for (; begin < end; begin += kPiece) {
        const std::int64_t count = std::min(kPiece, end - begin);
        if (const BadIndex b = offsets_of(self, list, begin, count, sources); b.which >= 0) {
          const std::lock_guard<std::mutex> lock(guard);
          if (begin < bad_at) bad_at = begin, bad = b;
          return;
        }
        if (r.numel == 1 && rank == 1) {  // single elements, one after another
          S* const first = to + begin * out.strides[0];
          for (std::int64_t i = 0; i < count; ++i) first[i * out.strides[0]] = from[sources[i]];
          continue;
        }
        for (std::int64_t i = 0; i < count;) {
          const std::int64_t n = std::min(count - i, at.left()), step = at.step(0);
          for (std::int64_t k = 0; k < n; ++k) targets[i + k] = at.offset[0] + k * step;
          at.skip(n), i += n;
        }
        if (across) {
          each_run(r, 0, 0, [&](std::int64_t s, std::int64_t t) {
            for (std::int64_t k = 0; k < r.length; ++k, s += r.self_step, t += r.other_step)
              for (std::int64_t i = 0; i < count; ++i) to[t + targets[i]] = from[s + sources[i]];
          });
        } else if (r.numel == 1) {
          for (std::int64_t i = 0; i < count; ++i) to[targets[i]] = from[sources[i]];
        } else if (r.rank == 0 && r.self_step == 1 && r.other_step == 1 &&
                   r.length >= kRow / std::int64_t(sizeof(S)) && r.length < kMost) {
          for (std::int64_t i = 0; i < count; ++i)
            copy_row(to + targets[i], from + sources[i], from + sources[std::min(i + 1, count - 1)],
                     r.length);
        } else if (r.rank == 0 && r.length < kMost) {
          for (std::int64_t i = 0; i < count; ++i)
            copy_run(to + targets[i], r.other_step, from + sources[i], r.self_step, r.length);
        } else if (r.rank == 0) {
          for (std::int64_t i = 0; i < count; ++i)
            serial_for(r.length, [&](std::int64_t k, std::int64_t past) {
              copy_run(to + targets[i] + k * r.other_step, r.other_step,
                       from + sources[i] + k * r.self_step, r.self_step, past - k);
            });
        } else {
          for (std::int64_t i = 0; i < count; ++i)
            each_run(r, sources[i], targets[i], [&](std::int64_t s, std::int64_t t) {
              copy_run(to + t, r.other_step, from + s, r.self_step, r.length);
            });
        }
      }
    });
  });
  return bad;
}

constexpr std::int64_t kPartElements = 65536, kFewest = 64;  // of a part; of a run in it

// One position after the other: where two name the same element, the last one stays, or all add up.
BadIndex put(const View& self, const View& values, const IndexList& list, bool accumulate) {
  if (list.count == 1 && self.rank == 1 && list.of[0].rank == 1) {  // what scatter does
    const ScatterMode mode = accumulate ? ScatterMode::add : ScatterMode::assign;
    if (scatter_elements(self, 0, list.of[0], values, mode, true).which < 0) return {};
  }
  const std::int64_t all = list.of[0].numel;
  Scratch<std::int64_t> offsets(static_cast<std::size_t>(all));
  BadIndex bad;
  serial_for(all, [&](std::int64_t begin, std::int64_t end) {
    if (bad.which < 0) bad = offsets_of(self, list, begin, end - begin, offsets.data() + begin);
  });
  if (bad.which >= 0) return bad;
  const Rest r = rest_of(self, values, list);
  const int rank = list.of[0].rank;
  // Runs in parts, each of which a thread writes for all positions, in their order.
  const std::int64_t parts =
      r.rank ? 1
             : std::clamp<std::int64_t>(
                   std::min(all * r.length / kPartElements, r.length / kFewest), 1, num_threads());
  const auto run = [&]<class S>(Type<S>, auto write, auto write_one) {
    if (r.rank == 0) {  // single elements, or runs
      parallel_for(parts, 1, [&](std::int64_t part, std::int64_t last) {
        const std::int64_t first = r.length * part / parts;
        const std::int64_t length = r.length * last / parts - first;
        Positions<1> at(rank, values.sizes, {values.strides});
        Interruptible interruptible;
        for (std::int64_t i = 0; i < all;) {
          const std::int64_t n = std::min({all - i, at.left(), kMost}), step = at.step(0);
          const std::int64_t* const to = &offsets[std::size_t(i)];
          S* const written = self.as<S>() + first * r.self_step;
          const S* const from = values.as<const S>() + at.offset[0] + first * r.other_step;
          if (r.numel == 1)
            for (std::int64_t k = 0; k < n; ++k) write_one(written + to[k], from + k * step);
          else
            for (std::int64_t k = 0; k < n; ++k) write(written + to[k], from + k * step, length);
          at.skip(n), i += n;
          interruptible.done(n * length);
        }
      });
      return;
    }
    Positions<1> at(rank, values.sizes, {values.strides});
    Interruptible interruptible;
    for (std::int64_t i = 0; i < all; ++i) {
      each_run(r, offsets[std::size_t(i)], at.offset[0], [&](std::int64_t s, std::int64_t v) {
        write(self.as<S>() + s, values.as<const S>() + v, r.length);
      });
      at.next();
      interruptible.done(r.numel);
    }
  };
  if (!accumulate)
    dispatch_size(self.dtype, [&]<class S>(Type<S> t) {
      run(
          t,
          [&](S* to, const S* from, std::int64_t length) {
            copy_run(to, r.self_step, from, r.other_step, length);
          },
          [](S* to, const S* from) { *to = *from; });
    });
  else
    dispatch_all(self.dtype, [&]<class S>(Type<S> t) {
      run(
          t,
          [&](S* to, const S* from, std::int64_t length) {
            combine_run(to, r.self_step, from, r.other_step, length, ScatterMode::add);
          },
          add_to<S>);
    });
  return {};
}

// Calls f(first element, positions of the line) for the lines of `in` along its last dimension, a
// piece at a time; the step from element to element and a piece's length are given to it.
template <class S, class F>
void each_piece(const View& in, F f) {
  const int outer = in.rank ? in.rank - 1 : 0;
  const std::int64_t n = in.rank ? in.sizes[outer] : 1, step = in.rank ? in.strides[outer] : 1;
  Positions<1> at(outer, in.sizes, {in.strides});
  Interruptible interruptible;
  for (std::int64_t left = in.numel; left > 0; left -= n, at.next())
    for (std::int64_t first = 0; first < n; first += kPiece) {
      const std::int64_t count = std::min(kPiece, n - first);
      f(in.as<const S>() + at.offset[0] + first * step, step, count, first, at);
      interruptible.done(count);
    }
}

template <class S>
[[gnu::always_inline]] inline bool is_nonzero(const S* x) {
  return load_as<std::conditional_t<std::is_same_v<S, bool>, std::uint8_t, Compute<S>>>(x) != 0;
}
template <class S>
CLONES std::int32_t count_run(const S* x, std::int64_t step, std::int64_t n) {
  std::int32_t found = 0;
  if (step == 1)
    for (std::int64_t i = 0; i < n; ++i) found += is_nonzero(x + i);
  else
    for (std::int64_t i = 0; i < n; ++i) found += is_nonzero(x + i * step);
  return found;
}

std::int64_t count_nonzero(const View& in) {
  return dispatch_all(in.dtype, [&]<class S>(Type<S>) {
    std::int64_t found = 0;
    each_piece<S>(in_memory_order(in),
                  [&](const S* x, std::int64_t step, std::int64_t n, std::int64_t, const auto&) {
                    found += count_run(x, step, n);
                  });
    return found;
  });
}

// Which of n elements are not zero: each is written, and kept by counting on, so that there is no
// branch to be guessed.
template <class S>
std::int64_t find_run(const S* x, std::int64_t step, std::int64_t n, std::int32_t* found) {
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    found[count] = std::int32_t(i);
    count += is_nonzero(x + i * step);
  }
  return count;
}
// first + found[i], or first alone without `found`.
CLONES void write_indices(std::int64_t* to, std::int64_t step, std::int64_t n, std::int64_t first,
                          const std::int32_t* found) {
  if (step != 1)
    for (std::int64_t i = 0; i < n; ++i) to[i * step] = first + (found ? found[i] : 0);
  else if (found)
    for (std::int64_t i = 0; i < n; ++i) to[i] = first + found[i];
  else
    for (std::int64_t i = 0; i < n; ++i) to[i] = first;
}

// The same for lines of a few elements, of which as many are looked through as make up a piece: of
// each that is found, its place in its line and the line's number.
constexpr std::int64_t kShortLine = 64;
std::int64_t nonzero_of_short(const View& out, const View& in) {
  return dispatch_all(in.dtype, [&]<class S>(Type<S>) {
    const int last = in.rank - 1;
    const std::int64_t n = in.sizes[last], step = in.strides[last], lines = in.numel / n;
    std::int32_t found[kPiece];
    std::int32_t line[kPiece];
    std::int64_t outer[kMaxRank][kPiece];  // the indices of each line
    std::int64_t row = 0;
    Positions<1> at(last, in.sizes, {in.strides});
    Interruptible interruptible;
    for (std::int64_t first = 0, taken; first < lines; first += taken) {
      taken = std::min(lines - first, kPiece / n);
      std::int64_t count = 0;
      for (std::int64_t k = 0; k < taken; ++k, at.next()) {
        for (int d = 0; d < last; ++d) outer[d][k] = at[d];
        const S* const x = in.as<const S>() + at.offset[0];
        for (std::int64_t i = 0; i < n; ++i) {
          found[count] = std::int32_t(i), line[count] = std::int32_t(k);
          count += is_nonzero(x + i * step);
        }
      }
      const std::int64_t fitting = std::clamp<std::int64_t>(out.sizes[0] - row, 0, count);
      std::int64_t* const to = out.as<std::int64_t>() + row * out.strides[0];
      for (int d = 0; d < last; ++d)
        for (std::int64_t i = 0; i < fitting; ++i)
          to[i * out.strides[0] + d * out.strides[1]] = outer[d][line[i]];
      write_indices(to + last * out.strides[1], out.strides[0], fitting, 0, found);
      row += count;
      interruptible.done(taken * n);
    }
    return row;
  });
}

std::int64_t nonzero(const View& out, const View& in) {
  if (in.rank > 1 && in.numel && in.sizes[in.rank - 1] <= kShortLine)
    return nonzero_of_short(out, in);
  return dispatch_all(in.dtype, [&]<class S>(Type<S>) {
    std::int64_t row = 0;
    const int last = in.rank - 1;
    std::int32_t found[kPiece];
    each_piece<S>(in, [&](const S* x, std::int64_t step, std::int64_t n, std::int64_t first,
                          const Positions<1>& at) {
      const std::int64_t count = step == 1 ? find_run(x, 1, n, found) : find_run(x, step, n, found);
      const std::int64_t fitting = std::clamp<std::int64_t>(out.sizes[0] - row, 0, count);
      std::int64_t* const to = out.as<std::int64_t>() + row * out.strides[0];
      for (int d = 0; d < in.rank; ++d)
        write_indices(to + d * out.strides[1], out.strides[0], fitting, d == last ? first : at[d],
                      d == last ? found : nullptr);
      row += count;
    });
    return row;
  });
}

void repeat(const View& out, const View& counts) {
  const auto* const n = counts.as<const std::int64_t>();
  auto* to = out.as<std::int64_t>();
  std::int64_t* const end = to + out.numel;
  for (std::int64_t i = 0; i < counts.numel; ++i)
    to = std::fill_n(to, std::clamp<std::int64_t>(read_once(n + i), 0, end - to), i);
  std::fill(to, end, 0);
}

}  // namespace

const IndexKernels cpu_index = {get,           put,     gather_elements, scatter_elements,
                                count_nonzero, nonzero, repeat};

}  // namespace rushlight
