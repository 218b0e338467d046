// Batch norm, and the table of normalisations. One task is one channel: its second reading comes
// from the cache. Planes of a few elements are gathered into blocks first; of one element, as
// images with their channels innermost have them, they are columns.
#include "kernels/norm.h"

#include <vector>

#include "columns.h"
#include "group.h"
#include "kernels/cpu/scratch.h"
#include "kernels/parallel.h"
#include "loops.h"

namespace rushlight {
namespace {

using namespace norm;

// Whether the planes of a channel are read where they lie; one alone is, of any size.
bool reads_planes(const NormShape& s) {
  constexpr Index kSmallPlane = 32;
  return s.plane >= kSmallPlane || s.n == 1;
}

template <class T>
T value_or(const View* v, Index i, T otherwise) {
  return v ? v->as<T>()[i] : otherwise;
}

// Calls f(channel) for all of them.
template <class F>
void each_channel(const NormShape& s, F f) {
  parallel_for(s.c, 1 + 16384 / std::max<Index>(s.n * s.plane, 1), [&](Index begin, Index end) {
    for (Index c = begin; c < end; ++c) f(c);
  });
}

// Calls f(pointer..., size) on contiguous pieces of channel c of each input: its planes, or blocks
// gathered from many small planes.
template <class S, class F>
void each_piece(const NormShape& s, Index c, const S* x, F f) {
  if (reads_planes(s)) {
    for (Index n = 0; n < s.n; ++n) f(x + (n * s.c + c) * s.plane, s.plane);
    return;
  }
  S block[kBlock];
  Index used = 0;
  for (Index n = 0; n < s.n; ++n) {
    for (Index i = 0; i < s.plane; ++i) block[used++] = x[(n * s.c + c) * s.plane + i];
    if (used + s.plane > kBlock || n + 1 == s.n) {
      f(block, used);
      used = 0;
    }
  }
}

// out = x * a[c] + b[c]
template <class S, class T = Compute<S>>
void scale_channel(const NormShape& s, Index c, const S* x, T a, T b, S* y) {
  for (Index n = 0; n < s.n; ++n) {
    const Index at = (n * s.c + c) * s.plane;
    scale(x + at, s.plane, a, b, y + at);
  }
}

template <class S, class T = Compute<S>>
void scale_all(const NormShape& s, const S* x, const T* a, const T* b, S* y) {
  if (s.plane == 1)
    parallel_for(s.n, 1 + 16384 / std::max<Index>(s.c, 1), [&](Index begin, Index end) {
      scale_by(x + begin * s.c, end - begin, s.c, a, b, y + begin * s.c);
    });
  else
    parallel_for(s.n * s.c, 1 + 16384 / s.plane, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i)
        scale(x + i * s.plane, s.plane, a[i % s.c], b[i % s.c], y + i * s.plane);
    });
}

void batch_norm(const NormShape& s, const View& input, const View* weight, const View* bias,
                const View* running_mean, const View* running_var, double momentum, double eps,
                const View& mean, const View& invstd, const View& out) {
  dispatch_floating(input.dtype, [&]<class S>(Type<S>) {
    using T = Compute<S>;
    Scratch<T> a(s.c), b(s.c);
    const auto finish = [&](Index c, const Moments& all) {
      const double variance = all.count > 0 ? all.m2 / all.count : 0;
      mean.as<T>()[c] = T(all.mean);
      invstd.as<T>()[c] = T(1 / std::sqrt(variance + eps));
      const auto move = [&](const View* running, double to) {
        if (!running) return;
        T& r = running->as<T>()[c];
        r = T((1 - momentum) * double(r) + momentum * to);
      };
      move(running_mean, all.mean);
      move(running_var, all.m2 / (all.count - 1));
      a[c] = invstd.as<T>()[c] * value_or<T>(weight, c, 1);
      b[c] = value_or<T>(bias, c, 0) - T(all.mean) * a[c];
    };
    const bool are_short = s.n == 1 && s.plane < kPart;  // instances of a few elements
    const bool scales_at_once = s.plane > 1 && !are_short && reads_planes(s);
    if (s.plane == 1) {
      std::vector<Moments> all(std::size_t(s.c));
      column_moments(input.as<S>(), s.n, s.c, all.data());
      for (Index c = 0; c < s.c; ++c) finish(c, all[std::size_t(c)]);
    } else if (are_short) {
      const Index whole = s.c / kShortRows * kShortRows;
      parallel_for(s.c / kShortRows, 1 + 1024 / s.plane, [&](Index begin, Index end) {
        Moments all[kShortRows];
        for (; begin < end; ++begin) {
          add_short_moments(input.as<S>() + begin * kShortRows * s.plane, s.plane, all);
          for (Index r = 0; r < kShortRows; ++r) finish(begin * kShortRows + r, all[r]);
        }
      });
      for (Index c = whole; c < s.c; ++c) {
        Moments all;
        add_moments(input.as<S>() + c * s.plane, s.plane, all);
        finish(c, all);
      }
    } else {
      each_channel(s, [&](Index c) {
        Moments all;
        each_piece(s, c, input.as<S>(), [&](const S* x, Index n) { add_moments(x, n, all); });
        finish(c, all);
        if (scales_at_once) scale_channel(s, c, input.as<S>(), a[c], b[c], out.as<S>());
      });
    }
    if (!scales_at_once) scale_all(s, input.as<S>(), a.data(), b.data(), out.as<S>());
  });
}

void inverse_deviation(const View& variance, double eps, const View& invstd) {
  dispatch_floating(variance.dtype, [&]<class S>(Type<S>) {
    for (Index c = 0; c < variance.numel; ++c)
      store(invstd.as<S>() + c,
            Compute<S>(1 / std::sqrt(double(load(variance.as<S>() + c)) + eps)));
  });
}

void scale_channels(const NormShape& s, const View& input, const View* weight, const View* bias,
                    const View& mean, const View& invstd, const View& out) {
  dispatch_floating(input.dtype, [&]<class S>(Type<S>) {
    using T = Compute<S>;
    Scratch<T> a(s.c), b(s.c);
    for (Index c = 0; c < s.c; ++c) {
      a[c] = invstd.as<T>()[c] * value_or<T>(weight, c, 1);
      b[c] = value_or<T>(bias, c, 0) - mean.as<T>()[c] * a[c];
    }
    scale_all(s, input.as<S>(), a.data(), b.data(), out.as<S>());
  });
}

template <class S>
void add_channel_products(const NormShape& s, Index c, const S* g, const S* x, double& sum,
                          double& product, Compute<S> mean) {
  if (reads_planes(s)) {
    for (Index n = 0; n < s.n; ++n) {
      const Index at = (n * s.c + c) * s.plane;
      add_products(g + at, x + at, s.plane, mean, sum, product);
    }
    return;
  }
  for (Index n = 0; n < s.n; ++n)
    for (Index i = 0; i < s.plane; ++i) {
      const Index at = (n * s.c + c) * s.plane + i;
      const Compute<S> v = load(g + at);
      sum += double(v);
      product += double(v * (load(x + at) - mean));
    }
}

void batch_norm_backward(const NormShape& s, const View& grad, const View& input,
                         const View* weight, const View& mean, const View& invstd, bool training,
                         const View* grad_input, const View* grad_weight, const View* grad_bias) {
  const double count = double(std::max<Index>(s.n * s.plane, 1));
  dispatch_floating(input.dtype, [&]<class S>(Type<S>) {
    using T = Compute<S>;
    const S *g = grad.as<S>(), *x = input.as<S>();
    Scratch<T> factors(3 * s.c);  // of g, of x - mean, and what is added
    T *a = factors.data(), *slope = a + s.c, *offset = slope + s.c;
    const auto finish = [&](Index c, double sum, double product) {
      const T scale_c = invstd.as<T>()[c];
      if (grad_weight) grad_weight->as<T>()[c] = T(product) * scale_c;
      if (grad_bias) grad_bias->as<T>()[c] = T(sum);
      // weight * invstd * (g - mean(g) - (x - mean) * invstd^2 * mean(g * (x - mean)))
      a[c] = scale_c * value_or<T>(weight, c, 1);
      slope[c] = training ? T(-product / count) * scale_c * scale_c * a[c] : T(0);
      offset[c] = training ? -T(sum / count) * a[c] : T(0);
    };
    const bool needs_sums = training || grad_weight || grad_bias;
    if (s.plane == 1) {
      std::vector<double> sums(std::size_t(2 * s.c));
      double *sum = sums.data(), *product = sum + s.c;
      if (needs_sums) column_products(g, x, s.n, s.c, mean.as<T>(), sum, product);
      for (Index c = 0; c < s.c; ++c) finish(c, sum[c], product[c]);
      if (!grad_input) return;
      parallel_for(s.n, 1 + 16384 / s.c, [&](Index begin, Index end) {
        const Index at = begin * s.c, rows = end - begin;
        S* to = grad_input->as<S>() + at;
        if (training)
          combine_columns(g + at, x + at, rows, s.c, a, mean.as<T>(), slope, offset, to);
        else
          scale_by(g + at, rows, s.c, a, offset, to);
      });
      return;
    }
    each_channel(s, [&](Index c) {
      const T m = mean.as<T>()[c];
      double sum = 0, product = 0;
      if (needs_sums) add_channel_products(s, c, g, x, sum, product, m);
      finish(c, sum, product);
      if (!grad_input) return;
      for (Index n = 0; n < s.n; ++n) {
        const Index at = (n * s.c + c) * s.plane;
        S* to = grad_input->as<S>() + at;
        if (training)
          combine(g + at, x + at, s.plane, a[c], m, slope[c], offset[c], to);
        else
          scale(g + at, s.plane, a[c], T(0), to);
      }
    });
  });
}

}  // namespace

const NormKernels cpu_norm = {batch_norm,          inverse_deviation, scale_channels,
                              batch_norm_backward, norm::group_norm,  norm::group_norm_backward};

}  // namespace rushlight
