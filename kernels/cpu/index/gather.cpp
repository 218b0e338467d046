// gather and scatter along one dimension, in the order of the index tensor.
#include "gather.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>

#include "kernels/cpu/interruptible.h"
#include "kernels/cpu/memory_order.h"
#include "kernels/cpu/positions.h"
#include "kernels/cpu/read_once.h"
#include "kernels/cpu/runs.h"
#include "kernels/parallel.h"
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

// Two dimensions that change places, so that short lines become long ones. The order along each
// dimension stays, and elements apart in any other than the indexed one never meet.
struct Exchange {
  int a = -1, b = -1;
  explicit Exchange(const View& index) {
    constexpr std::int64_t kShort = 8, kLong = 64;
    const IndexLines lines(index);
    if (lines.length >= kShort || lines.lines < kLong) return;
    for (int d = 0; d < lines.rank; ++d)
      if (index.sizes[d] >= kLong && (a < 0 || index.sizes[d] > index.sizes[a])) a = d;
    b = lines.rank;
  }
  explicit operator bool() const { return a >= 0; }
  int operator()(int dim) const { return dim == a ? b : dim == b ? a : dim; }
  View operator()(View v) const {
    std::swap(v.sizes[a], v.sizes[b]);
    std::swap(v.strides[a], v.strides[b]);
    return v;
  }
};

constexpr std::int64_t kRun = 1 << 16;    // elements between two looks at Ctrl-C
constexpr std::int64_t kGrain = 1 << 14;  // elements that are worth a thread

// f(first, n) for the runs of a line's elements [begin, end), however long it is.
template <class F>
void for_each_run(std::int64_t begin, std::int64_t end, Interruptible& interruptible, const F& f) {
  for (std::int64_t first = begin; first < end; first += kRun) {
    const std::int64_t n = std::min(kRun, end - first);
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

// Whether all lie there, where they are dense.
bool is_inside(const View& index, std::int64_t size) {
  const View merged = in_memory_order(index);
  if (merged.rank != 1 || merged.strides[0] != 1) return false;
  Interruptible interruptible;
  bool inside = true;
  for_each_run(0, merged.numel, interruptible, [&](std::int64_t first, std::int64_t n) {
    inside = inside && all_inside(merged.as<const std::int64_t>() + first, n, size);
  });
  return inside;
}

// The first index that does not lie in [0, size). Those that repeat along a dimension are read
// once.
BadIndex check_all(const View& index, std::int64_t size) {
  View once = index;
  for (int d = 0; d < index.rank; ++d)
    if (index.strides[d] == 0 && index.sizes[d] > 1) once.numel /= once.sizes[d], once.sizes[d] = 1;
  if (is_inside(once, size)) return {};
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
// What scatter does with one element, and along a run of them that meets one index.
template <class S>
struct Assign {
  void operator()(S* to, const S* from) const { *to = *from; }
  void along(S* to, std::int64_t a, const S* from, std::int64_t b, std::int64_t n) const {
    copy_run(to, a, from, b, n);
  }
};
template <class S>
struct Fill {
  S bits;
  void operator()(S* to, const S*) const { *to = bits; }
  void along(S* to, std::int64_t a, const S*, std::int64_t, std::int64_t n) const {
    for (std::int64_t i = 0; i < n; ++i) to[i * a] = bits;
  }
};
template <class S>
struct Combine {
  ScatterMode mode;
  void operator()(S* to, const S* from) const { store(to, combined(load(to), load(from), mode)); }
  void along(S* to, std::int64_t a, const S* from, std::int64_t b, std::int64_t n) const {
    combine_run(to, a, from, b, n, mode);
  }
};
template <class S>
struct AddOne {
  void operator()(S* to, const S* from) const {
    if constexpr (std::is_same_v<S, bfloat16>) {
      // A NaN that is the sum of two has no bits for rounding to carry into its sign.
      const std::uint32_t u = std::bit_cast<std::uint32_t>(load(to) + load(from));
      to->bits = std::uint16_t((u + 0x7fff + (u >> 16 & 1)) >> 16);
    } else {
      add_to(to, from);
    }
  }
  void along(S* to, std::int64_t a, const S* from, std::int64_t b, std::int64_t n) const {
    combine_run(to, a, from, b, n, ScatterMode::add);
  }
};

// Some lines one after another, and how far they are from each other.
struct Neighbours {
  std::int64_t lines, to, from, at;
};
// The loops of one of them: what walks over the lines is compiled once.
struct Scatter {
  void (*along)(void* to, std::int64_t to_step, const void* from, std::int64_t from_step,
                std::int64_t n, const void* context);
  void (*each)(void* to, std::int64_t step, std::int64_t base_step, const void* from,
               std::int64_t from_step, const std::int64_t* at, std::int64_t at_step, std::int64_t n,
               std::int64_t size, const Neighbours& lines, const void* context);
  const void* context;
};
template <class S, class F>
void scatter_along(void* to, std::int64_t to_step, const void* from, std::int64_t from_step,
                   std::int64_t n, const void* context) {
  static_cast<const F*>(context)->along(static_cast<S*>(to), to_step, static_cast<const S*>(from),
                                        from_step, n);
}
// A value outside was changed by another thread since the check: it is passed over.
template <class F>
[[gnu::always_inline]] inline void each_inside(const std::int64_t* at, std::int64_t step,
                                               std::int64_t n, std::int64_t size, const F& f) {
  for (std::int64_t first = 0; first < n;)
    first += 1 + each_index(at + first * step, step, n - first, size,
                            [&](std::int64_t i, std::int64_t v) { f(first + i, v); });
}
template <class S, class F>
void scatter_each(void* to, std::int64_t step, std::int64_t base_step, const void* from,
                  std::int64_t from_step, const std::int64_t* at, std::int64_t at_step,
                  std::int64_t n, std::int64_t size, const Neighbours& given, const void* context) {
  const F combine = *static_cast<const F*>(context);
  const Neighbours lines = given;
  S* y = static_cast<S*>(to);
  const S* x = static_cast<const S*>(from);
  const bool is_dense = step == 1 && base_step == 0 && from_step == 1 && at_step == 1;
  for (std::int64_t line = 0; line < lines.lines;
       ++line, y += lines.to, x += lines.from, at += lines.at) {
    if (is_dense)
      each_inside(at, 1, n, size, [=](std::int64_t i, std::int64_t v) { combine(y + v, x + i); });
    else
      each_inside(at, at_step, n, size, [=](std::int64_t i, std::int64_t v) {
        combine(y + (v * step + i * base_step), x + i * from_step);
      });
  }
}
template <class S, class F>
Scatter scatter_by(const F& combine) {  // which must outlive it
  return {scatter_along<S, F>, scatter_each<S, F>, &combine};
}

}  // namespace

BadIndex gather_elements(const View& out, const View& self, int dim, const View& index) {
  if (const Exchange e(index); e) return gather_elements(e(out), e(self), e(dim), e(index));
  const std::int64_t size = self.rank ? self.sizes[dim] : 1,
                     step = self.rank ? self.strides[dim] : 0;
  const Without base(self, dim);
  const IndexLines lines(index);
  const std::int64_t out_step = lines.step_of(out, out.strides);
  const std::int64_t base_step = lines.step_of(index, base.strides);
  // Of lines [line, end); stops at an index that lies outside.
  const auto walk = [&]<class S>(Type<S>, std::int64_t line, std::int64_t end) -> BadIndex {
    Positions<3> at(lines.rank, index.sizes, {out.strides, index.strides, base.strides}, line);
    Interruptible interruptible;
    for (; line < end; ++line, at.next()) {
      S* to = out.as<S>() + at.offset[0];
      const auto* value = index.as<const std::int64_t>() + at.offset[1];
      const S* from = self.as<const S>() + at.offset[2];
      if (lines.step == 0) {  // one index for the whole line
        const std::int64_t v = read_once(value);
        if (v < 0 || v >= size) return {0, v, size};
        for_each_run(0, lines.length, interruptible, [&](std::int64_t first, std::int64_t n) {
          copy_run(to + first * out_step, out_step, from + v * step + first * base_step, base_step,
                   n);
        });
      } else {
        for (std::int64_t first = 0; first < lines.length; first += kRun) {
          const std::int64_t n = std::min(kRun, lines.length - first);
          const std::int64_t done =
              gather_run(to + first * out_step, out_step, from + first * base_step, step, base_step,
                         value + first * lines.step, lines.step, n, size);
          if (done < n) return {0, read_once(value + (first + done) * lines.step), size};
          interruptible.done(n);
        }
      }
    }
    return {};
  };
  BadIndex bad;
  std::int64_t bad_at = lines.lines;
  std::mutex guard;
  dispatch_size(out.dtype, [&](auto type) {
    const std::int64_t grain = 1 + kGrain / std::max<std::int64_t>(1, lines.length);
    parallel_for(lines.lines, grain, [&](std::int64_t begin, std::int64_t end) {
      const BadIndex found = walk(type, begin, end);
      if (found.which < 0) return;
      const std::lock_guard lock(guard);
      if (begin < bad_at) bad_at = begin, bad = found;
    });
  });
  return bad;
}

BadIndex scatter_elements(const View& self, int dim, const View& index, const View& src,
                          ScatterMode mode, bool include_self) {
  if (const Exchange e(index); e)
    return scatter_elements(e(self), e(dim), e(index), e(src), mode, include_self);
  const std::int64_t size = self.rank ? self.sizes[dim] : 1,
                     step = self.rank ? self.strides[dim] : 0;
  if (const BadIndex bad = check_all(index, size); bad.which >= 0) return bad;
  const Without base(self, dim);
  const IndexLines lines(index);
  const std::int64_t src_step = lines.step_of(src, src.strides);
  const std::int64_t base_step = lines.step_of(index, base.strides);
  // Of lines [line, end), the elements [begin, stop).
  const auto walk = [&](const Scatter& scatter, std::int64_t line, std::int64_t end,
                        std::int64_t begin, std::int64_t stop) {
    const auto item = std::int64_t(item_size(self.dtype));
    Positions<3> at(lines.rank, index.sizes, {src.strides, index.strides, base.strides}, line);
    Interruptible interruptible;
    for (std::int64_t some; line < end; line += some, at.skip(some)) {
      const char* from = src.as<const char>() + at.offset[0] * item;
      const auto* value = index.as<const std::int64_t>() + at.offset[1];
      char* to = self.as<char>() + at.offset[2] * item;
      some = 1;
      if (lines.step == 0) {
        if (const std::int64_t v = checked_index(value, size); v >= 0)
          for_each_run(begin, stop, interruptible, [&](std::int64_t first, std::int64_t n) {
            scatter.along(to + (v * step + first * base_step) * item, base_step,
                          from + first * src_step * item, src_step, n, scatter.context);
          });
        continue;
      }
      some = std::clamp<std::int64_t>(kRun / std::max<std::int64_t>(1, stop - begin), 1,
                                      std::min(at.left(), end - line));
      const Neighbours neighbours = {some, at.step(2), at.step(0), at.step(1)};
      for_each_run(begin, stop, interruptible, [&](std::int64_t first, std::int64_t n) {
        scatter.each(to + first * base_step * item, step, base_step, from + first * src_step * item,
                     src_step, value + first * lines.step, lines.step, n, size, neighbours,
                     scatter.context);
        interruptible.done(n * (some - 1));
      });
    }
  };
  // Elements that lie apart in another dimension than the indexed one never meet.
  const auto run = [&](const Scatter& scatter) {
    const View whole = in_memory_order(self);
    if (index.numel < kGrain || whole.rank > 1 || (whole.rank && whole.strides[0] != 1))
      return walk(scatter, 0, lines.lines, 0, lines.length);
    if (lines.rank == dim)
      return parallel_for(lines.lines, 1 + kGrain / lines.length, [&](auto begin, auto end) {
        walk(scatter, begin, end, 0, lines.length);
      });
    // Wide parts, as each reads all lines.
    const std::int64_t part = std::max<std::int64_t>(64, lines.length / num_threads());
    parallel_for(lines.length, part,
                 [&](auto begin, auto end) { walk(scatter, 0, lines.lines, begin, end); });
  };
  if (mode == ScatterMode::assign) {
    dispatch_size(self.dtype, [&]<class S>(Type<S>) { run(scatter_by<S>(Assign<S>())); });
    return {};
  }
  if (!include_self) {
    Element start;
    dispatch_all(self.dtype, [&]<class S>(Type<S>) {
      store(reinterpret_cast<S*>(start.bytes), identity<Compute<S>>(mode, self.dtype));
    });
    dispatch_size(self.dtype, [&]<class S>(Type<S>) {
      Fill<S> fill;
      std::memcpy(&fill.bits, start.bytes, sizeof fill.bits);
      run(scatter_by<S>(fill));
    });
  }
  dispatch_all(self.dtype, [&]<class S>(Type<S>) {
    if (mode == ScatterMode::add)
      run(scatter_by<S>(AddOne<S>()));
    else
      run(scatter_by<S>(Combine<S>{mode}));
  });
  return {};
}

}  // namespace rushlight
