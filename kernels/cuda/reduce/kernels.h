// The kernels of every reduction, from its fold in reduce_formulas.h. A block is a rectangle of
// threads: along x neighbouring outputs, along y the elements of each; lanes meet in shared memory,
// in a fixed order. Where there are few outputs and many elements, several blocks share one (grid
// y), and a second kernel joins them.
#pragma once
#include "kernels/cuda/elements.h"
#include "kernels/cuda/runtime/launch.h"
#include "kernels/reduce_formulas.h"

namespace rushlight::gpu {

using reduction::Context;

struct ReduceJob {
  Strided<2> kept;  // offsets in the input and in the output, sorted by the input's strides
  Strided<1> reduced;
  void* out;
  DType dtype;
  const double* center = nullptr;  // for each output, numbered as `kept` numbers them
  double* to_center = nullptr;  // a first pass writes there
  void* totals = nullptr;  // of parts
  Index parts = 1;
  Reduction which;  // whose finish() comes last
  Context context;
};

// finish() of the reduction that `which` is, among those whose totals have this type: kernels are
// made for a fold, which several reductions share.
template <class R, class Total>
__device__ bool finish_as(Reduction which, Total& total, const Context& context) {
  using OfFloats = typename R::template Fold<double>::Total;
  using OfIntegers =
      typename R::template Fold<std::conditional_t<R::kOnIntegers, Index, double>>::Total;
  if constexpr (std::is_same_v<Total, OfFloats> || std::is_same_v<Total, OfIntegers>)
    if (which == kReduction<R>) return total = R::finish(total, context), true;
  return false;
}
template <class... R, class Total>
__device__ Total finished(reduction::List<R...>, Reduction which, Total total,
                          const Context& context) {
  (finish_as<R>(which, total, context) || ...);
  return total;
}

// A call, not inlined: once an output, and as large as the rest of a kernel. By value: a reference
// to the kernel's argument would put a copy of all of it into local memory.
template <class Total>
__device__ __attribute__((noinline)) void write_finished(void* out, Index at, DType dtype,
                                                         Reduction which, Total total,
                                                         Context context) {
  using Value = std::conditional_t<std::is_integral_v<Total>, Index, Total>;
  store_as(out, at, dtype, static_cast<Value>(finished(reduction::Every(), which, total, context)));
}
__device__ inline Context context_of(const ReduceJob& job, Index output) {
  Context context = job.context;
  if (job.center) context.center = job.center[output];
  return context;
}
template <class Total>
__device__ void write_total(const ReduceJob& job, Index output, Index at, Total total) {
  const Context context = context_of(job, output);
  if (job.to_center)
    write_finished(job.to_center, output, DType::float64, job.which, total, context);
  else
    write_finished(job.out, at, job.dtype, job.which, total, context);
}

template <class P, class C>
__global__ void reduce_part(ReduceJob job, Reader<C> in) {
  using Total = typename P::Total;
  Total* shared = shared_memory<Total>();
  const int x = threadIdx.x, y = threadIdx.y, wide = blockDim.x, high = blockDim.y;
  const Index output = Index(blockIdx.x) * wide + x;
  auto mine = static_cast<Total>(P::init());
  Index at[2] = {};
  if (output < job.kept.numel) {
    Index inner[1];
    job.kept.at(output, at);
    const P fold(context_of(job, output));
    typename P::Lane lane = P::init();
    for (Index r = Index(blockIdx.y) * high + y; r < job.reduced.numel; r += job.parts * high) {
      job.reduced.at(r, inner);
      lane = fold.step(lane, in[at[0] + inner[0]]);
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

// One kernel for all folds that join totals in the same way.
template <class Join, class Total>
__global__ void join_parts(ReduceJob job) {
  const auto* const totals = static_cast<const Total*>(job.totals);
  for (Index o = first_item(); o < job.kept.numel; o += stride()) {
    Total total = totals[o];
    for (Index part = 1; part < job.parts; ++part)
      total = Join::join(total, totals[part * job.kept.numel + o]);
    Index at[2];
    job.kept.at(o, at);
    write_total(job, o, at[1], total);
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
  const Scratch<typename P::Total> totals(job.parts > 1 ? job.parts * job.kept.numel : 0, "reduce");
  job.totals = totals.data();
  launch("reduce", reduce_part<P, C>, dim3(blocks, unsigned(job.parts)),
         dim3(unsigned(wide), unsigned(high)), kThreads * sizeof(typename P::Total), job,
         Reader<C>(in));
  if (job.parts > 1)
    launch_items("reduce", join_parts<typename P::Join, typename P::Total>, job.kept.numel, job);
}

void reduce_job(const ReduceJob& job, const View& in);

// The reductions of one list; false if job.which is not among them.
template <class L>
bool reduce_one_of(L list, ReduceJob job, const View& in) {
  return visit(list, job.which, [&]<class R>(Type<R>) {
    constexpr bool kCentered = !std::is_void_v<typename R::Center>;
    const Scratch<double> centers(kCentered ? job.kept.numel : 0, "reduce");
    if constexpr (kCentered) {
      ReduceJob before = job;
      before.which = kReduction<typename R::Center>;
      before.to_center = centers.data();
      reduce_job(before, in);
      job.center = centers.data();
    }
    const auto of_type = [&]<class C>(Type<C>) {
      run_reduction<typename R::template Fold<C>, C>(job, in);
    };
    if constexpr (R::kOnIntegers)
      compute_any(in.dtype, of_type);
    else
      compute_floating(in.dtype, of_type);
  });
}
bool reduce_sums(const ReduceJob& job, const View& in);  // in reduce.cu
bool reduce_choices(const ReduceJob& job, const View& in);
bool reduce_moments(const ReduceJob& job, const View& in);
bool reduce_norms(const ReduceJob& job, const View& in);
void reduce_extreme(bool largest, const View& values, const View& indices, const View& in, int dim);

}  // namespace rushlight::gpu
