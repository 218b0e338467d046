// Distances between rows; a thread takes rows of the first matrix.
#include "../distance.h"

#include <algorithm>
#include <vector>

#include "../parallel.h"
#include "convert.h"
#include "interruptible.h"
#include "transpose.h"

namespace rushlight {
namespace {

constexpr std::int64_t kGrain = 1 << 14;  // elements for which a thread pays

std::int64_t rows_for_thread(std::int64_t work_of_row) {
  return std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(work_of_row, 1));
}

// Eight sums side by side, which gcc makes vectors of.
template <class C, class Norm>
CLONES C distance(const C* x, const C* y, std::int64_t n, Norm norm) {
  constexpr int kLanes = 8;
  C lanes[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int k = 0; k < kLanes; ++k) lanes[k] = norm.add(lanes[k], abs(x[i + k] - y[i + k]));
  C sum = 0;
  for (; i < n; ++i) sum = norm.add(sum, abs(x[i] - y[i]));
  for (const C lane : lanes) {
    if constexpr (std::is_same_v<Norm, InfinityNorm>)
      sum = norm.add(sum, lane);
    else
      sum += lane;
  }
  return norm.finish(sum);
}

// Distances of one row to kBeside others, of which `across` has a column each: of short rows, where
// it takes as long to add up lanes as to fill them.
constexpr int kBeside = 32;
constexpr std::int64_t kFewRows = 12;  // which fill too little of that
constexpr std::int64_t kShortRow = 128;  // a sum of more is more exact in lanes
template <class C, class Norm>
CLONES void distances_beside(C* to, const C* x, const C* across, std::int64_t apart, std::int64_t n,
                             Norm norm) {
  constexpr int kLanes = 32 / sizeof(C), kVectors = kBeside / kLanes;
  C lanes[kVectors][kLanes];  // without an initializer, of which gcc makes a slow instruction
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v)
    for (int k = 0; k < kLanes; ++k) lanes[v][k] = 0;
  for (std::int64_t i = 0; i < n; ++i, across += apart) {
    const C own = x[i];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v)
      for (int k = 0; k < kLanes; ++k)
        lanes[v][k] = norm.add(lanes[v][k], abs(own - across[v * kLanes + k]));
  }
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v)
    for (int k = 0; k < kLanes; ++k) to[v * kLanes + k] = lanes[v][k];
  for (int k = 0; k < kBeside; ++k) to[k] = norm.finish(to[k]);
}

// to += g * slope(x - y, distance)
template <class C, class Norm>
CLONES void add_slopes(C* __restrict to, const C* x, const C* y, std::int64_t n, C g, C distance,
                       Norm norm) {
  if constexpr (requires { norm.slope_over_difference(g, distance); }) {
    const C factor = norm.slope_over_difference(g, distance);
    for (std::int64_t i = 0; i < n; ++i) to[i] += factor * (x[i] - y[i]);
  } else {
    for (std::int64_t i = 0; i < n; ++i) to[i] += g * norm.slope(x[i] - y[i], distance);
  }
}

// The loops of a norm, so that what calls them is compiled once for a dtype.
template <class C>
struct Loops {
  FunctionRef<C(const C* x, const C* y, std::int64_t n)> distance;
  FunctionRef<void(C* to, const C* x, const C* across, std::int64_t apart, std::int64_t n)> beside;
  FunctionRef<void(C* to, const C* x, const C* y, std::int64_t n, C g, C distance)> add_slopes;
};
// f(Type<S>{}, loops) for the dtype of x and the norm p.
template <class F>
void dispatch(DType dtype, double p, const F& f) {
  dispatch_floating(dtype, [&]<class S>(Type<S> type) {
    using C = Compute<S>;
    dispatch_norm(p, [&](auto norm) {
      f(type,
        Loops<C>{[=](const C* x, const C* y, std::int64_t n) { return distance(x, y, n, norm); },
                 [=](C* to, const C* x, const C* across, std::int64_t apart, std::int64_t n) {
                   distances_beside(to, x, across, apart, n, norm);
                 },
                 [=](C* to, const C* x, const C* y, std::int64_t n, C g, C distance) {
                   add_slopes(to, x, y, n, g, distance, norm);
                 }});
    });
  });
}

// The rows of a dense matrix as what they are computed in.
template <class S, class C = Compute<S>>
class Rows {
 public:
  explicit Rows(const View& v) : data_(v.as<const C>()) {
    if constexpr (!std::is_same_v<S, C>) {
      wide_.resize(std::size_t(v.numel));
      row_conversion(DType::float32, v.dtype)(wide_.data(), 1, v.data, 1, v.numel);
      data_ = wide_.data();
    }
  }
  const C* operator+(std::int64_t offset) const { return data_ + offset; }

 private:
  std::vector<C> wide_;
  const C* data_;
};

// The rows of one or several matrices [m, d] as columns, where they are short and many meet them.
template <class C>
class Columns {
 public:
  Columns(const C* rows, std::int64_t matrices, std::int64_t m, std::int64_t d, std::int64_t meet)
      : m_(m), d_(d), apart_((m + kBeside - 1) / kBeside * kBeside) {
    if (d > kShortRow || m < kFewRows || meet < 4) return;
    across_.resize(std::size_t(matrices * d * apart_ + kBeside));
    for (std::int64_t k = 0; k < matrices; ++k)
      transpose(rows + k * m * d, d, m, d, across_.data() + k * d * apart_, apart_);
  }
  explicit operator bool() const { return !across_.empty(); }
  // Writes the distances of x to rows [from, m) of a matrix, `step` apart.
  template <class S>
  void write(const Loops<C>& loops, const C* x, std::int64_t matrix, std::int64_t from, S* to,
             std::int64_t step) const {
    for (std::int64_t j = from; j < m_; j += kBeside, to += kBeside * step) {
      const C* const others = across_.data() + matrix * d_ * apart_ + j;
      const int count = int(std::min<std::int64_t>(kBeside, m_ - j));
      if constexpr (std::is_same_v<S, C>)
        if (step == 1 && count == kBeside) {
          loops.beside(to, x, others, apart_, d_);
          continue;
        }
      C held[kBeside];
      loops.beside(held, x, others, apart_, d_);
      for (int k = 0; k < count; ++k) store(to + k * step, held[k]);
    }
  }

 private:
  std::int64_t m_, d_, apart_;
  std::vector<C> across_;
};

void between(const View& out, const View& x, const View& y, double p) {
  const std::int64_t n = x.sizes[1], m = y.sizes[1], d = x.sizes[2];
  dispatch(x.dtype, p, [&]<class S>(Type<S>, const auto& loops) {
    const Rows<S> of_x(x), of_y(y);
    const Columns<Compute<S>> columns(of_y + 0, x.sizes[0], m, d, n);
    parallel_for(x.sizes[0] * n, rows_for_thread(m * d), [&](std::int64_t row, std::int64_t end) {
      Interruptible interruptible;
      for (; row < end; ++row) {
        const std::int64_t batch = row / n;
        S* const to = out.as<S>() + batch * out.strides[0] + row % n * out.strides[1];
        if (columns) {
          columns.write(loops, of_x + row * d, batch, 0, to, out.strides[2]);
          interruptible.done(m * d);
          continue;
        }
        for (std::int64_t j = 0; j < m; ++j) {
          store(to + j * out.strides[2],
                loops.distance(of_x + row * d, of_y + (batch * m + j) * d, d));
          interruptible.done(d);
        }
      }
    });
  });
}

// A row of the gradient from all rows of the other matrix. at(j): where the distance to row j and
// its gradient lie, or -1.
template <class S, class C, class At>
void row_backward(S* to, const View& g, const View& distances, const C* x, const C* y,
                  std::int64_t m, std::int64_t d, std::vector<C>& sums, const Loops<C>& loops,
                  At at) {
  std::fill(sums.begin(), sums.end(), C(0));
  Interruptible interruptible;
  for (std::int64_t j = 0; j < m; ++j) {
    const auto [of_g, of_distance] = at(j);
    if (of_g < 0) continue;
    loops.add_slopes(sums.data(), x, y + j * d, d, load(g.as<const S>() + of_g),
                     load(distances.as<const S>() + of_distance));
    interruptible.done(d);
  }
  for (std::int64_t i = 0; i < d; ++i) store(to + i, sums[std::size_t(i)]);
}

void between_backward(const View& gx, const View& g, const View& distances, const View& x,
                      const View& y, double p) {
  const std::int64_t n = x.sizes[1], m = y.sizes[1], d = x.sizes[2];
  dispatch(x.dtype, p, [&]<class S>(Type<S>, const auto& loops) {
    const Rows<S> of_x(x), of_y(y);
    parallel_for(x.sizes[0] * n, rows_for_thread(m * d), [&](std::int64_t row, std::int64_t end) {
      std::vector<Compute<S>> sums(static_cast<std::size_t>(d));
      for (; row < end; ++row) {
        const std::int64_t batch = row / n, i = row % n;
        row_backward(gx.as<S>() + row * d, g, distances, of_x + row * d, of_y + batch * m * d, m, d,
                     sums, loops, [&](std::int64_t j) {
                       const auto at = [&](const View& v) {
                         return batch * v.strides[0] + i * v.strides[1] + j * v.strides[2];
                       };
                       return std::pair(at(g), at(distances));
                     });
      }
    });
  });
}

void pairs(const View& out, const View& x, double p) {
  const std::int64_t n = x.sizes[0], d = x.sizes[1];
  const RowPairs all{n};
  dispatch(x.dtype, p, [&]<class S>(Type<S>, const auto& loops) {
    const Rows<S> of_x(x);
    const Columns<Compute<S>> columns(of_x + 0, 1, n, d, n);
    parallel_for(n, rows_for_thread(n / 2 * d), [&](std::int64_t i, std::int64_t end) {
      Interruptible interruptible;
      for (; i < end; ++i) {
        S* const to = out.as<S>() + all.before(i);
        if (columns) {
          columns.write(loops, of_x + i * d, 0, i + 1, to, 1);
          interruptible.done((n - i) * d);
          continue;
        }
        for (std::int64_t j = i + 1; j < n; ++j) {
          store(to + j - i - 1, loops.distance(of_x + i * d, of_x + j * d, d));
          interruptible.done(d);
        }
      }
    });
  });
}

void pairs_backward(const View& gx, const View& g, const View& distances, const View& x, double p) {
  const std::int64_t n = x.sizes[0], d = x.sizes[1];
  const RowPairs all{n};
  dispatch(x.dtype, p, [&]<class S>(Type<S>, const auto& loops) {
    const Rows<S> of_x(x);
    parallel_for(n, rows_for_thread(n * d), [&](std::int64_t i, std::int64_t end) {
      std::vector<Compute<S>> sums(static_cast<std::size_t>(d));
      for (; i < end; ++i)
        row_backward(gx.as<S>() + i * d, g, distances, of_x + i * d, of_x + 0, n, d, sums, loops,
                     [&](std::int64_t j) {
                       const std::int64_t at = i == j ? -1 : all.at(i, j);
                       return std::pair(at, at);
                     });
    });
  });
}

}  // namespace

const DistanceKernels cpu_distance = {between, between_backward, pairs, pairs_backward};

}  // namespace rushlight
