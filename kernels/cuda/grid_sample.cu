// Sampling at the positions of a grid: a thread a position, for all channels. The input's gradient
// is added up atomically, as positions may meet; 16-bit types in a buffer of floats.
#include "../grid_sample.h"
#include "elements.h"
#include "families.h"
#include "runtime/launch.h"

namespace rushlight::gpu {
namespace {

// The taps of one position along each axis, outermost first. All loops over them are unrolled, so
// that they stay in registers.
template <class C, int Rank, GridMode Mode>
struct Position {
  static constexpr int kAxis = grid_taps(Mode);
  int at[Rank][kAxis];
  C weight[Rank][kAxis], slope[Rank][kAxis], outer[Rank];

  __device__ Position(const GridShape& s, const Reader<C>& grid, Index point) {
#pragma unroll
    for (int r = 0; r < Rank; ++r) {
      const Index size = s.in[3 - Rank + r];
      C x = grid_position(grid[point * Rank + Rank - 1 - r], size, s.align_corners, outer[r]);
      if (Mode != GridMode::bicubic) x = grid_padded(x, size, s.padding, s.align_corners, outer[r]);
      grid_axis<Mode>(x, size, s.padding, s.align_corners, at[r], weight[r], slope[r], 1);
    }
  }
  // Calls f(offset in a plane or -1, weight, slopes) for every tap.
  template <class F>
  __device__ void each_tap(const GridShape& s, F f) const {
#pragma unroll
    for (int a = 0; a < (Rank == 3 ? kAxis : 1); ++a)
#pragma unroll
      for (int b = 0; b < kAxis; ++b)
#pragma unroll
        for (int c = 0; c < kAxis; ++c) {
          const int k[3] = {a, b, c};
          Index offset = 0;
          bool inside = true;
          C share = 1, slopes[Rank];
#pragma unroll
          for (int r = 0; r < Rank; ++r) {
            const int tap = k[3 - Rank + r];
            inside = inside && at[r][tap] >= 0;
            offset = offset * s.in[3 - Rank + r] + at[r][tap];
            share *= weight[r][tap];
            slopes[r] = slope[r][tap];
#pragma unroll
            for (int other = 0; other < Rank; ++other)
              if (other != r) slopes[r] *= weight[other][k[3 - Rank + other]];
          }
          f(inside ? offset : Index(-1), share, slopes);
        }
  }
};

template <class C, int Rank, GridMode Mode>
__global__ void forward_items(GridShape s, Reader<C> input, Reader<C> grid, Writer<C> out) {
  for (Index i = first_item(); i < s.n * s.points; i += stride()) {
    const Position<C, Rank, Mode> position(s, grid, i);
    for (Index c = 0; c < s.channels; ++c) {
      const Index plane = i / s.points * s.channels + c;
      C sum = 0;
      position.each_tap(s, [&](Index offset, C share, const C*) {
        sum += (offset < 0 ? C(0) : input[plane * s.plane() + offset]) * share;
      });
      out.set(plane * s.points + i % s.points, sum);
    }
  }
}

template <class C, int Rank, GridMode Mode>
__global__ void backward_items(GridShape s, Reader<C> grad, Reader<C> input, Reader<C> grid,
                               C* grad_input, Writer<C> grad_grid) {
  for (Index i = first_item(); i < s.n * s.points; i += stride()) {
    const Position<C, Rank, Mode> position(s, grid, i);
    C by_axis[Rank] = {};
    for (Index c = 0; c < s.channels; ++c) {
      const Index plane = i / s.points * s.channels + c;
      const C g = grad[plane * s.points + i % s.points];
      position.each_tap(s, [&](Index offset, C share, const C* slopes) {
        if (grad_input && offset >= 0)
          atomicAdd(grad_input + plane * s.plane() + offset, g * share);
        if (!grad_grid) return;
        const C v = offset < 0 ? C(0) : input[plane * s.plane() + offset];
        for (int r = 0; r < Rank; ++r) by_axis[r] += g * v * slopes[r];
      });
    }
    for (int r = 0; r < Rank && grad_grid; ++r)
      grad_grid.set(i * Rank + Rank - 1 - r, by_axis[r] * position.outer[r]);
  }
}

__global__ void narrow_items(const float* sums, Index n, Writer<float> out) {
  for (Index i = first_item(); i < n; i += stride()) out.set(i, sums[i]);
}

void forward(const GridShape& s, const View& input, const View& grid, const View& out) {
  compute_floating(out.dtype, [&]<class C>(Type<C>) {
    dispatch_grid(s, [&](auto rank, auto mode) {
      launch_items("grid_sampler", forward_items<C, decltype(rank)::value, decltype(mode)::value>,
                   s.n * s.points, s, Reader<C>(input), Reader<C>(grid), Writer<C>(out));
    });
  });
}

void backward(const GridShape& s, const View& grad, const View& input, const View& grid,
              const View* grad_input, const View* grad_grid) {
  const char* const op = "grid_sampler_backward";
  compute_floating(grad.dtype, [&]<class C>(Type<C>) {
    const bool narrow = grad_input && is_reduced(grad.dtype);
    const Index size = grad_input ? grad_input->numel : 0;
    const Scratch<C> sums(narrow ? size : 0, op);
    C* const target = narrow ? sums.data() : grad_input ? grad_input->as<C>() : nullptr;
    if (size)
      check(cudaMemsetAsync(target, 0, std::size_t(size) * sizeof(C), current().stream), op);
    dispatch_grid(s, [&](auto rank, auto mode) {
      launch_items(op, backward_items<C, decltype(rank)::value, decltype(mode)::value>,
                   s.n * s.points, s, Reader<C>(grad), Reader<C>(input), Reader<C>(grid), target,
                   Writer<C>(grad_grid));
    });
    if constexpr (std::is_same_v<C, float>)
      if (narrow)
        launch_items(op, narrow_items, size, sums.data(), size, Writer<float>(grad_input));
  });
}

}  // namespace

const GridSampleKernels grid_sample_kernels = {forward, backward};

}  // namespace rushlight::gpu
