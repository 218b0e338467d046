// Axes, packing, and the choice between the ways to correlate.
#include "plan.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/transpose.h"
#include "kernels/host_device.h"
#include "kernels/parallel.h"
#include "winograd.h"

namespace rushlight::conv {
namespace {

template <class T>
CLONES void copy_phase(const T* __restrict src, Index step, Index count, T* __restrict d) {
  if (step == 1)
    for (Index i = 0; i < count; ++i) d[i] = src[i];
  else if (step == 2)
    for (Index i = 0; i < count; ++i) d[i] = src[i * 2];
  else
    for (Index i = 0; i < count; ++i) d[i] = src[i * step];
}

}  // namespace

std::pair<Index, Index> Axis::inside(Index q) const {
  Index lo = 0, hi = Index(shift.size());
  while (lo < hi && q * step + shift[lo] < 0) ++lo;
  while (lo < hi && q * step + shift[hi - 1] >= in) --hi;
  return {lo, hi};
}

std::pair<Index, Index> Axis::reads(Index q0, Index q1) const {
  if (shift.empty()) return {0, 0};
  const Index lo = std::clamp<Index>(q0 * step + shift.front(), 0, in);
  const Index hi = std::clamp<Index>((q1 - 1) * step + shift.back() + 1, lo, in);
  return {lo, hi};
}

Axis forward_axis(const ConvShape& s, int dim) {
  Axis x{s.in[dim], s.result[dim], s.stride[dim], 0, 1, {}, {}};
  for (Index t = 0; t < s.kernel[dim]; ++t) {
    x.tap.push_back(t);
    x.shift.push_back(t * s.dilation[dim] - s.padding[dim]);
  }
  return x;
}

Axis gradient_axis(const ConvShape& s, int dim, Index phase) {
  const Index stride = s.stride[dim];
  Axis x{s.result[dim], (s.in[dim] - phase + stride - 1) / stride, 1, phase, stride, {}, {}};
  for (Index t = s.kernel[dim] - 1; t >= 0; --t) {
    const Index at = phase + s.padding[dim] - t * s.dilation[dim];
    if (at % stride != 0) continue;
    x.tap.push_back(t);
    x.shift.push_back(at / stride);
  }
  return x;
}

namespace {
Steps steps(const ConvShape& s, Index channels, const Index (&size)[3]) {
  const Index plane = size[1] * size[2];
  return s.inside ? Steps{plane * channels, 1, channels} : Steps{plane * channels, plane, 1};
}
}  // namespace
Steps input_steps(const ConvShape& s) { return steps(s, s.c, s.in); }
Steps result_steps(const ConvShape& s) { return steps(s, s.out, s.result); }

Index row_bands(const Correlation& s, Index images_a_task, Index tasks) {
  const Index products = s.products(images_a_task);
  const Index for_time = products / kTaskProducts + 1;
  const Index threads = num_threads();
  const Index for_threads =
      tasks >= threads ? 1 : std::min((threads + tasks - 1) / tasks, products / 250'000 + 1);
  return std::clamp<Index>(std::max(for_time, for_threads), 1, s.rows.out);
}

void pack_weights(const Correlation& s, const float* w, Index lanes, float* packed) {
  const Index panels = (s.out + lanes - 1) / lanes, kernel = s.kh * s.kw;
  if (s.taps() == 1 && s.w_in == 1)  // 1x1: whole rows are transposed
    return parallel_for(panels, 1 + 16384 / (s.c * lanes), [&](Index begin, Index end) {
      for (Index b = begin; b < end; ++b) {
        const Index used = std::min(lanes, s.out - b * lanes);
        float* const d = packed + b * s.c * lanes;
        if (used < lanes) std::fill_n(d, s.c * lanes, 0.f);
        transpose(w + b * lanes * s.w_out, s.w_out, used, s.c, d, lanes);
      }
    });
  parallel_for(panels * s.c, 1 + 16384 / (kernel * lanes), [&](Index begin, Index end) {
    Scratch<float> transposed(kernel * lanes);
    transposed.zero();
    for (Index i = begin; i < end; ++i) {
      const Index b = i / s.c, c = i % s.c, used = std::min(lanes, s.out - b * lanes);
      if (i == begin || c == 0) transposed.zero();
      transpose(w + c * s.w_in + b * lanes * s.w_out, s.w_out, used, kernel, transposed.data(),
                lanes);
      float* d = packed + (b * s.taps() * s.c + c) * lanes;
      for (Index kh : s.rows.tap)
        for (Index kw : s.cols.tap) {
          std::memcpy(d, &transposed[(kh * s.kw + kw) * lanes], std::size_t(lanes) * sizeof(float));
          d += s.c * lanes;
        }
    }
  });
}

std::vector<float> padded_bias(const Correlation& s, Index lanes) {
  std::vector<float> bias((s.out + lanes - 1) / lanes * lanes);
  if (s.bias) std::copy_n(s.bias, s.out, bias.begin());
  return bias;
}

std::vector<int> tap_offsets(const Correlation& s, Index row, Index column, Index channel) {
  std::vector<int> off;
  for (const Index y : s.rows.shift)
    for (const Index x : s.cols.shift)
      for (Index c = 0; c < s.c; ++c) off.push_back(int(y * row + x * column + c * channel));
  return off;
}

Columns::Columns(const Correlation& s) {
  const Axis& x = s.cols;
  left = x.shift.empty() ? 0 : std::max<Index>(0, -x.shift.front());
  const Index reach = x.shift.empty() ? 0 : std::max<Index>(0, x.shift.back() + left) / x.step;
  width = std::max(x.out + reach, (x.in + left) / x.step + 1) + 2 * kPanel;
  row = s.c * x.step * width;
}

template <class T>
void Columns::pack(const Correlation& s, const T* x, Index image, Index h0, Index h1, T* d) const {
  const Index step = s.cols.step, in = s.cols.in;
  for (Index f = 0; f < step; ++f) {
    // Column i of phase f is input column i * step + f - left.
    const Index first = std::max<Index>(0, (left - f + step - 1) / step);
    const Index end = std::max(first, (in + left - f + step - 1) / step), n = end - first;
    T* to = d + f * width + first;
    for (Index h = h0; h < h1; ++h, to += row) {
      const Index at = (h * in + first * step + f - left) * s.from.pixel;
      s.each_plane(x, image, [&](Index c, Index channels, const T* plane) {
        T* line = to + c * step * width;
        if (plane && s.from.channel == 1)
          return transpose(plane + at, step * s.from.pixel, n, channels, line, step * width);
        for (Index i = 0; i < channels; ++i, line += step * width)
          if (plane)
            copy_phase(plane + at + i * s.from.channel, step, n, line);
          else
            std::fill_n(line, n, T(0));
      });
    }
  }
}

template void Columns::pack(const Correlation&, const float*, Index, Index, Index, float*) const;
template void Columns::pack(const Correlation&, const double*, Index, Index, Index, double*) const;

std::vector<int> Columns::offsets(const Correlation& s) const {
  std::vector<int> off;
  for (Index y : s.rows.shift)
    for (Index x : s.cols.shift)
      for (Index c = 0; c < s.c; ++c)
        off.push_back(int(y * row + (c * s.cols.step + (x + left) % s.cols.step) * width +
                          (x + left) / s.cols.step));
  return off;
}

void pack_row(const Correlation& s, const float* x, Index image, Index row, Index column,
              Index count, float* to) {
  const Index at = (row * s.cols.in + column) * s.from.pixel;
  s.each_plane(x, image, [&](Index c, Index channels, const float* plane) {
    const float* const from = plane ? plane + at : nullptr;
    if (from && s.from.channel != 1)
      transpose(from, s.from.channel, channels, count, to + c, s.c);
    else if (from && channels == s.c && s.from.pixel == s.c)
      std::copy_n(from, count * s.c, to);
    else
      for (Index i = 0; i < count; ++i)
        if (from)
          std::copy_n(from + i * s.from.pixel, channels, to + i * s.c + c);
        else
          std::fill_n(to + i * s.c + c, channels, 0.f);
  });
}

void store_sums(const Correlation& s, const float* sums, Index lanes, Index group, Index first,
                Index b, Index h0, Index h1, float* y) {
  const Index wide = s.cols.out, pixels = (h1 - h0) * wide;
  const Index used = std::min(lanes, s.out - b * kPanel);
  const bool dense = s.to.pixel == 1 && s.rows.pitch == 1 && s.cols.pitch == 1;
  Scratch<float> row(std::size_t(wide * used));
  for (Index i = 0; i < group; ++i) {
    float* const planes = y + (first + i) * s.to.image + b * kPanel * s.to.channel;
    if (dense) {
      transpose(sums + i * lanes, group * lanes, pixels, used, planes + h0 * s.to_width,
                s.to.channel);
      continue;
    }
    for (Index h = h0; h < h1; ++h) {
      const float* const from = sums + ((h - h0) * wide * group + i) * lanes;
      const Index step = s.cols.pitch * s.to.pixel;
      float* const to = planes + s.stored(h, 0);
      if (s.to.channel == 1) {
        for (Index q = 0; q < wide; ++q) std::copy_n(from + q * group * lanes, used, to + q * step);
        continue;
      }
      transpose(from, group * lanes, wide, used, row.data(), wide);
      for (Index o = 0; o < used; ++o)
        for (Index q = 0; q < wide; ++q) to[o * s.to.channel + q * step] = row[o * wide + q];
    }
  }
}

void correlate(const Correlation& s, const float* x, const float* w, float* y) {
  if (s.rows.out == 0 || s.cols.out == 0) return;
  if (suits_winograd(s) && correlate_winograd(s, x, w, y)) return;
  const auto filled = [](Index n, Index lanes) {
    return double(n) / double((n + lanes - 1) / lanes * lanes);
  };
  const double columns = filled(s.cols.out, tiles().width);
  // Planes for which more of the lanes would be filled with columns than with channels.
  const bool by_columns = s.from.pixel == 1 && 1.3 * filled(s.out, kPanel) < columns;
  if (!by_columns && suits_pixels(s)) return correlate_pixels(s, x, w, y);
  // With few taps, transposing the sums into NCHW would show.
  const bool few_taps = s.taps() * s.c <= 128 && columns == 1 && s.to.pixel == 1;
  // One panel's tile has too few sums to keep the multipliers busy; a tile of columns has two rows.
  const bool one_panel =
      s.out <= kPanel && filled(s.cols.out, 2 * tiles().width) > 0.8 && s.to.pixel == 1;
  if (filled(s.out, kPanel) < columns || few_taps || one_panel)
    correlate_columns(s, x, w, y);
  else
    correlate_channels(s, x, w, y);
}

}  // namespace rushlight::conv
