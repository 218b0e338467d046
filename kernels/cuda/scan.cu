// Running reductions. One block a line: it takes the line in tiles of its own width, scans a tile
// in shared memory by doubling steps, and carries the last value into the next. Sums of floats are
// held in double.
#include "elements.h"
#include "families.h"
#include "runtime/launch.h"

namespace rushlight::gpu {
namespace {

// The running join() over the tile; `shared` has room for one T a thread.
template <class T, class Join>
__device__ T block_scan(T v, Join join, T* shared) {
  const int t = threadIdx.x;
  for (int by = 1; by < int(blockDim.x); by *= 2) {
    shared[t] = v;
    __syncthreads();
    if (t >= by) v = join(shared[t - by], v);
    __syncthreads();
  }
  return v;
}

struct AddStep {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};
struct MultiplyStep {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a * b;
  }
};
struct LogSumExpStep {
  __device__ double operator()(double a, double b) const {
    const double high = a > b || a != a ? a : b, low = a > b || a != a ? b : a;
    if (std::isinf(high) || high != high) return high + (low != low ? low : 0);
    return high + std::log1p(std::exp(low - high));
  }
};

template <class C, class Sum, class Join>
__global__ void scan_lines(Lines<2> lines, Reader<C> in, void* out, DType dtype, Sum start,
                           Join join) {
  Sum* shared = shared_memory<Sum>();
  for (Index line = blockIdx.x; line < lines.starts.numel; line += gridDim.x) {
    Index at[2];
    lines.starts.at(line, at);
    Sum carry = start;
    for (Index tile = 0; tile < lines.length; tile += blockDim.x) {
      const Index i = tile + threadIdx.x;
      Sum v = start;
      if (i < lines.length) v = static_cast<Sum>(in[at[0] + i * lines.step[0]]);
      v = join(carry, block_scan(v, join, shared));
      if (i < lines.length) {
        if constexpr (std::is_floating_point_v<Sum>)
          store_as(out, at[1] + i * lines.step[1], dtype, v);
        else
          store_as(out, at[1] + i * lines.step[1], dtype, static_cast<Index>(v));
      }
      shared[threadIdx.x] = v;
      __syncthreads();
      carry = shared[blockDim.x - 1];
      __syncthreads();
    }
  }
}

void scan(Scan kind, const View& out, const View& in, int dim) {
  if (in.numel == 0) return;
  const Lines<2> lines(dim, in, out);
  compute_any(in.dtype, [&]<class C>(Type<C>) {
    using Sum = std::conditional_t<std::is_floating_point_v<C>, double, std::uint64_t>;
    const auto run = [&](auto start, auto join) {
      launch("scan", scan_lines<C, decltype(start), decltype(join)>,
             blocks_for(lines.starts.numel, 1), threads_for(lines.length), kThreads * sizeof(start),
             lines, Reader<C>(in), out.data, out.dtype, start, join);
    };
    if (kind == Scan::sum) return run(Sum(0), AddStep{});
    if (kind == Scan::product) return run(Sum(1), MultiplyStep{});
    if constexpr (std::is_floating_point_v<C>)
      run(-std::numeric_limits<double>::infinity(), LogSumExpStep{});
  });
}

// The extreme so far and its index; equals are better, so the last of them; a NaN wins.
template <class C>
struct SoFar {
  C value;
  Index at;  // -1: nothing yet
};
template <class C>
struct Better {
  bool largest;
  __device__ SoFar<C> operator()(SoFar<C> before, SoFar<C> now) const {
    if (before.at < 0 || now.at < 0) return now.at < 0 ? before : now;
    if constexpr (std::is_floating_point_v<C>)
      if (now.value != now.value || before.value != before.value)
        return now.value != now.value ? now : before;
    return (largest ? now.value >= before.value : now.value <= before.value) ? now : before;
  }
};

template <class C>
__global__ void extreme_lines(Lines<3> lines, Reader<C> in, Writer<C> values, Index* indices,
                              bool largest) {
  auto* shared = shared_memory<SoFar<C>>();
  const Better<C> join = {largest};
  for (Index line = blockIdx.x; line < lines.starts.numel; line += gridDim.x) {
    Index at[3];
    lines.starts.at(line, at);
    SoFar<C> carry = {C(0), -1};
    for (Index tile = 0; tile < lines.length; tile += blockDim.x) {
      const Index i = tile + threadIdx.x;
      SoFar<C> v = {C(0), -1};
      if (i < lines.length) v = {in[at[0] + i * lines.step[0]], i};
      v = join(carry, block_scan(v, join, shared));
      if (i < lines.length) {
        values.set(at[1] + i * lines.step[1], v.value);
        indices[at[2] + i * lines.step[2]] = v.at;
      }
      shared[threadIdx.x] = v;
      __syncthreads();
      carry = shared[blockDim.x - 1];
      __syncthreads();
    }
  }
}

void extreme(bool largest, const View& values, const View& indices, const View& in, int dim) {
  if (in.numel == 0) return;
  const Lines<3> lines(dim, in, values, indices);
  compute_any(in.dtype, [&]<class C>(Type<C>) {
    launch("scan", extreme_lines<C>, blocks_for(lines.starts.numel, 1), threads_for(lines.length),
           kThreads * sizeof(SoFar<C>), lines, Reader<C>(in), Writer<C>(values),
           indices.as<Index>(), largest);
  });
}

}  // namespace

const ScanKernels scan_kernels = {scan, extreme};

}  // namespace rushlight::gpu
