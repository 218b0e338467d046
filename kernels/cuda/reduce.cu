// Reductions over any dimensions. A block is a rectangle of threads: along x neighbouring outputs,
// along y the elements of each; lanes meet in shared memory, in a fixed order. Where there are few
// outputs and many elements, several blocks share one (grid y), and a second kernel joins them.
#include "elements.h"
#include "families.h"
#include "launch.h"
#include "reduce_policies.h"

namespace rushlight::gpu {
namespace {

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

// A call, not inlined: once an output, and as large as the rest of a kernel.
template <class Total>
__device__ __attribute__((noinline)) void write_total(const ReduceJob& job, Index output,
                                                      Total total) {
  const double center = job.center ? job.center[output] : 0;
  if (job.to_center) {
    job.to_center[output] = finished(total, job.finish, center);
    return;
  }
  Index at[2];
  job.kept.at(output, at);
  if constexpr (std::is_integral_v<Total>)
    if (job.finish.kind == Finish::none)
      return store_as(job.out, at[1], job.dtype, static_cast<Index>(total));
  store_as(job.out, at[1], job.dtype, finished(total, job.finish, center));
}

template <class P, class C>
__global__ void reduce_part(ReduceJob job, Reader<C> in) {
  using Total = typename P::Total;
  Total* shared = shared_memory<Total>();
  const int x = threadIdx.x, y = threadIdx.y, wide = blockDim.x, high = blockDim.y;
  const Index output = Index(blockIdx.x) * wide + x;
  Total mine = P::kStart;
  if (output < job.kept.numel) {
    Index at[2], inner[1];
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
    write_total(job, output, shared[x]);
  else
    static_cast<Total*>(job.totals)[Index(blockIdx.y) * job.kept.numel + output] = shared[x];
}

template <class P>
__global__ void join_parts(ReduceJob job) {
  using Total = typename P::Total;
  for (Index o = first_item(); o < job.kept.numel; o += stride()) {
    Total total = P::kStart;
    for (Index part = 0; part < job.parts; ++part)
      total = P::join(total, static_cast<const Total*>(job.totals)[part * job.kept.numel + o]);
    write_total(job, o, total);
  }
}

// Parts that keep a GPU busy without leaving a thread less than 32 elements.
Index parts_for(Index blocks, Index elements, int high) {
  const Index useful = elements / (Index(high) * 32), wanted = 512 / blocks;
  const Index parts = useful < wanted ? useful : wanted;
  return parts < 1 ? 1 : parts;
}

template <class P, class C>
void run(ReduceJob job, const View& in) {
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
  if (job.parts > 1) launch_items("reduce", join_parts<P>, job.kept.numel, job);
}

// Dimensions sorted by the input's strides, so that a warp reads neighbours.
ReduceJob make_job(const View& out, const View& in) {
  ReduceJob job = {};
  job.out = out.data;
  job.dtype = out.dtype;
  int order[kMaxRank];
  const auto size = [](Index s) { return s < 0 ? -s : s; };
  for (int d = 0; d < in.rank; ++d) {
    int at = d;
    for (; at > 0 && size(in.strides[order[at - 1]]) > size(in.strides[d]); --at)
      order[at] = order[at - 1];
    order[at] = d;
  }
  for (int k = 0; k < in.rank; ++k) {
    const int d = order[k];
    if (out.sizes[d] == 1 && in.sizes[d] != 1)
      job.reduced.add(in.sizes[d], in.strides[d]);
    else
      job.kept.add(in.sizes[d], in.strides[d], out.strides[d]);
  }
  job.finish.count = double(job.reduced.numel);
  return job;
}

// A first pass that leaves means or largest values, then the second around them.
template <class First, class Second, class C>
void run_centered(ReduceJob job, Finish first, const View& in) {
  const Scratch<double> centers(job.kept.numel, "reduce");
  ReduceJob before = job;
  before.to_center = centers.data();
  before.finish.kind = first;
  run<First, C>(before, in);
  job.center = centers.data();
  run<Second, C>(job, in);
}

template <class C>
void reduce_floating(Reduction kind, ReduceJob job, const View& in) {
  const auto with = [&](Finish f) {
    job.finish.kind = f;
    return job;
  };
  switch (kind) {
    case Reduction::nansum: return run<NanSum<C>, C>(job, in);
    case Reduction::mean: return run<Sum<C>, C>(with(Finish::mean), in);
    case Reduction::variance:
      return run_centered<Sum<C>, Deviation<C>, C>(with(Finish::variance), Finish::mean, in);
    case Reduction::deviation:
      return run_centered<Sum<C>, Deviation<C>, C>(with(Finish::deviation), Finish::mean, in);
    case Reduction::log_sum_exp:
      return run_centered<Extreme<C, true>, Exponentials<C>, C>(with(Finish::log_sum),
                                                                Finish::finite, in);
    case Reduction::absolute_sum: return run<AbsoluteSum<C>, C>(job, in);
    case Reduction::euclidean: return run<SquareSum<C>, C>(with(Finish::root), in);
    case Reduction::absolute_maximum: return run<AbsoluteExtreme<C, true>, C>(job, in);
    case Reduction::absolute_minimum: return run<AbsoluteExtreme<C, false>, C>(job, in);
    default: return run<PowerSum<C>, C>(with(Finish::power_root), in);
  }
}

void reduce(Reduction kind, const View& out, const View& in, double parameter) {
  if (out.numel == 0) return;
  ReduceJob job = make_job(out, in);
  job.finish.parameter = parameter;
  compute_any(in.dtype, [&]<class C>(Type<C>) {
    switch (kind) {
      case Reduction::sum: return run<Sum<C>, C>(job, in);
      case Reduction::product: return run<Product<C>, C>(job, in);
      case Reduction::maximum: return run<Extreme<C, true>, C>(job, in);
      case Reduction::minimum: return run<Extreme<C, false>, C>(job, in);
      case Reduction::any: job.finish.kind = Finish::any; return run<Count<C>, C>(job, in);
      case Reduction::all: job.finish.kind = Finish::all; return run<Count<C>, C>(job, in);
      case Reduction::count: return run<Count<C>, C>(job, in);
      default:
        if constexpr (!std::is_same_v<C, Index>) reduce_floating<C>(kind, job, in);
    }
  });
}

// An extreme and its place: the first among equals, the first NaN before all.
template <class C>
struct Found {
  C value;
  Index at;  // -1: nothing yet
};
template <class C>
struct First {
  bool largest;
  __device__ bool beats(C a, C b) const {
    if constexpr (std::is_floating_point_v<C>)
      if (a != a || b != b) return a != a && b == b;
    return largest ? a > b : a < b;
  }
  __device__ Found<C> operator()(Found<C> a, Found<C> b) const {
    if (a.at < 0 || b.at < 0) return a.at < 0 ? b : a;
    if (beats(a.value, b.value)) return a;
    if (beats(b.value, a.value)) return b;
    return a.at < b.at ? a : b;
  }
};

// One block a row.
template <class C>
__global__ void extreme_rows(Lines<3> rows, Reader<C> in, Writer<C> values, Index* indices,
                             bool largest) {
  const First<C> join = {largest};
  for (Index row = blockIdx.x; row < rows.starts.numel; row += gridDim.x) {
    Index at[3];
    rows.starts.at(row, at);
    Found<C> best = {C(0), -1};
    for (Index i = threadIdx.x; i < rows.length; i += blockDim.x)
      best = join(best, Found<C>{in[at[0] + i * rows.step[0]], i});
    best = block_reduce(best, join, shared_memory<Found<C>>());
    if (threadIdx.x != 0) continue;
    values.set(at[1], best.value);
    indices[at[2]] = best.at;
  }
}

void extreme(bool largest, const View& values, const View& indices, const View& in, int dim) {
  if (values.numel == 0) return;
  const Lines<3> rows(dim, in, values, indices);
  compute_any(in.dtype, [&]<class C>(Type<C>) {
    launch("extreme", extreme_rows<C>, blocks_for(rows.starts.numel, 1), threads_for(rows.length),
           reduce_bytes<Found<C>>(), rows, Reader<C>(in), Writer<C>(values), indices.as<Index>(),
           largest);
  });
}

}  // namespace

const ReduceKernels reduce_kernels = {reduce, extreme};

}  // namespace rushlight::gpu
