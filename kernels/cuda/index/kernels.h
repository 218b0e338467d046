// What the files index*.cu offer to each other.
#pragma once
#include "kernels/cuda/elements.h"
#include "kernels/cuda/runtime/launch.h"
#include "kernels/index.h"

namespace rushlight::gpu {

BadIndex index_gather(const View& out, const View& self, int dim, const View& index);
BadIndex index_scatter(const View& self, int dim, const View& index, const View& src,
                       ScatterMode mode, bool include_self);
Index index_count_nonzero(const View& in);
Index index_nonzero(const View& out, const View& in);

}  // namespace rushlight::gpu
