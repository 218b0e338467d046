// Copies on the CPU. Dimensions are merged and sorted by the output's strides first, so a transpose
// reads across and writes along; equal dense memory is one memcpy.
#include "../copy.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "../stored.h"
#include "convert.h"
#include "copy_plan.h"
#include "runs.h"
#include "short_rows.h"
#include "transpose.h"

namespace rushlight {
namespace {

constexpr std::int64_t kSmall = 4096;  // elements that are not worth a plan where both are dense

bool is_row_major(const View& v) {
  std::int64_t step = 1;
  for (int d = v.rank - 1; d >= 0; --d) {
    if (v.sizes[d] != 1 && v.strides[d] != step) return false;
    step *= v.sizes[d];
  }
  return true;
}

// The dimension along which the input is dense, where that is another than the output's; or 0.
int across(const CopyPlan& p) {
  if (p.out[0] != 1 || p.in[0] == 1 || p.in[0] == 0) return 0;
  for (int d = 1; d < p.rank; ++d)
    if (p.in[d] == 1) return d;
  return 0;
}

// A matrix for each position of the other dimensions, in strips of the output's rows. Where an
// input repeats along a dimension, the rows that were written are copied.
template <class S>
void transpose_all(const CopyPlan& p, int dense, S* out, const S* in) {
  // Each row of a strip is a page. Where vectors straddle two lines these are written in two steps,
  // between which the processor must not forget where the pages are: it knows 16 on Intel.
  const bool aligned =
      (reinterpret_cast<std::uintptr_t>(out) | std::uint64_t(p.out[dense]) * sizeof(S)) % 64 == 0;
  const std::int64_t strip = sizeof(S) < 8 || aligned ? 64 : 16;
  const std::int64_t rows = p.sizes[0], columns = p.sizes[dense];
  const std::int64_t strips = (columns + strip - 1) / strip;
  const int repeated = int(std::find(p.in + 1, p.in + p.rank, 0) - p.in);  // rank: none
  std::int64_t matrices = 1;
  for (int d = 1; d < p.rank; ++d) matrices *= d == dense || d == repeated ? 1 : p.sizes[d];
  const std::int64_t grain =
      std::max<std::int64_t>(1, (1 << 15) / (rows * std::min(columns, strip)));
  parallel_for(matrices * strips, grain, [&](std::int64_t begin, std::int64_t end) {
    for (; begin < end; ++begin) {
      const std::int64_t first = begin % strips * strip;
      std::int64_t rest = begin / strips, o = first * p.out[dense], i = first;
      for (int d = 1; d < p.rank; ++d) {
        if (d == dense || d == repeated) continue;
        o += rest % p.sizes[d] * p.out[d];
        i += rest % p.sizes[d] * p.in[d];
        rest /= p.sizes[d];
      }
      const std::int64_t some = std::min(strip, columns - first);
      transpose(in + i, p.in[0], rows, some, out + o, p.out[dense]);
      if (repeated < p.rank)
        for (S *row = out + o, *past = row + some * p.out[dense]; row != past; row += p.out[dense])
          for (std::int64_t k = 1; k < p.sizes[repeated]; ++k)
            copy_bytes(row + k * p.out[repeated], row, rows * std::int64_t(sizeof(S)));
    }
  });
}

constexpr std::int64_t kManyRows = 8;

// The dimensions but the innermost.
CopyPlan outer_of(const CopyPlan& p) {
  CopyPlan outer;
  outer.rank = p.rank - 1;
  std::copy_n(p.sizes + 1, outer.rank, outer.sizes);
  std::copy_n(p.out + 1, outer.rank, outer.out);
  std::copy_n(p.in + 1, outer.rank, outer.in);
  return outer;
}

// Whether these are many short rows, dense in the output; then they are copied.
bool copy_short_rows(const CopyPlan& p, const View& out, const View& in) {
  const auto item = std::int64_t(item_size(out.dtype)), bytes = p.sizes[0] * item;
  if (p.rank < 2 || p.out[0] != 1 || bytes > kShortBytes || p.sizes[1] < kManyRows) return false;
  const bool one_each = p.in[0] == 0 && p.out[1] == p.sizes[0] && item <= 8;
  const bool backwards = p.in[0] == -1;
  if (p.in[0] != 1 && !one_each && !backwards) return false;
  for_each_row(outer_of(p), [&](std::int64_t o, std::int64_t i, std::int64_t rows) {
    char* const to = out.as<char>() + o * item;
    const char* const from = in.as<const char>() + i * item;
    if (one_each)
      gather_rows(to, from, out.dtype, p.in[1], 0, rows, p.sizes[0]);
    else if (backwards)
      reverse_rows(to, p.out[1], from, p.in[1], rows, p.sizes[0], out.dtype);
    else
      copy_rows(to, p.out[1] * item, from, p.in[1] * item, rows, bytes);
  });
  return true;
}

// The same of rows that are converted: they are brought together first.
bool convert_short_rows(const CopyPlan& p, const View& out, const View& in,
                        ConvertRow convert_row) {
  constexpr std::int64_t kRow = 64, kBlock = 4096;
  const std::int64_t row = p.sizes[0];
  if (p.rank < 2 || p.out[0] != 1 || p.in[0] != 1 || p.out[1] != row || row > kRow ||
      p.sizes[1] < kManyRows)
    return false;
  const auto to_item = std::int64_t(item_size(out.dtype)), item = std::int64_t(item_size(in.dtype));
  for_each_row(outer_of(p), [&](std::int64_t o, std::int64_t i, std::int64_t rows) {
    alignas(64) char together[kBlock];
    const std::int64_t most = kBlock / (row * item);
    for (std::int64_t first = 0; first < rows; first += most) {
      const std::int64_t n = std::min(most, rows - first);
      copy_rows(together, row * item, in.as<const char>() + (i + first * p.in[1]) * item,
                p.in[1] * item, n, row * item);
      convert_row(out.as<char>() + (o + first * row) * to_item, 1, together, 1, n * row);
    }
  });
  return true;
}

// Calls f(out offset, in offset, n, out step, in step) for each run. Of rows of up to `few`
// elements the columns are the runs, as far as they stay in the nearest cache: a row takes longer
// to begin.
template <class F>
void for_each_run(const CopyPlan& p, std::int64_t few, const F& f) {
  constexpr std::int64_t kPiece = 128;
  if (p.rank < 2 || p.sizes[0] > few || p.sizes[1] < kManyRows)
    return for_each_row(
        p, [&](std::int64_t o, std::int64_t i, std::int64_t n) { f(o, i, n, p.out[0], p.in[0]); });
  for_each_row(outer_of(p), [&](std::int64_t o, std::int64_t i, std::int64_t n) {
    for (std::int64_t first = 0; first < n; first += kPiece)
      for (std::int64_t k = 0; k < p.sizes[0]; ++k)
        f(o + first * p.out[1] + k * p.out[0], i + first * p.in[1] + k * p.in[0],
          std::min(kPiece, n - first), p.out[1], p.in[1]);
  });
}

void copy(const View& out, const View& in) {
  if (out.numel == 0) return;
  if (out.dtype == in.dtype && out.numel <= kSmall && is_row_major(out) && is_row_major(in))
    return void(std::memmove(out.data, in.data, std::size_t(out.numel) * item_size(out.dtype)));
  const CopyPlan p = plan_of(out, in);
  if (out.dtype == in.dtype && p.rank == 2 && p.in[0] == 1 && p.in[1] == 0 && p.out[0] == 1 &&
      p.out[1] == p.sizes[0]) {
    // One row for all, as a bias is read: what is there already is copied behind itself.
    const auto row = p.sizes[0] * std::int64_t(item_size(out.dtype));
    const auto repeat = [&](std::int64_t begin, std::int64_t end) {
      copy_bytes(out.as<char>() + begin * row, in.data, row);
      repeat_bytes(out.as<char>() + begin * row, row, end - begin);
    };
    if (out.numel <= kSmall) return repeat(0, p.sizes[1]);
    return parallel_for(p.sizes[1], 1 + (1 << 15) / p.sizes[0], repeat);
  }
  if (out.dtype == in.dtype) {
    if (copy_short_rows(p, out, in)) return;
    return dispatch_stored_size(out.dtype, [&]<class S>(Type<S>) {
      if constexpr (!std::is_same_v<S, Bytes16>)
        if (const int dense = across(p))
          return transpose_all(p, dense, out.as<S>(), in.as<const S>());
      constexpr std::int64_t kFew = 4;
      for_each_run(
          p, kFew,
          [&](std::int64_t o, std::int64_t i, std::int64_t n, std::int64_t to, std::int64_t from) {
            copy_run(out.as<S>() + o, to, in.as<const S>() + i, from, n);
          });
    });
  }
  if (is_only_stored(out.dtype) || is_only_stored(in.dtype)) return cast_stored(p, out, in);
  const ConvertRow convert_row = row_conversion(out.dtype, in.dtype);
  if (convert_short_rows(p, out, in, convert_row)) return;
  const auto to_item = std::int64_t(item_size(out.dtype)),
             from_item = std::int64_t(item_size(in.dtype));
  constexpr std::int64_t kFew = 16;
  for_each_run(
      p, kFew,
      [&](std::int64_t o, std::int64_t i, std::int64_t n, std::int64_t to, std::int64_t from) {
        convert_row(out.as<char>() + o * to_item, to, in.as<const char>() + i * from_item, from, n);
      });
}

void fill(const View& out, Scalar value) {
  if (out.numel == 0) return;
  const Element element(value, out.dtype);
  const auto bits = [&]<class S>(Type<S>) {
    S all;
    std::memcpy(&all, element.bytes, sizeof(S));
    return all;
  };
  if (out.numel <= kSmall && is_row_major(out))
    return dispatch_stored_size(
        out.dtype, [&]<class S>(Type<S> type) { fill_run(out.as<S>(), out.numel, bits(type)); });
  View same = out;
  for (std::int64_t& s : same.strides) s = 0;
  const CopyPlan p = plan_of(out, same);
  dispatch_stored_size(out.dtype, [&]<class S>(Type<S> type) {
    const S all = bits(type);
    for_each_row(p, [&](std::int64_t o, std::int64_t, std::int64_t n) {
      S* to = out.as<S>() + o;
      if (p.out[0] == 1) return fill_run(to, n, all);
      for (std::int64_t i = 0; i < n; ++i) to[i * p.out[0]] = all;
    });
  });
}

template <class S>
CLONES void interleave_run(S* __restrict out, const S* __restrict a, const S* __restrict b,
                           std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    out[2 * i] = a[i];
    out[2 * i + 1] = b[i];
  }
}
void interleave(const View& out, const View& a, const View& b) {
  constexpr std::int64_t kGrain = 1 << 15;
  dispatch_stored_size(a.dtype, [&]<class S>(Type<S>) {
    parallel_for(a.numel, kGrain, [&](std::int64_t begin, std::int64_t end) {
      interleave_run(out.as<S>() + 2 * begin, a.as<const S>() + begin, b.as<const S>() + begin,
                     end - begin);
    });
  });
}

// Of a range, the numbers [begin, end).
template <class S, class F>
void write(S* out, std::int64_t begin, std::int64_t end, F value) {
  for (std::int64_t i = begin; i < end; ++i) store(out + i, convert<Compute<S>>(value(i)));
}
// Those from the i-th on that lie in whole vectors of Range::in_vectors.
template <int kLanes, class C, class T>
CLONES void write_vectors(T* to, std::int64_t n, std::int64_t i, const Range& r) {
  const C step = C(r.step);
  for (std::int64_t at = 0; at < n; at += kLanes) {
    const C base = r.rounded(r.from_first<C>(i + at));
    for (int lane = 0; lane < kLanes; ++lane) to[at + lane] = T(std::fma(C(lane), step, base));
  }
}
template <class C, class S>
void write_in_vectors(S* out, const Range& r, std::int64_t begin, std::int64_t end) {
  constexpr int kLanes = int(32 / sizeof(S));
  const auto one = [&](std::int64_t i) { return r.in_vectors<C>(i); };
  while (begin < end) {
    const std::int64_t part = begin / r.part * r.part, n = std::min(r.part, r.count - part);
    const std::int64_t last = std::min(end, part + n);
    std::int64_t i = std::min(last, part + (begin - part + kLanes - 1) / kLanes * kLanes);
    write(out, begin, i, one);
    const std::int64_t vectors = std::min(last, part + Range::whole_vectors(n, kLanes)) - i;
    const std::int64_t whole = i + std::max<std::int64_t>(0, vectors / kLanes * kLanes);
    if constexpr (sizeof(S) == 2) {
      constexpr std::int64_t kBlock = 1024;
      float block[kBlock];
      for (std::int64_t count; i < whole; i += count) {
        count = std::min(kBlock, whole - i);
        write_vectors<kLanes, C>(block, count, i, r);
        convert_row(out + i, block, count);
      }
    } else if (i < whole) {
      write_vectors<kLanes, C>(out + i, whole - i, i, r);
    }
    write(out, whole, last, one);
    begin = last;
  }
}
// from + by * (first, first + up, first + 2 up, ...). The sum of two integers as doubles is exact,
// and they become doubles in vectors on every processor.
template <class C>
CLONES void write_steps(C* to, std::int64_t n, C from, C by, std::int64_t first, int up) {
  constexpr std::int64_t kBlock = 1 << 16;
  for (std::int64_t begin = 0; begin < n; begin += kBlock) {
    const int count = static_cast<int>(std::min(kBlock, n - begin));
    const auto base = static_cast<double>(first + up * begin);
    for (int i = 0; i < count; ++i) to[begin + i] = std::fma(by, C(base + up * i), from);
  }
}
// The same in 16 bits, to which each step is rounded.
template <class C, class S>
CLONES void write_steps(S* to, std::int64_t n, C from, C by, std::int64_t first, int up) {
  constexpr std::int64_t kBlock = 1024;
  float block[kBlock];
  for (std::int64_t begin = 0; begin < n; begin += kBlock) {
    const int count = static_cast<int>(std::min(kBlock, n - begin));
    const auto base = static_cast<double>(first + up * begin);
    for (int i = 0; i < count; ++i)
      block[i] = from + rounded_to<S>(by * rounded_to<S>(float(base + up * i)));
    convert_row(to + begin, block, count);
  }
}
template <class C, class S>
void write_from_both_ends(S* out, const Range& r, std::int64_t begin, std::int64_t end) {
  if constexpr (std::is_same_v<C, S> ||
                (std::is_same_v<C, float> && sizeof(S) == 2 && std::is_same_v<Compute<S>, float>)) {
    const std::int64_t middle = std::clamp(r.count / 2, begin, end);
    write_steps<C>(out + begin, middle - begin, C(r.first), C(r.step), begin, 1);
    write_steps<C>(out + middle, end - middle, C(r.last), -C(r.step), r.count - 1 - middle, -1);
  } else {
    write(out, begin, end, [&](auto i) { return r.template from_both_ends<C>(i); });
  }
}
template <class C, class S>
void write_range(S* out, const Range& r, std::int64_t begin, std::int64_t end) {
  switch (r.kind) {
    case Range::Kind::whole: return write(out, begin, end, [=](auto i) { return r.whole(i); });
    case Range::Kind::forward:
      return write(out, begin, end, [=](auto i) { return r.template forward<C>(i); });
    case Range::Kind::in_vectors:
      if constexpr (std::is_floating_point_v<Compute<S>> && sizeof(S) != 1)
        write_in_vectors<std::conditional_t<sizeof(S) == 2, float, double>>(out, r, begin, end);
      return;  // of integers nobody asks for it
    case Range::Kind::from_both_ends: return write_from_both_ends<C>(out, r, begin, end);
    case Range::Kind::powers:
      return write(out, begin, end, [=](auto i) { return r.template power<C>(i); });
  }
}
void range(const View& out, const Range& r) {
  constexpr std::int64_t kGrain = 1 << 15;
  const std::int64_t grain = r.kind == Range::Kind::powers ? kGrain / 16 : kGrain;
  dispatch_all(out.dtype, [&]<class S>(Type<S>) {
    parallel_for(r.count, grain, [&](std::int64_t begin, std::int64_t end) {
      if (r.computed == DType::float32)
        write_range<float>(out.as<S>(), r, begin, end);
      else
        write_range<double>(out.as<S>(), r, begin, end);
    });
  });
}

}  // namespace

const CopyKernels cpu_copy = {copy, fill, range, interleave};

}  // namespace rushlight
