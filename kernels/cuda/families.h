// The kernels of each family, as provider.cpp puts them into the table of the provider: one .cu a
// family, of the same stem as its header in kernels/.
#pragma once
#include "../attention.h"
#include "../collectives.h"
#include "../conv.h"
#include "../copy.h"
#include "../cross_entropy.h"
#include "../ctc.h"
#include "../distance.h"
#include "../embedding.h"
#include "../fold.h"
#include "../grid_sample.h"
#include "../index.h"
#include "../linalg.h"
#include "../matmul.h"
#include "../norm.h"
#include "../optim.h"
#include "../pointwise.h"
#include "../pool.h"
#include "../random.h"
#include "../recurrent.h"
#include "../reduce.h"
#include "../scan.h"
#include "../softmax.h"
#include "../sort.h"
#include "../sparse.h"
#include "../triangular.h"

namespace rushlight::gpu {

extern const CopyKernels copy_kernels;
extern const PointwiseKernels pointwise_kernels;
extern const MatmulKernels matmul_kernels;
extern const LinalgKernels linalg_kernels;
extern const ConvKernels conv_kernels;
extern const PoolKernels pool_kernels;
extern const FoldKernels fold_kernels;
extern const ResampleKernels resample_kernels;
extern const GridSampleKernels grid_sample_kernels;
extern const NormKernels norm_kernels;
extern const AttentionKernels attention_kernels;
extern const SoftmaxKernels softmax_kernels;
extern const CrossEntropyKernels cross_entropy_kernels;
extern const CtcKernels ctc_kernels;
extern const EmbeddingKernels embedding_kernels;
extern const SparseKernels sparse_kernels;
extern const IndexKernels index_kernels;
extern const TriangularKernels triangular_kernels;
extern const DistanceKernels distance_kernels;
extern const ReduceKernels reduce_kernels;
extern const ScanKernels scan_kernels;
extern const SortKernels sort_kernels;
extern const RandomKernels random_kernels;
extern const OptimKernels optim_kernels;
extern const RecurrentKernels recurrent_kernels;
extern const CollectiveKernels collective_kernels;
extern const GroupKernels group_kernels;  // collective_kernels names them

}  // namespace rushlight::gpu
