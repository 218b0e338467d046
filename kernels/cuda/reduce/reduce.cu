// Reductions over any dimensions: the plan of a call, sums and products. The others have files of
// their own, for the compiler's sake.
#include "kernels.h"
#include "kernels/cuda/families.h"

namespace rushlight::gpu {
namespace {

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
  job.context.count = job.reduced.numel;
  return job;
}

void reduce(Reduction which, const View& out, const View& in, double parameter) {
  if (out.numel == 0) return;
  ReduceJob job = make_job(out, in);
  job.which = which;
  job.context.parameter = parameter;
  reduce_job(job, in);
}

}  // namespace

void reduce_job(const ReduceJob& job, const View& in) {
  reduce_sums(job, in) || reduce_choices(job, in) || reduce_moments(job, in) ||
      reduce_norms(job, in);
}

bool reduce_sums(const ReduceJob& job, const View& in) {
  return reduce_one_of(reduction::Sums(), job, in);
}

const ReduceKernels reduce_kernels = {reduce, reduce_extreme};

}  // namespace rushlight::gpu
