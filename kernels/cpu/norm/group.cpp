// Group norm, with layer norm and rms norm as its cases of one element a channel. Gradients of
// weight and bias are summed in a fixed number of parts, so they do not depend on the number of
// threads.
#include "group.h"

#include <vector>

#include "columns.h"
#include "kernels/cpu/scratch.h"
#include "kernels/parallel.h"
#include "loops.h"

namespace rushlight::norm {
namespace {

constexpr Index kParts = 16;

// Of each channel what a tensor says, or the same for all.
template <class T>
class OfChannels {
 public:
  OfChannels(const View* v, Index n, T otherwise)
      : same_(std::size_t(v ? 0 : n), otherwise), data_(v ? v->as<T>() : same_.data()) {}
  OfChannels(const OfChannels&) = delete;
  OfChannels& operator=(const OfChannels&) = delete;
  const T* data() const { return data_; }
  T operator[](Index c) const { return data_[c]; }

 private:
  std::vector<T> same_;
  const T* data_;
};

// Each group as one channel of its own: what it is without weight and bias.
NormShape without_channels(NormShape s) {
  s.plane *= s.c / s.groups;
  s.n *= s.groups;
  s.c = s.groups = 1;
  return s;
}

// Each value `times` times.
template <class T>
std::vector<T> repeated(const T* values, Index n, Index times) {
  std::vector<T> all;
  all.reserve(std::size_t(n * times));
  for (Index i = 0; i < n; ++i) all.insert(all.end(), std::size_t(times), values[i]);
  return all;
}

// One image with its channels innermost: (plane, c).
template <class S, class T = Compute<S>>
void normalize_image(const NormShape& s, const S* x, double eps, const T* w, const T* b, T* mean,
                     T* invstd, S* y) {
  std::vector<Moments> of_channels(std::size_t(s.groups > 1 ? s.c : 0));
  if (s.groups > 1) column_moments(x, s.plane, s.c, of_channels.data());
  const Index channels = s.c / s.groups;
  Scratch<T> factors(std::size_t(2 * s.c));
  T *scales = factors.data(), *shifts = scales + s.c;
  for (Index g = 0; g < s.groups; ++g) {
    Moments all;
    if (s.groups == 1) add_moments(x, s.plane * s.c, all);
    for (Index c = g * channels; s.groups > 1 && c < (g + 1) * channels; ++c) {
      const Moments& m = of_channels[std::size_t(c)];
      all.join(m.count, m.mean, m.m2);
    }
    mean[g] = T(all.mean);
    invstd[g] = T(1 / std::sqrt(all.m2 / all.count + eps));
    for (Index c = g * channels; c < (g + 1) * channels; ++c) {
      scales[c] = invstd[g] * w[c];
      shifts[c] = b[c] - mean[g] * scales[c];
    }
  }
  scale_by(x, s.plane, s.c, scales, shifts, y);
}

// The same backward: adds to the gradients of weight and bias, and writes out where it is given.
template <class S, class T = Compute<S>>
void image_gradients(const NormShape& s, const S* g, const S* x, const T* w, const T* mean,
                     const T* invstd, T* grad_w, T* grad_b, S* out) {
  const Index channels = s.c / s.groups;
  const double count = double(channels * s.plane);
  Scratch<T> factors(std::size_t(4 * s.c));
  T *means = factors.data(), *scales = means + s.c, *slopes = scales + s.c, *offsets = slopes + s.c;
  for (Index c = 0; c < s.c; ++c) means[c] = mean[c / channels];
  std::vector<double> sums(std::size_t(2 * s.c));
  double *sum = sums.data(), *product = sum + s.c;
  column_products(g, x, s.plane, s.c, means, sum, product);
  for (Index i = 0; i < s.groups; ++i) {
    double group_sum = 0, group_product = 0;
    for (Index c = i * channels; c < (i + 1) * channels; ++c) {
      grad_w[c] += T(product[c]) * invstd[i];
      grad_b[c] += T(sum[c]);
      group_sum += sum[c] * double(w[c]);
      group_product += product[c] * double(w[c]);
    }
    for (Index c = i * channels; c < (i + 1) * channels; ++c) {
      scales[c] = invstd[i] * w[c];
      slopes[c] = T(-group_product / count) * invstd[i] * invstd[i] * invstd[i];
      offsets[c] = -T(group_sum / count) * invstd[i];
    }
  }
  if (out) combine_columns(g, x, s.plane, s.c, scales, means, slopes, offsets, out);
}

}  // namespace

void group_norm(const NormShape& given, const View& input, const View* weight, const View* bias,
                double eps, const View& mean, const View& invstd, const View& out) {
  const bool is_block = given.plane == 1 && given.groups == 1 && given.c <= kBlock;
  const NormShape s = weight || bias || given.inside || is_block ? given : without_channels(given);
  const Index channels = s.c / s.groups, row = channels * s.plane;
  dispatch_floating(input.dtype, [&]<class S>(Type<S>) {
    using T = Compute<S>;
    const OfChannels<T> w(weight, s.c, 1), b(bias, s.c, 0);
    if (s.inside)
      return parallel_for(
          s.n, 1 + 16384 / std::max<Index>(s.c * s.plane, 1), [&](Index begin, Index end) {
            for (Index n = begin; n < end; ++n)
              normalize_image(s, input.as<S>() + n * s.c * s.plane, eps, w.data(), b.data(),
                              mean.as<T>() + n * s.groups, invstd.as<T>() + n * s.groups,
                              out.as<S>() + n * s.c * s.plane);
          });
    const bool is_short = row < kPart && s.n * s.groups >= kShortRows;
    const bool repeats = is_short && s.plane > 1;  // weights, one for each element
    const std::vector<T> all_w = repeated(w.data(), repeats ? s.c : 0, s.plane);
    const std::vector<T> all_b = repeated(b.data(), repeats ? s.c : 0, s.plane);
    const T* const each_w = repeats ? all_w.data() : w.data();
    const T* const each_b = repeats ? all_b.data() : b.data();
    parallel_for(s.n * s.groups, 1 + 16384 / row, [&](Index begin, Index end) {
      if (s.plane == 1 && s.groups == 1 && row >= kPart && row <= kBlock)
        return normalize_rows(input.as<S>() + begin * row, end - begin, row, s.centered, eps,
                              w.data(), b.data(), mean.as<T>() + begin, invstd.as<T>() + begin,
                              out.as<S>() + begin * row);
      for (Index i = begin; i < end; ++i) {
        const S* x = input.as<S>() + i * row;
        S* y = out.as<S>() + i * row;
        if (is_short && i + kShortRows <= end) {
          normalize_short_rows(x, row, s.centered, eps, each_w, each_b, s.groups, i % s.groups,
                               mean.as<T>() + i, invstd.as<T>() + i, y);
          i += kShortRows - 1;
          continue;
        }
        Moments all;
        if (s.centered) add_moments(x, row, all);
        const double squares = s.centered ? all.m2 : squares_of(x, row);
        const T m = T(all.mean), scale_all = T(1 / std::sqrt(squares / double(row) + eps));
        mean.as<T>()[i] = m;
        invstd.as<T>()[i] = scale_all;
        const Index first = i % s.groups * channels;
        if (s.plane == 1) {
          scale_each(x, row, m, scale_all, w.data() + first, b.data() + first, y);
          continue;
        }
        for (Index c = 0; c < channels; ++c) {
          const T a = scale_all * w[first + c];
          scale(x + c * s.plane, s.plane, a, b[first + c] - m * a, y + c * s.plane);
        }
      }
    });
  });
}

void group_norm_backward(const NormShape& given, const View& grad, const View& input,
                         const View* weight, const View& mean, const View& invstd,
                         const View* grad_input, const View* grad_weight, const View* grad_bias) {
  const NormShape s =
      weight || grad_weight || grad_bias || given.inside ? given : without_channels(given);
  const Index channels = s.c / s.groups, row = channels * s.plane, rows = s.n * s.groups;
  // Parts are whole images, each with every group.
  const Index parts = std::clamp<Index>(s.n, 1, kParts);
  dispatch_floating(input.dtype, [&]<class S>(Type<S>) {
    using T = Compute<S>;
    const OfChannels<T> w(weight, s.c, 1);
    Scratch<T> grad_w(parts * s.c), grad_b(parts * s.c);
    grad_w.zero();
    grad_b.zero();
    parallel_for(
        parts, 1 + 16384 * parts / std::max<Index>(rows * row, 1), [&](Index begin, Index end) {
          for (Index part = begin; part < end; ++part) {
            for (Index n = s.n * part / parts; s.inside && n < s.n * (part + 1) / parts; ++n) {
              const Index at = n * s.c * s.plane;
              image_gradients(s, grad.as<S>() + at, input.as<S>() + at, w.data(),
                              mean.as<T>() + n * s.groups, invstd.as<T>() + n * s.groups,
                              &grad_w[part * s.c], &grad_b[part * s.c],
                              grad_input ? grad_input->as<S>() + at : nullptr);
            }
            if (s.inside) continue;
            for (Index i = s.n * part / parts * s.groups; i < s.n * (part + 1) / parts * s.groups;
                 ++i) {
              const S *g = grad.as<S>() + i * row, *x = input.as<S>() + i * row;
              const Index first = i % s.groups * channels;
              T *gw = &grad_w[part * s.c + first], *gb = &grad_b[part * s.c + first];
              const T m = mean.as<T>()[i], scale_all = invstd.as<T>()[i];
              double sum = 0, product = 0;
              if (s.plane == 1) {
                if (grad_input) add_weighted(g, x, row, m, w.data() + first, sum, product);
                if (grad_weight || grad_bias) add_parameters(g, x, row, m, scale_all, gw, gb);
              } else {
                for (Index c = 0; c < channels; ++c) {
                  double channel_sum = 0, channel_product = 0;
                  add_products(g + c * s.plane, x + c * s.plane, s.plane, m, channel_sum,
                               channel_product);
                  gw[c] += T(channel_product) * scale_all;
                  gb[c] += T(channel_sum);
                  sum += channel_sum * double(w[first + c]);
                  product += channel_product * double(w[first + c]);
                }
              }
              if (!grad_input) continue;
              // invstd * (g w - mean(g w) - (x - mean) invstd^2 mean(g w (x - mean)))
              const T slope = T(-product / double(row)) * scale_all * scale_all * scale_all;
              const T offset = s.centered ? -T(sum / double(row)) * scale_all : T(0);
              S* out = grad_input->as<S>() + i * row;
              if (s.plane == 1) {
                combine_each(g, x, row, w.data() + first, scale_all, m, slope, offset, out);
                continue;
              }
              for (Index c = 0; c < channels; ++c)
                combine(g + c * s.plane, x + c * s.plane, s.plane, scale_all * w[first + c], m,
                        slope, offset, out + c * s.plane);
            }
          }
        });
    for (Index c = 0; c < s.c; ++c) {
      double weight_sum = 0, bias_sum = 0;
      for (Index part = 0; part < parts; ++part) {
        weight_sum += double(grad_w[part * s.c + c]);
        bias_sum += double(grad_b[part * s.c + c]);
      }
      if (grad_weight) grad_weight->as<T>()[c] = T(weight_sum);
      if (grad_bias) grad_bias->as<T>()[c] = T(bias_sum);
    }
  });
}

}  // namespace rushlight::norm
