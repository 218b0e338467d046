// Average pooling: a row of results at a time, each added up element by element of its windows, so
// that the loops run along the row.
#include "kernels/cpu/lane_sums.h"
#include "kernels/host_device.h"
#include "windows.h"

namespace rushlight::pool {
namespace {

// Truncated; -1 apart, whose quotient of the least integer has no value.
Index divide(Index sum, Index by) { return by == -1 ? Index(0 - std::uint64_t(sum)) : sum / by; }

// The type that sums are made in: integers wrap around.
template <class S>
struct Sum {
  using Type = Compute<S>;
};
template <>
struct Sum<std::int64_t> {
  using Type = std::uint64_t;
};

// A whole plane into one number, as the last pooling of a network does.
template <class S, class T>
CLONES T plane_sum(const S* x, Index n) {
  T sum = 0;
  Converted<S, T> converted;
  for (Index start = 0; start < n; start += converted.kBlock) {
    const Index size = std::min(converted.kBlock, n - start);
    const T* const values = converted(x + start, size);
    sum += lane_sums<T, T, 1>(
        size, [&]<class L>(Index i, L) { return std::array{lanes_at<L>(values + i)}; })[0];
  }
  return sum;
}

template <class S, class T>
CLONES void add_row(const S* x, Index stride, Index n, T* sums) {
  if (stride == 1)
    for (Index i = 0; i < n; ++i) sums[i] += T(load(x + i));
  else if (stride == 2)
    for (Index i = 0; i < n; ++i) sums[i] += T(load(x + 2 * i));
  else
    for (Index i = 0; i < n; ++i) sums[i] += T(load(x + i * stride));
}

template <class T>
CLONES void spread_row(const T* shares, Index stride, Index n, T* out) {
  if (stride == 1)
    for (Index i = 0; i < n; ++i) out[i] += shares[i];
  else
    for (Index i = 0; i < n; ++i) out[i * stride] += shares[i];
}

constexpr Index kLeastRow = 8;  // fewer results are not worth loops along their row

// Whether the rows of a window become one row of sums before windows are taken along it, and back:
// of 3 x 3 x 3 elements 9 and 3 in place of 27.
bool is_by_parts(const PoolShape& s) {
  return s.kernel[0] * s.kernel[1] > 1 && s.kernel[2] > 1 && s.stride[2] <= s.kernel[2];
}

// Calls f(position in the plane) for each element of a window.
template <class F>
[[gnu::always_inline]] inline void each_element(const PoolShape& s, const PoolWindow& d,
                                                const PoolWindow& h, const PoolWindow& w, F f) {
  for (Index i = d.begin; i < d.end; ++i)
    for (Index j = h.begin; j < h.end; ++j)
      for (Index k = w.begin; k < w.end; ++k) f((i * s.in[1] + j) * s.in[2] + k);
}

template <class S>
void forward(const PoolShape& s, const S* x, S* y) {
  using T = typename Sum<S>::Type;
  const std::vector<PoolWindow> depths = windows(s, 0), rows = windows(s, 1), cols = windows(s, 2);
  const std::vector<Columns> taps = columns(s, kLeastRow);
  const Index h_size = s.in[1], w_size = s.in[2], plane = s.plane(), size = s.outputs();
  const bool by_rows = !taps.empty();
  const bool adds_rows_first = is_by_parts(s);
  const auto covers = [](const PoolWindow& w, Index n) { return w.end - w.begin == n; };
  each_plane(s, [&](Index begin, Index end) {
    Scratch<T> sums(std::max<Index>(s.result[2], 1)), line(adds_rows_first ? w_size : 1);
    Interruptible interruptible;
    for (Index p = begin; p < end; ++p) {
      const S* image = x + p * plane;
      S* out = y + p * size;
      for (const PoolWindow& d : depths)
        for (const PoolWindow& h : rows) {
          if (size == 1 && covers(d, s.in[0]) && covers(h, h_size) && covers(cols[0], w_size)) {
            sums[0] = plane_sum<S, T>(image, plane);
          } else if (by_rows) {
            std::fill_n(sums.data(), s.result[2], T(0));
            const auto add_windows = [&](const auto* row) {
              for (const Columns& c : taps)
                add_row(row + c.first * s.stride[2] + c.offset, s.stride[2], c.last - c.first,
                        sums.data() + c.first);
            };
            const auto row = [&](Index i, Index j) { return image + (i * h_size + j) * w_size; };
            if (adds_rows_first) std::fill_n(line.data(), w_size, T(0));
            for (Index i = d.begin; i < d.end; ++i)
              for (Index j = h.begin; j < h.end; ++j) {
                if (adds_rows_first)
                  add_row(row(i, j), 1, w_size, line.data());
                else
                  add_windows(row(i, j));
                interruptible.done(w_size + s.result[2] * Index(taps.size()));
              }
            if (adds_rows_first) add_windows(line.data());
          } else {
            for (Index q = 0; q < s.result[2]; ++q) {
              T sum = 0;
              each_element(s, d, h, cols[std::size_t(q)],
                           [&](Index at) { sum += T(load(image + at)); });
              sums[std::size_t(q)] = sum;
              interruptible.done(elements(d, h, cols[std::size_t(q)]));
            }
          }
          for (Index q = 0; q < s.result[2]; ++q) {
            const PoolWindow& w = cols[std::size_t(q)];
            const bool empty = d.empty() || h.empty() || w.empty();
            const T sum = sums[std::size_t(q)];
            if constexpr (std::is_same_v<S, std::int64_t>)
              *out++ = empty ? 0 : divide(S(sum), pool_divisor(s, d, h, w));
            else
              store(out++, empty ? T(0) : sum / T(pool_divisor(s, d, h, w)));
          }
        }
    }
  });
}

}  // namespace

void average(const PoolShape& s, const View& input, const View& out) {
  if (out.dtype == DType::int64)
    return forward(s, input.as<std::int64_t>(), out.as<std::int64_t>());
  if (s.inside) return average_inside(s, input, out);
  dispatch_floating(out.dtype, [&]<class S>(Type<S>) { forward(s, input.as<S>(), out.as<S>()); });
}

void average_backward(const PoolShape& s, const View& grad, const View& grad_input) {
  if (s.inside) return average_inside_backward(s, grad, grad_input);
  const std::vector<PoolWindow> depths = windows(s, 0), rows = windows(s, 1), cols = windows(s, 2);
  const std::vector<Columns> taps = columns(s, kLeastRow);
  const Index h_size = s.in[1], w_size = s.in[2];
  dispatch_floating(grad.dtype, [&]<class S>(Type<S>) {
    using T = Compute<S>;
    std::vector<T> divisors;
    for (const PoolWindow& d : depths)
      for (const PoolWindow& h : rows)
        for (const PoolWindow& w : cols) divisors.push_back(T(pool_divisor(s, d, h, w)));
    const auto by_windows = [&](const S* g, T* sums) {
      const T* divisor = divisors.data();
      Interruptible interruptible;
      for (const PoolWindow& d : depths)
        for (const PoolWindow& h : rows)
          for (const PoolWindow& w : cols) {
            const T share = load(g++) / *divisor++;
            each_element(s, d, h, w, [&](Index at) { sums[at] += share; });
            interruptible.done(elements(d, h, w));
          }
    };
    const auto along_rows = [&](const S* g, T* sums) {
      Scratch<T> shares(cols.size()), line(w_size);
      Interruptible interruptible;
      const bool spreads_first = is_by_parts(s);
      const auto spread = [&](T* row) {
        for (const Columns& c : taps)
          spread_row(shares.data() + c.first, s.stride[2], c.last - c.first,
                     row + c.first * s.stride[2] + c.offset);
      };
      const T* divisor = divisors.data();
      for (const PoolWindow& d : depths)
        for (const PoolWindow& h : rows) {
          for (std::size_t q = 0; q < cols.size(); ++q) shares[q] = load(g++) / *divisor++;
          if (spreads_first) {
            std::fill_n(line.data(), w_size, T(0));
            spread(line.data());
          }
          for (Index i = d.begin; i < d.end; ++i)
            for (Index j = h.begin; j < h.end; ++j) {
              T* const row = sums + (i * h_size + j) * w_size;
              if (spreads_first)
                add_row(line.data(), 1, w_size, row);
              else
                spread(row);
              interruptible.done(w_size + Index(cols.size() * taps.size()));
            }
        }
    };
    const bool by_rows = !taps.empty();
    each_sum_plane(s, grad_input.as<S>(), [&](Index p, T* sums) {
      const S* const g = grad.as<S>() + p * s.outputs();
      by_rows ? along_rows(g, sums) : by_windows(g, sums);
    });
  });
}

}  // namespace rushlight::pool
