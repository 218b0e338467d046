// What is used of cuBLASLt, in our own words. Numbers and signatures are facts of its binary
// interface, the same in all of CUDA 13, so that none of NVIDIA's headers is needed to build.
// Matrices are stored by columns there, one after the other.
#pragma once
#include <cuda_runtime.h>

#include "libraries.h"

namespace rushlight::gpu::cublaslt {

using Status = int;
inline constexpr Status kSuccess = 0, kInvalidValue = 7, kNotSupported = 15;

enum class Element : int { float32 = 0, float64 = 1, float16 = 2, bfloat16 = 14 };
enum class Compute : int { float32 = 68, float64 = 70, tf32 = 77 };
enum Epilogue : unsigned {  // a mask
  kNothing = 1,
  kBias = 4,
  kRelu = 2,
  kGelu = 32,
  kReluSlope = 8,
  kGeluSlope = 64,
  kWithKept = 128,
  kSumsOfB = 512
};
enum Reductions : unsigned { kFloatSums = 2 };  // parts of a sum are kept as they are computed

// What can be set, and as which C type.
enum class OfProduct : int {
  turn_a = 3,   // int: 1 for the transposed matrix
  turn_b = 4,   // int
  epilogue = 7,  // unsigned, a mask of Epilogue
  vector = 8,  // const void*, the epilogue's: one element for each row of the result, or column
  kept = 11,  // void*, what relu (bits) and gelu (elements) leave for their slopes
  kept_step = 12  // int64, of its columns: in bits, of 128, or in elements, of 8
};
enum class OfLayout : int {
  batch = 5,  // int
  batch_step = 6  // int64, in elements
};
enum class OfSearch : int {
  workspace = 1,  // uint64, bytes
  reductions = 3,  // unsigned, a mask
  alignment_a = 5,  // unsigned, bytes; so are these
  alignment_b = 6,
  alignment_c = 7,
  alignment_d = 8
};

using Handle = struct HandleBody*;
using Product = struct ProductBody*;
using Layout = struct LayoutBody*;
using Search = struct SearchBody*;
struct Algorithm {
  std::uint64_t words[8];
};
struct Answer {  // of a search
  Algorithm algorithm;
  std::size_t workspace;
  Status status;
  float waves;
  int reserved[4];
};

struct Functions {
  std::size_t (*version)();
  const char* (*status_name)(Status);
  Status (*create)(Handle*);
  Status (*create_product)(Product*, Compute, Element scale);
  Status (*destroy_product)(Product);
  Status (*set_product)(Product, OfProduct, const void* value, std::size_t bytes);
  Status (*create_layout)(Layout*, Element, std::uint64_t rows, std::uint64_t columns,
                          std::int64_t step);
  Status (*destroy_layout)(Layout);
  Status (*set_layout)(Layout, OfLayout, const void* value, std::size_t bytes);
  Status (*create_search)(Search*);
  Status (*destroy_search)(Search);
  Status (*set_search)(Search, OfSearch, const void* value, std::size_t bytes);
  Status (*search)(Handle, Product, Layout a, Layout b, Layout c, Layout d, Search, int wanted,
                   Answer* answers, int* found);
  // d = alpha * a * b + beta * c
  Status (*multiply)(Handle, Product, const void* alpha, const void* a, Layout, const void* b,
                     Layout, const void* beta, const void* c, Layout, void* d, Layout,
                     const Algorithm*, void* workspace, std::size_t bytes, cudaStream_t);

  static constexpr const char* names[] = {"cublasLtGetVersion",
                                          "cublasLtGetStatusName",
                                          "cublasLtCreate",
                                          "cublasLtMatmulDescCreate",
                                          "cublasLtMatmulDescDestroy",
                                          "cublasLtMatmulDescSetAttribute",
                                          "cublasLtMatrixLayoutCreate",
                                          "cublasLtMatrixLayoutDestroy",
                                          "cublasLtMatrixLayoutSetAttribute",
                                          "cublasLtMatmulPreferenceCreate",
                                          "cublasLtMatmulPreferenceDestroy",
                                          "cublasLtMatmulPreferenceSetAttribute",
                                          "cublasLtMatmulAlgoGetHeuristic",
                                          "cublasLtMatmul"};
  static const LibraryKind& kind();
};

}  // namespace rushlight::gpu::cublaslt
