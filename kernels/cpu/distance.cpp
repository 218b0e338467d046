// Distances between rows; a thread takes rows of the first matrix.
#include "../distance.h"

#include <algorithm>
#include <vector>

#include "../parallel.h"
#include "interruptible.h"

namespace rushlight {
namespace {

constexpr std::int64_t kGrain = 1 << 14;  // elements for which a thread pays

std::int64_t rows_for_thread(std::int64_t work_of_row) {
  return std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(work_of_row, 1));
}

// Eight sums side by side, which gcc makes vectors of.
template <class S, class Norm>
CLONES Compute<S> distance(const S* x, const S* y, std::int64_t n, Norm norm) {
  using C = Compute<S>;
  constexpr int kLanes = 8;
  C lanes[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int k = 0; k < kLanes; ++k)
      lanes[k] = norm.add(lanes[k], abs(C(load(x + i + k) - load(y + i + k))));
  C sum = 0;
  for (; i < n; ++i) sum = norm.add(sum, abs(C(load(x + i) - load(y + i))));
  for (const C lane : lanes) {
    if constexpr (std::is_same_v<Norm, InfinityNorm>)
      sum = norm.add(sum, lane);
    else
      sum += lane;
  }
  return norm.finish(sum);
}

// to += g * slope(x - y, distance)
template <class S, class Norm>
CLONES void add_slopes(Compute<S>* __restrict to, const S* x, const S* y, std::int64_t n,
                       Compute<S> g, Compute<S> distance, Norm norm) {
  for (std::int64_t i = 0; i < n; ++i)
    to[i] += g * norm.slope(Compute<S>(load(x + i) - load(y + i)), distance);
}

void between(const View& out, const View& x, const View& y, double p) {
  const std::int64_t n = x.sizes[1], m = y.sizes[1], d = x.sizes[2];
  dispatch_norm(p, [&](auto norm) {
    dispatch_floating(x.dtype, [&]<class S>(Type<S>) {
      parallel_for(x.sizes[0] * n, rows_for_thread(m * d), [&](std::int64_t row, std::int64_t end) {
        Interruptible interruptible;
        for (; row < end; ++row) {
          const std::int64_t batch = row / n;
          S* const to = out.as<S>() + batch * out.strides[0] + row % n * out.strides[1];
          for (std::int64_t j = 0; j < m; ++j) {
            const auto length =
                distance(x.as<const S>() + row * d, y.as<const S>() + (batch * m + j) * d, d, norm);
            store(to + j * out.strides[2], length);
            interruptible.done(d);
          }
        }
      });
    });
  });
}

// A row of the gradient from all rows of the other matrix. at(j): where the distance to row j and
// its gradient lie, or -1.
template <class S, class Norm, class At>
void row_backward(S* to, const View& g, const View& distances, const S* x, const S* y,
                  std::int64_t m, std::int64_t d, std::vector<Compute<S>>& sums, Norm norm, At at) {
  std::fill(sums.begin(), sums.end(), Compute<S>(0));
  Interruptible interruptible;
  for (std::int64_t j = 0; j < m; ++j) {
    const auto [of_g, of_distance] = at(j);
    if (of_g < 0) continue;
    add_slopes(sums.data(), x, y + j * d, d, load(g.as<const S>() + of_g),
               load(distances.as<const S>() + of_distance), norm);
    interruptible.done(d);
  }
  for (std::int64_t i = 0; i < d; ++i) store(to + i, sums[std::size_t(i)]);
}

void between_backward(const View& gx, const View& g, const View& distances, const View& x,
                      const View& y, double p) {
  const std::int64_t n = x.sizes[1], m = y.sizes[1], d = x.sizes[2];
  dispatch_norm(p, [&](auto norm) {
    dispatch_floating(x.dtype, [&]<class S>(Type<S>) {
      parallel_for(x.sizes[0] * n, rows_for_thread(m * d), [&](std::int64_t row, std::int64_t end) {
        std::vector<Compute<S>> sums(static_cast<std::size_t>(d));
        for (; row < end; ++row) {
          const std::int64_t batch = row / n, i = row % n;
          row_backward(gx.as<S>() + row * d, g, distances, x.as<const S>() + row * d,
                       y.as<const S>() + batch * m * d, m, d, sums, norm, [&](std::int64_t j) {
                         const auto at = [&](const View& v) {
                           return batch * v.strides[0] + i * v.strides[1] + j * v.strides[2];
                         };
                         return std::pair(at(g), at(distances));
                       });
        }
      });
    });
  });
}

void pairs(const View& out, const View& x, double p) {
  const std::int64_t n = x.sizes[0], d = x.sizes[1];
  const RowPairs all{n};
  dispatch_norm(p, [&](auto norm) {
    dispatch_floating(x.dtype, [&]<class S>(Type<S>) {
      parallel_for(n, rows_for_thread(n / 2 * d), [&](std::int64_t i, std::int64_t end) {
        Interruptible interruptible;
        for (; i < end; ++i) {
          S* const to = out.as<S>() + all.before(i);
          for (std::int64_t j = i + 1; j < n; ++j) {
            store(to + j - i - 1,
                  distance(x.as<const S>() + i * d, x.as<const S>() + j * d, d, norm));
            interruptible.done(d);
          }
        }
      });
    });
  });
}

void pairs_backward(const View& gx, const View& g, const View& distances, const View& x, double p) {
  const std::int64_t n = x.sizes[0], d = x.sizes[1];
  const RowPairs all{n};
  dispatch_norm(p, [&](auto norm) {
    dispatch_floating(x.dtype, [&]<class S>(Type<S>) {
      parallel_for(n, rows_for_thread(n * d), [&](std::int64_t i, std::int64_t end) {
        std::vector<Compute<S>> sums(static_cast<std::size_t>(d));
        for (; i < end; ++i)
          row_backward(gx.as<S>() + i * d, g, distances, x.as<const S>() + i * d, x.as<const S>(),
                       n, d, sums, norm, [&](std::int64_t j) {
                         const std::int64_t at = i == j ? -1 : all.at(i, j);
                         return std::pair(at, at);
                       });
      });
    });
  });
}

}  // namespace

const DistanceKernels cpu_distance = {between, between_backward, pairs, pairs_backward};

}  // namespace rushlight
