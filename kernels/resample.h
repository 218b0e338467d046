// Resampling up to three dimensions. An output is a weighted sum of a few neighbours along each
// axis: which, and with what weights, is written here once for all devices.
#pragma once
#include "math/trigonometric.h"
#include "view.h"

namespace rushlight {

enum class Resampling : std::uint8_t {
  nearest,
  nearest_exact,
  linear,
  cubic,
  triangle,  // the last three are antialiased: the filter is widened where the size shrinks
  keys,
  lanczos
};

// (planes, in...) to (planes, out...); axes are depth, height, width, of size 1 where missing.
struct ResampleShape {
  using Index = std::int64_t;
  int rank;
  Index planes;
  Index in[3], out[3];
  double factor[3];  // out / in as the caller gave it; 0: from the sizes
  Resampling mode;
  bool align_corners;

  HOST_DEVICE Index inputs() const { return in[0] * in[1] * in[2]; }
  HOST_DEVICE Index outputs() const { return out[0] * out[1] * out[2]; }
  HOST_DEVICE bool antialiased() const { return mode >= Resampling::triangle; }
  // Half of what the filter covers, in input elements, where the size grows.
  HOST_DEVICE double reach() const {
    return mode == Resampling::triangle ? 1 : mode == Resampling::keys ? 2 : 3;
  }
  // How far apart outputs are, in inputs; in the type that torch computes it in.
  template <class T>
  HOST_DEVICE T step(int axis) const {
    if (align_corners) return out[axis] > 1 ? T(in[axis] - 1) / T(out[axis] - 1) : T(0);
    return factor[axis] > 0 ? T(1.0 / factor[axis]) : T(in[axis]) / T(out[axis]);
  }
  // Whether every output of an axis is the input of its index. Which modes then ignore the factor
  // is torch's choice; so is doubling by the nearest in two dimensions alone.
  HOST_DEVICE bool keeps(int axis) const {
    return in[axis] == out[axis] &&
           (mode == Resampling::linear || antialiased() || step<double>(axis) == 1.0 ||
            (mode == Resampling::nearest && rank == 2));
  }
  HOST_DEVICE bool doubles(int axis) const {
    return mode == Resampling::nearest && rank == 2 && out[axis] == 2 * in[axis];
  }
  // At most as many inputs make an output.
  HOST_DEVICE Index taps(int axis) const {
    if (keeps(axis) || mode <= Resampling::nearest_exact) return 1;
    if (mode == Resampling::linear) return 2;
    if (mode == Resampling::cubic) return 4;
    const double step = this->step<double>(axis), wide = reach() * (step > 1 ? step : 1);
    const double most = wide < 1e9 ? wide * 2 + 3 : 2e9;
    return most < double(in[axis]) ? Index(most) : in[axis];
  }
};

// The inputs first .. first + count - 1 of one output; those outside are the nearest inside.
struct Taps {
  std::int64_t first, count;
};

// Keys' piecewise cubic (1981), for 0 <= x.
template <class T>
HOST_DEVICE inline T cubic_near(T x, T a) {
  return ((a + T(2)) * x - (a + T(3))) * x * x + T(1);
}
template <class T>
HOST_DEVICE inline T cubic_far(T x, T a) {
  return ((a * x - T(5) * a) * x + T(8) * a) * x - T(4) * a;
}
// The weights of the neighbours -1, 0, 1 and 2 of a position t behind 0.
template <class T>
HOST_DEVICE inline void cubic_weights(T t, T* weights, std::int64_t stride) {
  const T a = T(-0.75);
  weights[0] = cubic_far(t + T(1), a);
  weights[stride] = cubic_near(t, a);
  weights[2 * stride] = cubic_near(T(1) - t, a);
  weights[3 * stride] = cubic_far(T(2) - t, a);
}

// The antialiased filters, for any x.
template <class T>
HOST_DEVICE inline T resampling_filter(Resampling mode, T x) {
  x = x < 0 ? -x : x;
  if (mode == Resampling::triangle) return x < 1 ? 1 - x : T(0);
  if (mode == Resampling::keys)
    return x < 1 ? cubic_near(x, T(-0.5)) : x < 2 ? cubic_far(x, T(-0.5)) : T(0);
  if (x == 0) return T(1);
  if (x >= 3) return T(0);
  const T u = x * kPi<T>, v = u / 3;
  return sin(u) / u * (sin(v) / v);
}

// x as an index in [0, size); a NaN is 0.
template <class T>
HOST_DEVICE inline std::int64_t index_within(T x, std::int64_t size) {
  return !(x > 0) ? 0 : x >= T(size - 1) ? size - 1 : std::int64_t(x);
}

// The taps of output q along an axis, and their weights, `stride` apart; s.taps(axis) are written.
template <class T>
HOST_DEVICE inline Taps resample_taps(const ResampleShape& s, int axis, std::int64_t q, T* weights,
                                      std::int64_t stride) {
  const std::int64_t in = s.in[axis];
  weights[0] = T(1);
  if (s.keeps(axis)) return {q, 1};
  if (s.doubles(axis)) return {q / 2, 1};
  if (s.mode <= Resampling::nearest_exact) {  // in float, as torch has it for all dtypes
    const float half = s.mode == Resampling::nearest ? 0.f : 0.5f;
    return {index_within((float(q) + half) * s.step<float>(axis), in), 1};
  }
  const T step = s.step<T>(axis);
  if (s.antialiased()) {
    const T wide = step > 1 ? step : T(1), support = T(s.reach()) * wide,
            centre = step * (T(q) + T(0.5));
    const T top = centre + support + T(0.5);
    const std::int64_t most = s.taps(axis), low = index_within(centre - support + T(0.5), in);
    const std::int64_t high = top >= T(in) ? in : std::int64_t(top);
    const std::int64_t count = high - low < 1 ? 1 : high - low < most ? high - low : most;
    T total = 0;
    for (std::int64_t k = 0; k < most; ++k) {
      const T x = (T(low + k) - centre + T(0.5)) / wide;
      const T weight = k < count ? resampling_filter(s.mode, x) : T(0);
      weights[k * stride] = weight;
      total += weight;
    }
    for (std::int64_t k = 0; k < count && total != 0; ++k) weights[k * stride] /= total;
    return {low, count};
  }
  const bool is_cubic = s.mode == Resampling::cubic;
  T x = s.align_corners ? step * T(q) : step * (T(q) + T(0.5)) - T(0.5);
  if (!is_cubic && !(x > 0)) x = 0;
  const std::int64_t first = x < 0 ? -1 : index_within(floor(x), in);  // x > -1
  T t = x - T(first);
  t = t > 0 ? (t < 1 ? t : T(1)) : T(0);
  if (is_cubic) {
    cubic_weights(t, weights, stride);
    return {first - 1, 4};
  }
  weights[0] = 1 - t;
  weights[stride] = t;
  return {first, 2};
}

// Views are contiguous. Floating dtypes, and uint8, which is rounded.
struct ResampleKernels {
  void (*forward)(const ResampleShape& s, const View& input, const View& out);
  void (*backward)(const ResampleShape& s, const View& grad, const View& grad_input);
};

extern const ResampleKernels cpu_resample;

}  // namespace rushlight
