// Doubles of planes whose channels lie innermost: by a column matrix with a row a pixel, of all
// images one after the other, and a product per band of pixels and group. Neighbouring taps lie
// side by side in an image as they do in its row, so that rows are copied in runs.
#include <algorithm>

#include "kernels/cpu/linalg/gemm.h"
#include "kernels/cpu/transpose.h"
#include "kernels/parallel.h"
#include "plan.h"

namespace rushlight::conv {
namespace {

struct Sizes {
  Index c, out, taps, k, plane, image;  // c, out, k = taps * c: of a group
  explicit Sizes(const ConvShape& s)
      : c(s.c / s.groups),
        out(s.out / s.groups),
        taps(s.kernel[1] * s.kernel[2]),
        k(taps * c),
        plane(s.result[1] * s.result[2]),
        image(s.in[1] * s.in[2] * s.c) {}
  // Pixels handled at once: their rows stay in the second cache.
  Index band() const { return std::clamp<Index>((Index(1) << 17) / k, 64, 4096); }
};

// Calls f(element of the column matrix, count, input position or -1) for pixels [p0, p1).
template <class F>
void visit_rows(const ConvShape& s, const Sizes& z, Index p0, Index p1, const F& f) {
  const Index wide = s.result[2], taps = s.kernel[2], apart = s.dilation[2];
  const bool joined = s.groups == 1 && apart == 1;
  Index n = p0 / z.plane, h = p0 % z.plane / wide, q = p0 % wide, element = 0;
  for (Index p = p0; p < p1; ++p) {
    const Index left = q * s.stride[2] - s.padding[2];
    const Index first = std::clamp<Index>(-left, 0, taps);  // taps inside, where they are joined
    const Index end = std::clamp<Index>(s.in[2] - left, first, taps);
    for (Index kh = 0; kh < s.kernel[1]; ++kh, element += taps * z.c) {
      const Index y = h * s.stride[1] + kh * s.dilation[1] - s.padding[1];
      const Index at = n * z.image + (y * s.in[2] + left) * s.c;
      if (y < 0 || y >= s.in[1] || (joined && first == end)) {
        f(element, taps * z.c, Index(-1));
      } else if (joined) {
        if (first > 0) f(element, first * z.c, Index(-1));
        f(element + first * z.c, (end - first) * z.c, at + first * z.c);
        if (end < taps) f(element + end * z.c, (taps - end) * z.c, Index(-1));
      } else {
        for (Index t = 0; t < taps; ++t) {
          const Index x = left + t * apart;
          f(element + t * z.c, z.c, x >= 0 && x < s.in[2] ? at + t * apart * s.c : Index(-1));
        }
      }
    }
    if (++q == wide) q = 0, ++h;
    if (h == s.result[1]) h = 0, ++n;
  }
}

void gather_rows(const ConvShape& s, const Sizes& z, Index p0, Index p1, const double* x,
                 double* rows) {
  visit_rows(s, z, p0, p1, [&](Index element, Index n, Index at) {
    if (at < 0)
      std::fill_n(rows + element, n, 0.);
    else
      std::copy_n(x + at, n, rows + element);
  });
}

// Weights (out, c, taps) as (out, taps, c), or back.
void reorder(const ConvShape& s, const Sizes& z, bool back, const double* from, double* to) {
  const Index rows = back ? z.taps : z.c, cols = back ? z.c : z.taps;
  for (Index o = 0; o < s.out; ++o) transpose(from + o * z.k, cols, rows, cols, to + o * z.k, rows);
}

}  // namespace

void inside_forward(const ConvShape& s, const double* x, const double* w, const double* bias,
                    double* y) {
  const Sizes z(s);
  Scratch<double> weights(s.out * z.k);
  reorder(s, z, false, w, weights.data());
  const Index pixels = s.n * z.plane, least = 1 + 200'000 / (z.k * s.out);
  parallel_for(pixels, least, [&](Index begin, Index end) {
    const Index band = std::min(z.band(), end - begin);
    Scratch<double> rows(band * z.k);
    for (Index p0 = begin; p0 < end; p0 += band) {
      const Index size = std::min(band, end - p0);
      double* const to = y + p0 * s.out;
      for (Index p = 0; p < size && bias; ++p) std::copy_n(bias, s.out, to + p * s.out);
      for (Index g = 0; g < s.groups; ++g) {
        gather_rows(s, z, p0, p0 + size, x + g * z.c, rows.data());
        gemm<double>(size, z.out, z.k, 1., {rows.data(), z.k},
                     {weights.data() + g * z.out * z.k, z.k, true}, bias ? 1. : 0.,
                     {to + g * z.out, s.out});
      }
      check_interrupt();
    }
  });
}

void inside_grad_input(const ConvShape& s, const double* grad, const double* w, const double* bias,
                       double* grad_x) {
  const Sizes z(s);
  Scratch<double> weights(s.out * z.k);
  reorder(s, z, false, w, weights.data());
  // One task owns its images, since neighbouring outputs add to the same inputs.
  parallel_for(s.n, 1 + 200'000 / (z.plane * z.k * s.out), [&](Index n0, Index n1) {
    const Index begin = n0 * z.plane, end = n1 * z.plane, band = std::min(z.band(), end - begin);
    Scratch<double> rows(band * z.k);
    if (!bias) std::fill_n(grad_x + n0 * z.image, (n1 - n0) * z.image, 0.);
    for (Index i = n0 * z.image; i < n1 * z.image && bias; i += s.c)
      std::copy_n(bias, s.c, grad_x + i);
    for (Index p0 = begin; p0 < end; p0 += band) {
      const Index size = std::min(band, end - p0);
      for (Index g = 0; g < s.groups; ++g) {
        gemm<double>(size, z.k, z.out, 1., {grad + p0 * s.out + g * z.out, s.out},
                     {weights.data() + g * z.out * z.k, z.k}, 0., {rows.data(), z.k});
        double* const images = grad_x + g * z.c;
        visit_rows(s, z, p0, p0 + size, [&](Index element, Index n, Index at) {
          if (at < 0) return;
          for (Index i = 0; i < n; ++i) images[at + i] += rows[element + i];
        });
      }
      check_interrupt();
    }
  });
}

void inside_grad_weight(const ConvShape& s, const double* x, const double* grad, double* grad_w) {
  const Sizes z(s);
  Scratch<double> sums(s.out * z.k);
  const Index pixels = s.n * z.plane, band = std::min(z.band(), pixels);
  parallel_for(s.groups, 1, [&](Index begin, Index end) {
    Scratch<double> rows(band * z.k);
    for (Index g = begin; g < end; ++g)
      for (Index p0 = 0; p0 < pixels; p0 += band) {
        const Index size = std::min(band, pixels - p0);
        gather_rows(s, z, p0, p0 + size, x + g * z.c, rows.data());
        gemm<double>(z.out, z.k, size, 1., {grad + p0 * s.out + g * z.out, s.out, true},
                     {rows.data(), z.k}, p0 ? 1. : 0., {sums.data() + g * z.out * z.k, z.k});
        check_interrupt();
      }
  });
  reorder(s, z, true, sums.data(), grad_w);
}

}  // namespace rushlight::conv
