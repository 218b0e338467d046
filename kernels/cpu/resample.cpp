// Resampling by a table of taps for each axis: rows along the width first, each once, kept while
// the rows of the result that are made of them need them. The gradient is the same with the tables
// transposed.
#include "../resample.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "../host_device.h"
#include "../parallel.h"
#include "convert.h"
#include "interruptible.h"
#include "resample_bytes.h"
#include "scratch.h"
#include "transpose.h"

namespace rushlight {
namespace {

using Index = std::int64_t;

// Memory that is written in the order in which it is read: a table of millions of outputs is not
// filled twice, and Ctrl-C is answered meanwhile.
template <class T>
class Filled {
 public:
  Filled() = default;
  explicit Filled(Index n) : data_(std::make_unique_for_overwrite<T[]>(std::size_t(n))) {}
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }

 private:
  std::unique_ptr<T[]> data_;
};

// For each output of an axis, `taps` inputs and weights: those of tap k lie together. A weight of 0
// beyond an output's own taps; `exact`: there are none of these, so that no test is needed.
template <class T>
struct AxisTaps {
  Index in, out, taps;
  bool keeps, exact;
  Filled<int> index;
  Filled<T> weight;

  // Of rows and depths, per output: no later one takes an input before low, no earlier one takes
  // one behind high.
  std::vector<Index> low, high;

  void bound() {
    low.assign(std::size_t(out), in);
    high.assign(std::size_t(out), -1);
    serial_for(taps * out, [&](Index begin, Index end) {
      for (auto i = std::size_t(begin); i < std::size_t(end); ++i) {
        if (!exact && weight[i] == 0) continue;
        const std::size_t q = i % std::size_t(out);
        low[q] = std::min<Index>(low[q], index[i]);
        high[q] = std::max<Index>(high[q], index[i]);
      }
    });
    for (std::size_t q = 1; q < low.size(); ++q) {
      high[q] = std::max(high[q], high[q - 1]);
      const std::size_t back = low.size() - 1 - q;
      low[back] = std::min(low[back], low[back + 1]);
    }
  }
};

// Of a width of a few elements, which may be taken for a height: see side_by_side().
constexpr Index kFewWide = 16, kSide = 64;
template <class T>
bool is_short(const AxisTaps<T>& t) {
  return std::max(t.in, t.out) <= kFewWide;
}

template <class T>
AxisTaps<T> forward_table(const ResampleShape& s, int axis) {
  const Index n = s.out[axis], taps = s.taps(axis);
  AxisTaps<T> t{s.in[axis], n, taps, s.keeps(axis), true, {}, {}, {}, {}};
  t.index = Filled<int>(taps * n);
  t.weight = Filled<T>(taps * n);
  serial_for(n, [&](Index begin, Index end) {
    for (Index q = begin; q < end; ++q) {
      const Taps at = resample_taps(s, axis, q, t.weight.data() + q, n);
      for (Index k = 0; k < taps; ++k)
        t.index[std::size_t(k * n + q)] =
            int(std::clamp<Index>(at.first + std::min(k, at.count - 1), 0, s.in[axis] - 1));
      t.exact &= at.count == taps;
    }
  });
  if (axis < 2 || is_short(t)) t.bound();
  return t;
}

template <class T>
AxisTaps<T> transposed(const AxisTaps<T>& t, int axis) {
  std::vector<int> count(std::size_t(t.in), 0);
  serial_for(t.taps * t.out, [&](Index begin, Index end) {
    for (auto i = std::size_t(begin); i < std::size_t(end); ++i)
      if (t.weight[i] != 0) ++count[std::size_t(t.index[i])];
  });
  const Index taps = std::max(*std::max_element(count.begin(), count.end()), 1);
  AxisTaps<T> r{t.out, t.in, taps, t.keeps, false, {}, {}, {}, {}};
  r.index = Filled<int>(taps * t.in);
  r.weight = Filled<T>(taps * t.in);
  serial_for(taps * t.in, [&](Index begin, Index end) {
    std::fill_n(r.index.data() + begin, end - begin, 0);
    std::fill_n(r.weight.data() + begin, end - begin, T(0));
  });
  std::fill(count.begin(), count.end(), 0);
  serial_for(t.out, [&](Index begin, Index end) {
    for (Index q = begin; q < end; ++q)
      for (Index k = 0; k < t.taps; ++k) {
        const auto from = std::size_t(k * t.out + q);
        if (t.weight[from] == 0) continue;
        const Index i = t.index[from], to = Index(count[std::size_t(i)]++) * t.in + i;
        r.index[std::size_t(to)] = int(q);
        r.weight[std::size_t(to)] = t.weight[from];
      }
  });
  if (axis < 2 || is_short(r)) r.bound();
  return r;
}

// out[i] = sum of weight[k][i] * x[index[k][i]].
template <int Taps, class S, class T>
CLONES void gather_few(const S* x, const int* index, const T* weight, Index n, T* out) {
  for (Index i = 0; i < n; ++i) {
    T sum = weight[i] * T(load(x + index[i]));
    for (int k = 1; k < Taps; ++k) sum += weight[k * n + i] * T(load(x + index[k * n + i]));
    out[i] = sum;
  }
}
template <class S, class T>
CLONES void gather_many(const S* x, const int* index, const T* weight, Index taps, Index n,
                        T* out) {
  for (Index i = 0; i < n; ++i) out[i] = T(0);
  for (Index k = 0; k < taps; ++k, index += n, weight += n)
    for (Index i = 0; i < n; ++i) {
      const T v = T(load(x + index[i]));
      out[i] += weight[i] != 0 ? weight[i] * v : T(0);
    }
}
template <class S, class T>
void gather_row(const AxisTaps<T>& t, const S* x, T* out) {
  const int* index = t.index.data();
  const T* weight = t.weight.data();
  if (t.keeps)
    convert_row(out, x, t.out);
  else if (t.exact && t.taps == 1)
    gather_few<1>(x, index, weight, t.out, out);
  else if (t.exact && t.taps == 2)
    gather_few<2>(x, index, weight, t.out, out);
  else if (t.exact && t.taps == 4)
    gather_few<4>(x, index, weight, t.out, out);
  else
    gather_many(x, index, weight, t.taps, t.out, out);
}

template <class S, class T>
CLONES void blend_two(const S* a, T wa, const S* b, T wb, Index n, T* out) {
  for (Index i = 0; i < n; ++i) out[i] = wa * T(load(a + i)) + wb * T(load(b + i));
}
// Two rows of the one axis, each of two runs of the other.
template <class S, class T>
CLONES void blend_four(const S* const* from, const T* across, const T* along, Index n, S* out) {
  const S *const a = from[0], *const b = from[1], *const c = from[2], *const d = from[3];
  const T wa = across[0], wb = across[1], first = along[0], second = along[1];
#pragma GCC ivdep
  for (Index i = 0; i < n; ++i) {
    const T upper = wa * T(load(a + i)) + wb * T(load(b + i));
    const T lower = wa * T(load(c + i)) + wb * T(load(d + i));
    store(out + i, Compute<S>(first * upper + second * lower));
  }
}
template <class S, class T>
CLONES void add_weighted(const S* x, T w, Index n, T* out) {
  for (Index i = 0; i < n; ++i) out[i] += w * T(load(x + i));
}
// The weighted sum of whole rows for output q; row(i) is where input i of this axis lies.
template <class T, class Row>
void blend_rows(const AxisTaps<T>& t, Index q, Index n, Row row, T* out) {
  const auto index = [&](Index k) { return Index(t.index[std::size_t(k * t.out + q)]); };
  const auto weight = [&](Index k) { return t.weight[std::size_t(k * t.out + q)]; };
  if (t.taps == 1 && t.exact) return convert_row(out, row(index(0)), n);
  Index k = 0;
  if (t.exact) {  // at least two
    blend_two(row(index(0)), weight(0), row(index(1)), weight(1), n, out);
    k = 2;
  } else {
    std::fill_n(out, n, T(0));
  }
  for (; k < t.taps; ++k)
    if (t.exact || weight(k) != 0) add_weighted(row(index(k)), weight(k), n, out);
}

template <class To, class T>
CLONES void round_bytes(To* out, const T* x, Index n) {
  for (Index i = 0; i < n; ++i) {
    const T v = std::floor(x[i] + T(0.5));
    const T byte = v > 0 ? (v < 255 ? v : T(255)) : T(0);
    if constexpr (std::is_integral_v<To>)
      out[i] = static_cast<To>(static_cast<int>(byte));  // in vectors
    else
      out[i] = byte;
  }
}
// What was summed as T becomes elements: of bytes, the nearest.
template <class S, class T>
void store_sums(S* out, const T* sums, Index n) {
  if constexpr (std::is_same_v<S, std::uint8_t>)
    round_bytes(out, sums, n);
  else
    convert_row(out, sums, n);
}

// Rows of an axis that were made already, until a later output needs others in their slots.
template <class T>
class Kept {
 public:
  Kept(const AxisTaps<T>& t, Index begin, Index end, Index row_size)
      : table_(t),
        row_size_(row_size),
        rows_(most(t, begin, end)),
        data_(std::size_t(rows_ * row_size)),
        next_(t.low[std::size_t(begin)]) {}
  // Makes what output q needs and is missing.
  template <class Make>
  void reach(Index q, Make make) {
    const auto at = std::size_t(q);
    for (next_ = std::max(next_, table_.low[at]); next_ <= table_.high[at]; ++next_)
      make(next_, row(next_));
  }
  T* row(Index i) { return data_.data() + i % rows_ * row_size_; }

 private:
  static Index most(const AxisTaps<T>& t, Index begin, Index end) {
    Index rows = 1;
    for (auto q = std::size_t(begin); q < std::size_t(end); ++q)
      rows = std::max(rows, t.high[q] - t.low[q] + 1);
    return rows;
  }
  const AxisTaps<T>& table_;
  Index row_size_, rows_;
  Scratch<T> data_;
  Index next_;
};

template <class S>
struct Resampler {
  using T = std::conditional_t<std::is_same_v<S, double>, double, float>;
  const AxisTaps<T>&d, &h, &w;

  // Makes rows [begin, end) of the plane made of `image` where target(q) says, then calls f(q).
  template <class Target, class F>
  void rows(const S* image, Index begin, Index end, Target target, F f) const {
    constexpr bool kBytes = std::is_same_v<S, std::uint8_t>;
    if (h.out < h.in && !kBytes) {  // fewer rows to gather
      Scratch<T> sums(std::size_t(w.in));
      for (Index q = begin; q < end; ++q) {
        blend_rows(h, q, w.in, [&](Index i) { return image + i * w.in; }, sums.data());
        gather_row(w, sums.data(), target(q));
        f(q);
      }
      return;
    }
    if (h.keeps) {
      for (Index q = begin; q < end; ++q) {
        gather_row(w, image + q * w.in, target(q));
        f(q);
      }
      return;
    }
    Kept<T> kept(h, begin, end, w.out);
    for (Index q = begin; q < end; ++q) {
      kept.reach(q, [&](Index i, T* row) {
        gather_row(w, image + i * w.in, row);
        if (kBytes) round_bytes(row, row, w.out);  // as torch does, between the axes too
      });
      blend_rows(h, q, w.out, [&](Index i) { return kept.row(i); }, target(q));
      f(q);
    }
  }
  void plane(const S* image, Index begin, Index end, S* out) const {
    if constexpr (std::is_same_v<S, T>) {
      rows(image, begin, end, [&](Index q) { return out + (q - begin) * w.out; }, [](Index) {});
    } else {
      Scratch<T> wide(std::size_t(w.out));
      rows(
          image, begin, end, [&](Index) { return wide.data(); },
          [&](Index q) { store_sums(out + (q - begin) * w.out, wide.data(), w.out); });
    }
  }

  // Bilinear of runs, as of images whose channels lie innermost: each element in one step.
  bool is_bilinear_of_runs() const {
    return w.keeps && !d.keeps && !h.keeps && d.taps == 2 && d.exact && h.taps == 2 && h.exact &&
           !std::is_same_v<S, std::uint8_t>;
  }
  void blend_runs(const S* x, S* out) const {
    const Index run = w.in;
    for (Index q = 0; q < d.out; ++q) {
      const S* const rows[] = {x + d.index[std::size_t(q)] * h.in * run,
                               x + d.index[std::size_t(d.out + q)] * h.in * run};
      const T along[] = {d.weight[std::size_t(q)], d.weight[std::size_t(d.out + q)]};
      for (Index j = 0; j < h.out; ++j, out += run) {
        const Index left = h.index[std::size_t(j)] * run,
                    right = h.index[std::size_t(h.out + j)] * run;
        const S* const from[] = {rows[0] + left, rows[0] + right, rows[1] + left, rows[1] + right};
        const T across[] = {h.weight[std::size_t(j)], h.weight[std::size_t(h.out + j)]};
        blend_four(from, across, along, run, out);
      }
    }
  }

  void volume(const S* x, S* out) const {
    if (is_bilinear_of_runs()) return blend_runs(x, out);
    const Index from = h.in * w.in, size = h.out * w.out;
    if (d.keeps) {
      for (Index q = 0; q < d.out; ++q) plane(x + q * from, 0, h.out, out + q * size);
      return;
    }
    Scratch<T> wide(std::is_same_v<S, T> ? 1 : std::size_t(size));
    Kept<T> kept(d, 0, d.out, size);
    for (Index q = 0; q < d.out; ++q) {
      kept.reach(q, [&](Index i, T* made) {
        rows(x + i * from, 0, h.out, [&](Index j) { return made + j * w.out; }, [](Index) {});
      });
      T* sums = wide.data();
      if constexpr (std::is_same_v<S, T>) sums = out + q * size;
      blend_rows(d, q, size, [&](Index i) { return kept.row(i); }, sums);
      if constexpr (!std::is_same_v<S, T>) store_sums(out + q * size, sums, size);
    }
  }
};

// The nearest of whole runs, as of images whose channels lie innermost: copies, and a row of runs
// that is taken again is copied as a whole.
template <class T>
bool copies(const AxisTaps<T>& d, const AxisTaps<T>& h, const AxisTaps<T>& w) {
  return d.taps == 1 && d.exact && h.taps == 1 && h.exact && w.keeps;
}
template <class S, class T>
void copy_runs(const AxisTaps<T>& d, const AxisTaps<T>& h, Index run, Index planes, const S* x,
               S* y) {
  const Index size = h.out * run, in = h.in * run;
  parallel_for(planes * d.out, 1 + 65536 / size, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const Index q = i % d.out, from = d.index[std::size_t(q)];
      S* const to = y + i * size;
      if (i > begin && q > 0 && d.index[std::size_t(q - 1)] == from) {
        std::copy_n(to - size, size, to);
        continue;
      }
      const S* const row = x + (i / d.out * d.in + from) * in;
      for (Index j = 0; j < h.out; ++j)
        std::copy_n(row + h.index[std::size_t(j)] * run, run, to + j * run);
    }
  });
}

// Many planes of a few elements each: some of them side by side, as channels that lie innermost.
template <class S, class T>
bool is_of_tiny_planes(const AxisTaps<T>& d, const AxisTaps<T>& h, const AxisTaps<T>& w,
                       Index planes) {
  return d.in == 1 && d.out == 1 && planes >= kSide / 2 && !std::is_same_v<S, std::uint8_t> &&
         is_short(w) && is_short(h);
}
template <class S, class T>
void side_by_side(const AxisTaps<T>& h, const AxisTaps<T>& w, Index planes, const S* x, S* y) {
  const Index in = h.in * w.in, out = h.out * w.out;
  const Index most = std::max(in, out) > 2 * kSide ? kSide / 4 : kSide;  // stays in a near cache
  const Index blocks = (planes + most - 1) / most;
  parallel_for(blocks, 1 + 32768 / (most * (in + out)), [&](Index begin, Index end) {
    Scratch<S> from(std::size_t(in * most)), to(std::size_t(out * most));
    for (; begin < end; ++begin) {
      const Index first = begin * most, count = std::min(most, planes - first);
      const AxisTaps<T> side{count, count, 1, true, true, {}, {}, {}, {}};
      transpose(x + first * in, in, count, in, from.data(), count);
      if (copies(h, w, side))
        copy_runs(h, w, count, 1, from.data(), to.data());
      else
        Resampler<S>{h, w, side}.volume(from.data(), to.data());
      transpose(to.data(), count, out, count, y + first * out, out);
    }
  });
}

template <class S, class T>
void run(const AxisTaps<T>& d, const AxisTaps<T>& h, const AxisTaps<T>& w, Index planes, const S* x,
         S* y) {
  if (copies(d, h, w)) return copy_runs(d, h, w.in, planes, x, y);
  if (is_of_tiny_planes<S>(d, h, w, planes)) return side_by_side(h, w, planes, x, y);
  const Resampler<S> r{d, h, w};
  const Index in = d.in * h.in * w.in, out = d.out * h.out * w.out;
  if (d.out > 1 || d.in > 1) {
    parallel_for(planes, 1 + 32768 / (in + out), [&](Index begin, Index end) {
      for (Index p = begin; p < end; ++p) r.volume(x + p * in, y + p * out);
    });
    return;
  }
  // A large plane in bands of rows.
  const Index bands = std::clamp<Index>(out / 262144, 1, h.out);
  parallel_for(planes * bands, 1 + 32768 * bands / (in + out), [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const Index p = i / bands, b = i % bands, first = h.out * b / bands;
      r.plane(x + p * in, first, h.out * (b + 1) / bands, y + p * out + first * w.out);
    }
  });
}

template <class F>
void dispatch(DType d, F f) {
  if (d == DType::uint8) return f(Type<std::uint8_t>{});
  dispatch_floating(d, f);
}

void forward(const ResampleShape& s, const View& input, const View& out) {
  if (out.dtype == DType::uint8 && s.rank == 2 && s.mode > Resampling::nearest_exact)
    return resample_bytes(s, input, out);
  dispatch(out.dtype, [&]<class S>(Type<S>) {
    using T = typename Resampler<S>::T;
    run(forward_table<T>(s, 0), forward_table<T>(s, 1), forward_table<T>(s, 2), s.planes,
        input.as<S>(), out.as<S>());
  });
}

void backward(const ResampleShape& s, const View& grad, const View& grad_input) {
  dispatch_floating(grad.dtype, [&]<class S>(Type<S>) {
    using T = typename Resampler<S>::T;
    run(transposed(forward_table<T>(s, 0), 0), transposed(forward_table<T>(s, 1), 1),
        transposed(forward_table<T>(s, 2), 2), s.planes, grad.as<S>(), grad_input.as<S>());
  });
}

}  // namespace

const ResampleKernels cpu_resample = {forward, backward};

}  // namespace rushlight
