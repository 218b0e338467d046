// What a device must provide, on one page. backend(device) in csrc/core is the only way to one, and
// the only switch on device type in the code base. A provider fills this table: cpu and virtual
// cuda from kernels/cpu, real cuda from a library loaded at run time. All functions but the last
// group are required; kernels run on the device made current by `enter`, on its current stream.
#pragma once
#include <cstddef>
#include <cstdint>

#include "copy.h"
#include "runtime.h"
#include "view.h"

namespace rushlight {

struct PointwiseKernels;
struct MatmulKernels;
struct LinalgKernels;
struct ConvKernels;
struct PoolKernels;
struct FoldKernels;
struct ResampleKernels;
struct GridSampleKernels;
struct NormKernels;
struct AttentionKernels;
struct SoftmaxKernels;
struct TriangularKernels;
struct DistanceKernels;
struct CrossEntropyKernels;
struct CtcKernels;
struct EmbeddingKernels;
struct SparseKernels;
struct IndexKernels;
struct ReduceKernels;
struct ScanKernels;
struct FftKernels;
struct SortKernels;
struct RandomKernels;
struct OptimKernels;
struct RecurrentKernels;
struct ProviderLibraries;
struct CollectiveKernels;
struct PixelKernels;

// Bytes from one memory to another; index -1 is the host's. Host memory is read or written when the
// call returns, unless it is pinned and read, and the caller has said non_blocking: then it is read
// in the stream's order. Between devices the copy comes after what `from_stream` has been given,
// and what that is given later comes after the copy; the host waits for neither.
struct ByteCopy {
  void* to;
  int to_index;
  const void* from;
  int from_index;
  std::size_t bytes;
  StreamId from_stream = 0;  // where `from` is on a device: its current stream
  bool non_blocking = false;
};

struct Backend {
  const char* name;
  // Makes device `index` and a stream of it current for the calls that follow on this thread.
  void (*enter)(int index, StreamId stream);
  // Memory of device `index`; null when it is full, after what was only cached has been given up.
  void* (*allocate)(int index, std::size_t bytes);
  // Also for a block whose device is gone.
  void (*release)(int index, void* block, std::size_t bytes) noexcept;
  // Between this device and host memory, or another device of the provider.
  void (*copy_bytes)(const ByteCopy& copy);
  void (*synchronize)(int index);
  const DeviceRuntime* runtime;  // null for the CPU

  const CopyKernels* copy;
  const PointwiseKernels* pointwise;
  const MatmulKernels* matmul;
  const LinalgKernels* linalg;
  const ConvKernels* conv;
  const PoolKernels* pool;
  const FoldKernels* fold;
  const ResampleKernels* resample;
  const GridSampleKernels* grid_sample;
  const NormKernels* norm;
  const AttentionKernels* attention;
  const SoftmaxKernels* softmax;
  const CrossEntropyKernels* cross_entropy;
  const CtcKernels* ctc;
  const EmbeddingKernels* embedding;
  const SparseKernels* sparse;
  const IndexKernels* index;
  const TriangularKernels* triangular;
  const DistanceKernels* distance;
  const ReduceKernels* reduce;
  const ScanKernels* scan;
  const SortKernels* sort;
  const RandomKernels* random;
  const OptimKernels* optim;
  const RecurrentKernels* recurrent;
  const FftKernels* fft;  // null: the host does it
  const ProviderLibraries* libraries;  // null where there are none
  const CollectiveKernels* collectives;  // the same
  const PixelKernels* pixels;  // null but for the CPU
};

}  // namespace rushlight
