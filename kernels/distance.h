// Distances between rows by p-norms: each row of one matrix to each of another (cdist), and all
// pairs of one matrix (pdist). A norm adds up what the differences give, finishes the sum, and
// has its slope; T is an element type, or a tensor where the gradient is to be differentiable.
#pragma once
#include <cmath>

#include "math/integer.h"
#include "math/power.h"
#include "view.h"

namespace rushlight {

template <class T>
  requires(std::is_arithmetic_v<T>)
HOST_DEVICE T sign_of(T x) {
  return where(x > T(0), T(1), where(x < T(0), T(-1), T(0)));
}

// add(sum, |x - y|); finish(sum); slope(x - y, distance): the derivative of the distance by x.
struct ZeroNorm {  // how many differ
  template <class T>
  HOST_DEVICE T add(T sum, T a) const {
    return sum + where(a != T(0), T(1), T(0));
  }
  template <class T>
  HOST_DEVICE T finish(T sum) const {
    return sum;
  }
  template <class T>
  HOST_DEVICE T slope(T, T) const {
    return T(0);
  }
};
struct OneNorm {
  template <class T>
  HOST_DEVICE T add(T sum, T a) const {
    return sum + a;
  }
  template <class T>
  HOST_DEVICE T finish(T sum) const {
    return sum;
  }
  template <class T>
  HOST_DEVICE T slope(T difference, T) const {
    return sign_of(difference);
  }
};
struct TwoNorm {
  template <class T>
  HOST_DEVICE T add(T sum, T a) const {
    return sum + a * a;
  }
  template <class T>
  HOST_DEVICE T finish(T sum) const {
    return sqrt(sum);
  }
  template <class T>
  HOST_DEVICE T slope(T difference, T distance) const {
    return difference * slope_over_difference(T(1), distance);
  }
  // g slope(x, distance) / x, whatever x: one division for a whole row.
  template <class T>
  HOST_DEVICE T slope_over_difference(T g, T distance) const {
    const auto equal = distance == T(0);
    return where(equal, T(0), g / where(equal, T(1), distance));
  }
};
struct InfinityNorm {  // a NaN wins
  template <class T>
  HOST_DEVICE T add(T sum, T a) const {
    return where(sum != sum, sum, where(a <= sum, sum, a));
  }
  template <class T>
  HOST_DEVICE T finish(T sum) const {
    return sum;
  }
  template <class T>
  HOST_DEVICE T slope(T difference, T distance) const {
    return where(abs(difference) == distance, sign_of(difference), T(0));
  }
};
struct PNorm {
  double p;
  template <class T>
  HOST_DEVICE T add(T sum, T a) const {
    return sum + pow(a, T(p));
  }
  template <class T>
  HOST_DEVICE T finish(T sum) const {
    return pow(sum, T(1 / p));
  }
  template <class T>
  HOST_DEVICE T slope(T difference, T distance) const {
    const auto flat = (difference == T(0)) | (distance == T(0));
    const T part = where(flat, T(1), abs(difference)) / where(flat, T(1), distance);
    return where(flat, T(0), sign_of(difference) * pow(part, T(p - 1)));
  }
};

template <class F>
void dispatch_norm(double p, F&& f) {
  if (p == 0) return f(ZeroNorm{});
  if (p == 1) return f(OneNorm{});
  if (p == 2) return f(TwoNorm{});
  if (std::isinf(p)) return f(InfinityNorm{});
  return f(PNorm{p});
}

// The pairs (i, j) with i < j of n rows in their order: 0 and 1, 0 and 2, ..., 1 and 2, ...
struct RowPairs {
  std::int64_t n;
  HOST_DEVICE std::int64_t before(std::int64_t i) const {  // how many begin with a row before i
    return i % 2 == 0 ? i / 2 * (2 * n - i - 1) : (2 * n - i - 1) / 2 * i;
  }
  HOST_DEVICE std::int64_t at(std::int64_t i, std::int64_t j) const {
    return i < j ? before(i) + j - i - 1 : before(j) + i - j - 1;
  }
};

// All of one floating dtype. x [b, n, d] and y [b, m, d] are dense; distances and their gradients
// [b, n, m] have any strides. For pairs: x [n, d] dense, distances and gradients [n (n - 1) / 2]
// dense.
struct DistanceKernels {
  void (*between)(const View& out, const View& x, const View& y, double p);
  void (*between_backward)(const View& gx, const View& g, const View& distances, const View& x,
                           const View& y, double p);  // gx: dense, like x
  void (*pairs)(const View& out, const View& x, double p);
  void (*pairs_backward)(const View& gx, const View& g, const View& distances, const View& x,
                         double p);
};
extern const DistanceKernels cpu_distance;

}  // namespace rushlight
