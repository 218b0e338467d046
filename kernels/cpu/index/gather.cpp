// gather and scatter along one dimension, in the order of the index tensor.
#include "gather.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels/cpu/interruptible.h"
#include "kernels/cpu/positions.h"
#include "kernels/cpu/read_once.h"
#include "kernels/cpu/runs.h"
#include "kernels/stored.h"

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

// The indices of a gather or scatter, in lines along the last dimension that is not of size 1;
// `rank` dimensions lie before it.
struct IndexLines {
  int rank = 0;
  std::int64_t lines = 1, length = 1, step = 0;
  explicit IndexLines(const View& index) {
    for (int d = 0; d < index.rank; ++d)
      if (index.sizes[d] != 1) rank = d;
    if (!index.rank) return;
    length = index.sizes[rank], step = index.strides[rank];
    for (int d = 0; d < rank; ++d) lines *= index.sizes[d];
  }
  std::int64_t step_of(const View& v, const std::int64_t* strides) const {
    return v.rank ? strides[rank] : 0;
  }
};

constexpr std::int64_t kRun = 1 << 16;  // elements between two looks at Ctrl-C

// f(first, n) for the runs of a line, however long it is.
template <class F>
void for_each_run(std::int64_t length, Interruptible& interruptible, const F& f) {
  for (std::int64_t first = 0; first < length; first += kRun) {
    const std::int64_t n = std::min(kRun, length - first);
    f(first, n);
    interruptible.done(n);
  }
}

// Whether all of n indices lie in [0, size). They are read again, and checked, where they are used.
CLONES bool all_inside(const std::int64_t* at, std::int64_t n, std::int64_t size) {
  std::uint64_t outside = 0;
  for (std::int64_t i = 0; i < n; ++i) outside |= std::uint64_t(at[i]) >= std::uint64_t(size);
  return !outside;
}

// The first index that does not lie in [0, size). Those that repeat along a dimension are read
// once.
BadIndex check_all(const View& index, std::int64_t size) {
  View once = index;
  for (int d = 0; d < index.rank; ++d)
    if (index.strides[d] == 0) once.sizes[d] = std::min<std::int64_t>(index.sizes[d], 1);
  const IndexLines lines(once);
  Positions<1> at(lines.rank, once.sizes, {once.strides});
  Interruptible interruptible;
  for (std::int64_t line = 0; line < lines.lines; ++line, at.next())
    for (std::int64_t first = 0; first < lines.length; first += kRun) {
      const std::int64_t n = std::min(kRun, lines.length - first);
      const auto* value = index.as<const std::int64_t>() + at.offset[0] + first * lines.step;
      interruptible.done(n);
      if (lines.step == 1 && all_inside(value, n, size)) continue;
      for (std::int64_t i = 0; i < n; ++i, value += lines.step)
        if (const std::int64_t v = read_once(value); v < 0 || v >= size) return {0, v, size};
    }
  return {};
}

// f(i, index) for n indices, each read once; stops at one that does not lie in [0, size) and
// returns how many came before it. One by one: the processors' gathers are slower.
template <class F>
[[gnu::always_inline]] inline std::int64_t each_index(const std::int64_t* at, std::int64_t step,
                                                      std::int64_t n, std::int64_t size,
                                                      const F& f) {
  const auto inside = [=](std::int64_t v) { return std::uint64_t(v) < std::uint64_t(size); };
  std::int64_t i = 0;
  for (; i + 4 <= n; i += 4) {  // GCC does not unroll a loop that may end in the middle
    const std::int64_t* p = at + i * step;
    const std::int64_t a = read_once(p), b = read_once(p + step), c = read_once(p + 2 * step),
                       d = read_once(p + 3 * step);
    if (!inside(a) || !inside(b) || !inside(c) || !inside(d)) [[unlikely]]
      break;
    f(i, a);
    f(i + 1, b);
    f(i + 2, c);
    f(i + 3, d);
  }
  for (; i < n; ++i) {
    const std::int64_t v = read_once(at + i * step);
    if (!inside(v)) [[unlikely]]
      break;
    f(i, v);
  }
  return i;
}
template <class S>
std::int64_t gather_run(S* __restrict to, std::int64_t to_step, const S* __restrict from,
                        std::int64_t step, std::int64_t base_step, const std::int64_t* at,
                        std::int64_t at_step, std::int64_t n, std::int64_t size) {
  if (to_step == 1 && at_step == 1 && base_step == 0) {
    if (step == 1)
      return each_index(at, 1, n, size, [=](std::int64_t i, std::int64_t v) { to[i] = from[v]; });
    return each_index(at, 1, n, size,
                      [=](std::int64_t i, std::int64_t v) { to[i] = from[v * step]; });
  }
  return each_index(at, at_step, n, size, [=](std::int64_t i, std::int64_t v) {
    to[i * to_step] = from[v * step + i * base_step];
  });
}
template <class S>
void add_one(S* to, const S* from) {
  store(to, combined(load(to), load(from), ScatterMode::add));
}
// A NaN that is the sum of two of bfloat16 has no bits for rounding to carry into its sign.
inline void add_one(bfloat16* to, const bfloat16* from) {
  const std::uint32_t u = std::bit_cast<std::uint32_t>(load(to) + load(from));
  to->bits = std::uint16_t((u + 0x7fff + (u >> 16 & 1)) >> 16);
}
template <class S, class F>
std::int64_t scatter_run(S* to, std::int64_t step, std::int64_t base_step, const S* from,
                         std::int64_t from_step, const std::int64_t* at, std::int64_t at_step,
                         std::int64_t n, std::int64_t size, const F& combine) {
  if (step == 1 && base_step == 0 && from_step == 1 && at_step == 1)
    return each_index(at, 1, n, size,
                      [&](std::int64_t i, std::int64_t v) { combine(to + v, from + i); });
  return each_index(at, at_step, n, size, [&](std::int64_t i, std::int64_t v) {
    combine(to + (v * step + i * base_step), from + i * from_step);
  });
}

}  // namespace

BadIndex gather_elements(const View& out, const View& self, int dim, const View& index) {
  const std::int64_t size = self.rank ? self.sizes[dim] : 1,
                     step = self.rank ? self.strides[dim] : 0;
  const Without base(self, dim);
  const IndexLines lines(index);
  const std::int64_t out_step = lines.step_of(out, out.strides);
  const std::int64_t base_step = lines.step_of(index, base.strides);
  BadIndex bad;
  dispatch_size(out.dtype, [&]<class S>(Type<S>) {
    Positions<3> at(lines.rank, index.sizes, {out.strides, index.strides, base.strides});
    Interruptible interruptible;
    for (std::int64_t line = 0; line < lines.lines; ++line, at.next()) {
      S* to = out.as<S>() + at.offset[0];
      const auto* value = index.as<const std::int64_t>() + at.offset[1];
      const S* from = self.as<const S>() + at.offset[2];
      if (lines.step == 0) {  // one index for the whole line
        const std::int64_t v = read_once(value);
        if (v < 0 || v >= size) return void(bad = {0, v, size});
        for_each_run(lines.length, interruptible, [&](std::int64_t first, std::int64_t n) {
          copy_run(to + first * out_step, out_step, from + v * step + first * base_step, base_step,
                   n);
        });
      } else {
        for (std::int64_t first = 0; first < lines.length; first += kRun) {
          const std::int64_t n = std::min(kRun, lines.length - first);
          const std::int64_t done =
              gather_run(to + first * out_step, out_step, from + first * base_step, step, base_step,
                         value + first * lines.step, lines.step, n, size);
          if (done < n)
            return void(bad = {0, read_once(value + (first + done) * lines.step), size});
          interruptible.done(n);
        }
      }
    }
  });
  return bad;
}

BadIndex scatter_elements(const View& self, int dim, const View& index, const View& src,
                          ScatterMode mode, bool include_self) {
  const std::int64_t size = self.rank ? self.sizes[dim] : 1,
                     step = self.rank ? self.strides[dim] : 0;
  if (const BadIndex bad = check_all(index, size); bad.which >= 0) return bad;
  const Without base(self, dim);
  const IndexLines lines(index);
  const std::int64_t src_step = lines.step_of(src, src.strides);
  const std::int64_t base_step = lines.step_of(index, base.strides);
  const auto run = [&]<class S>(Type<S>, auto combine_run, auto combine) {
    Positions<3> at(lines.rank, index.sizes, {src.strides, index.strides, base.strides});
    Interruptible interruptible;
    for (std::int64_t line = 0; line < lines.lines; ++line, at.next()) {
      const S* from = src.as<const S>() + at.offset[0];
      const auto* value = index.as<const std::int64_t>() + at.offset[1];
      S* to = self.as<S>() + at.offset[2];
      // A value outside was changed by another thread since the check: it is passed over.
      if (lines.step == 0) {
        if (const std::int64_t v = checked_index(value, size); v >= 0)
          for_each_run(lines.length, interruptible, [&](std::int64_t first, std::int64_t n) {
            combine_run(to + v * step + first * base_step, base_step, from + first * src_step,
                        src_step, n);
          });
      } else {
        for (std::int64_t i = 0; i < lines.length;) {
          const std::int64_t n = std::min(kRun, lines.length - i);
          const std::int64_t done =
              scatter_run(to + i * base_step, step, base_step, from + i * src_step, src_step,
                          value + i * lines.step, lines.step, n, size, combine);
          i += done < n ? done + 1 : n;
          interruptible.done(n);
        }
      }
    }
  };
  if (mode == ScatterMode::assign) {
    dispatch_size(self.dtype, [&]<class S>(Type<S> t) {
      run(t, copy_run<S>, [](S* to, const S* from) { *to = *from; });
    });
    return {};
  }
  if (!include_self) {
    Element start;
    dispatch_all(self.dtype, [&]<class S>(Type<S>) {
      store(reinterpret_cast<S*>(start.bytes), identity<Compute<S>>(mode, self.dtype));
    });
    dispatch_size(self.dtype, [&]<class S>(Type<S> t) {
      S bits;
      std::memcpy(&bits, start.bytes, sizeof bits);
      const auto set = [bits](S* to, const S*) { *to = bits; };
      run(
          t,
          [set](S* to, std::int64_t a, const S*, std::int64_t, std::int64_t n) {
            for (std::int64_t i = 0; i < n; ++i) set(to + i * a, nullptr);
          },
          set);
    });
  }
  dispatch_all(self.dtype, [&]<class S>(Type<S> t) {
    const auto combine_all = [mode](S* to, std::int64_t a, const S* from, std::int64_t b,
                                    std::int64_t n) { combine_run(to, a, from, b, n, mode); };
    if (mode == ScatterMode::add)
      run(t, combine_all, [](S* to, const S* from) { add_one(to, from); });
    else
      run(t, combine_all,
          [mode](S* to, const S* from) { store(to, combined(load(to), load(from), mode)); });
  });
  return {};
}

}  // namespace rushlight
