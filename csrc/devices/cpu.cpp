// The CPU as a provider. Its memory comes from core/memory through Storage, so allocate and release
// here only serve callers that treat all devices alike.
#include <cstring>

#include "core/backend.h"
#include "core/memory.h"
#include "kernels/attention.h"
#include "kernels/conv.h"
#include "kernels/cross_entropy.h"
#include "kernels/ctc.h"
#include "kernels/distance.h"
#include "kernels/embedding.h"
#include "kernels/fft.h"
#include "kernels/fold.h"
#include "kernels/grid_sample.h"
#include "kernels/index.h"
#include "kernels/linalg.h"
#include "kernels/matmul.h"
#include "kernels/norm.h"
#include "kernels/optim.h"
#include "kernels/pixels.h"
#include "kernels/pointwise.h"
#include "kernels/pool.h"
#include "kernels/random.h"
#include "kernels/recurrent.h"
#include "kernels/reduce.h"
#include "kernels/resample.h"
#include "kernels/scan.h"
#include "kernels/softmax.h"
#include "kernels/sort.h"
#include "kernels/sparse.h"
#include "kernels/triangular.h"

namespace rushlight {
namespace {

void* cpu_allocate(int, std::size_t bytes) { return BlockCache::take(bytes); }
void cpu_release(int, void* block, std::size_t bytes) noexcept { BlockCache::give(block, bytes); }
void cpu_copy_bytes(const ByteCopy& c) { std::memcpy(c.to, c.from, c.bytes); }
void cpu_synchronize(int) {}

}  // namespace

const Backend cpu_backend = {
    .name = "cpu",
    .enter = nullptr,
    .allocate = cpu_allocate,
    .release = cpu_release,
    .copy_bytes = cpu_copy_bytes,
    .synchronize = cpu_synchronize,
    .runtime = nullptr,
    .copy = &cpu_copy,
    .pointwise = &cpu_pointwise,
    .matmul = &cpu_matmul,
    .linalg = &cpu_linalg,
    .conv = &cpu_conv,
    .pool = &cpu_pool,
    .fold = &cpu_fold,
    .resample = &cpu_resample,
    .grid_sample = &cpu_grid_sample,
    .norm = &cpu_norm,
    .attention = &cpu_attention,
    .softmax = &cpu_softmax,
    .cross_entropy = &cpu_cross_entropy,
    .ctc = &cpu_ctc,
    .embedding = &cpu_embedding,
    .sparse = &cpu_sparse,
    .index = &cpu_index,
    .triangular = &cpu_triangular,
    .distance = &cpu_distance,
    .reduce = &cpu_reduce,
    .scan = &cpu_scan,
    .sort = &cpu_sort,
    .random = &cpu_random,
    .optim = &cpu_optim,
    .recurrent = &cpu_recurrent,
    .fft = &cpu_fft,
    .libraries = nullptr,
    .collectives = nullptr,
    .pixels = &cpu_pixels,
};

}  // namespace rushlight
