// The kernels of every reduction, from its policy. A block is a rectangle of threads: along x
// neighbouring outputs, along y the elements of each; lanes meet in shared memory, in a fixed
// order. Where there are few outputs and many elements, several blocks share one (grid y), and a
// second kernel joins them.
#pragma once
#include "elements.h"
#include "reduce_policies.h"
#include "runtime/launch.h"

namespace rushlight::gpu {

struct ReduceJob {
  Strided<2> kept;  // offsets in the input and in the output, sorted by the input's strides
  Strided<1> reduced;
  void* out;
  DType dtype;
  const double* center = nullptr;  // for each output, numbered as `kept` numbers them
  double* to_center = nullptr;     // a first pass writes there
  void* totals = nullptr;          // of parts
  Index parts = 1;
  FinishNumbers finish;
};

// A call, not inlined: once an output, and as large as the rest of a kernel. By value: a reference
// to the kernel's argument would put a copy of all of it into local memory.
template <class Total>
__device__ __attribute__((noinline)) void write_finished(void* out, Index at, DType dtype,
                                                         Total total, FinishNumbers finish,
                                                         double center) {
  if constexpr (std::is_integral_v<Total>)
    if (finish.kind == Finish::none) return store_as(out, at, dtype, static_cast<Index>(total));
  store_as(out, at, dtype, finished(total, finish, center));
}
template <class Total>
__device__ void write_total(const ReduceJob& job, Index output, Index at, Total total) {
  const double center = job.center ? job.center[output] : 0;
  if (job.to_center)
    write_finished<Total>(job.to_center, output, DType::float64, total, job.finish, center);
  else
    write_finished<Total>(job.out, at, job.dtype, total, job.finish, center);
}

template <class P, class C>
__global__ void reduce_part(ReduceJob job, Reader<C> in) {
  using Total = typename P::Total;
  Total* shared = shared_memory<Total>();
  const int x = threadIdx.x, y = threadIdx.y, wide = blockDim.x, high = blockDim.y;
  const Index output = Index(blockIdx.x) * wide + x;
  Total mine = P::kStart;
  Index at[2] = {};
  if (output < job.kept.numel) {
    Index inner[1];
    job.kept.at(output, at);
    const ReduceNumbers numbers = {job.center ? job.center[output] : 0, job.finish.parameter};
    auto lane = static_cast<typename P::Lane>(P::kStart);
    for (Index r = Index(blockIdx.y) * high + y; r < job.reduced.numel; r += job.parts * high) {
      job.reduced.at(r, inner);
      lane = P::step(lane, in[at[0] + inner[0]], numbers);
    }
    mine = static_cast<Total>(lane);
  }
  shared[y * wide + x] = mine;
  __syncthreads();
  for (int half = high / 2; half > 0; half /= 2) {
    if (y < half)
      shared[y * wide + x] = P::join(shared[y * wide + x], shared[(y + half) * wide + x]);
    __syncthreads();
  }
  if (y != 0 || output >= job.kept.numel) return;
  if (job.parts == 1)
    write_total<Total>(job, output, at[1], shared[x]);
  else
    static_cast<Total*>(job.totals)[Index(blockIdx.y) * job.kept.numel + output] = shared[x];
}

// Of all policies that hold and join totals in the same way.
template <class Joined>
__global__ void join_parts(ReduceJob job) {
  using Total = typename Joined::Total;
  for (Index o = first_item(); o < job.kept.numel; o += stride()) {
    Total total = Joined::kStart;
    for (Index part = 0; part < job.parts; ++part)
      total = Joined::join(total, static_cast<const Total*>(job.totals)[part * job.kept.numel + o]);
    Index at[2];
    job.kept.at(o, at);
    write_total<Total>(job, o, at[1], total);
  }
}

// Parts that keep a GPU busy without leaving a thread less than 32 elements.
inline Index parts_for(Index blocks, Index elements, int high) {
  const Index useful = elements / (Index(high) * 32), wanted = 512 / blocks;
  const Index parts = useful < wanted ? useful : wanted;
  return parts < 1 ? 1 : parts;
}

template <class P, class C>
void run_reduction(ReduceJob job, const View& in) {
  int high = 1;
  // Neighbours in memory should be neighbours in a warp: along y where rows are reduced.
  const bool columns = job.kept.rank > 0 && job.kept.strides[0][0] == 1 &&
                       !(job.reduced.rank > 0 && job.reduced.strides[0][0] == 1);
  while (high < (columns ? 8 : kThreads) && high < job.reduced.numel) high *= 2;
  const int wide = kThreads / high;
  const auto blocks = unsigned((job.kept.numel + wide - 1) / wide);
  job.parts = parts_for(blocks, job.reduced.numel, high);
  const Scratch<typename P::Total> totals(job.parts > 1 ? job.parts * job.kept.numel : 1, "reduce");
  job.totals = totals.data();
  launch("reduce", reduce_part<P, C>, dim3(blocks, unsigned(job.parts)),
         dim3(unsigned(wide), unsigned(high)), kThreads * sizeof(typename P::Total), job,
         Reader<C>(in));
  if (job.parts > 1) launch_items("reduce", join_parts<typename P::Joined>, job.kept.numel, job);
}

// The reductions of the files reduce_<topic>.cu; `job.finish` is what comes after the topic's own.
void reduce_sums(Reduction kind, const ReduceJob& job, const View& in);  // in reduce.cu
void reduce_choice(Reduction kind, const ReduceJob& job, const View& in);
void reduce_moments(Reduction kind, ReduceJob job, const View& in);
void reduce_norm(Reduction kind, ReduceJob job, const View& in);
void reduce_extreme(bool largest, const View& values, const View& indices, const View& in, int dim);

}  // namespace rushlight::gpu
