// Sums and products of every dtype, and the table.
#include "loops.h"

namespace rushlight::reduction {

bool reduce_sums(Reduction which, Job& job, DType dtype) {
  return reduce_one_of(Sums(), which, job, dtype);
}

void reduce(Reduction which, Job& job, DType dtype) {
  reduce_sums(which, job, dtype) || reduce_choices(which, job, dtype) ||
      reduce_moments(which, job, dtype) || reduce_norms(which, job, dtype);
}

namespace {
void reduce_view(Reduction which, const View& out, const View& in, double parameter) {
  if (out.numel == 0) return;
  Job job(out, in, parameter);
  reduce(which, job, in.dtype);
}
}  // namespace

}  // namespace rushlight::reduction

const rushlight::ReduceKernels rushlight::cpu_reduce = {reduction::reduce_view, reduction::extreme};
