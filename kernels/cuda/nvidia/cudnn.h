// What is used of cuDNN 9, in our own words: numbers and signatures are facts of its binary
// interface, so that none of NVIDIA's headers is needed to build. Its three products of a
// convolution take their arguments in one order: two operands, the convolution, the result.
#pragma once
#include <cuda_runtime.h>

#include "libraries.h"

namespace rushlight::gpu::cudnn {

using Status = int;
inline constexpr Status kSuccess = 0, kBadParameter = 2000;
// 3000 to 3999: it has nothing for such a call.
constexpr bool is_refusal(Status s) { return s >= 3000 && s < 4000; }

enum class Element : int { float32 = 0, float64 = 1, float16 = 2, bfloat16 = 9 };
enum class Math : int { fast = 0, tensor_cores = 1, exact = 3 };  // fast: TF32 where it pays
inline constexpr int kChannelsFirst = 0, kCrossCorrelation = 1;

using Handle = struct HandleBody*;
using Shape = struct ShapeBody*;  // of a tensor, or of a filter
using Convolution = struct ConvolutionBody*;
struct Answer {  // of a search, the quickest first
  int algorithm;
  Status status;
  float time;
  std::size_t workspace;
  int is_deterministic;
  Math math;
  int reserved[3];
};

enum Product { kForward, kInputGradient, kWeightGradient, kProducts };
using Search = Status (*)(Handle, Shape, Shape, Convolution, Shape, int wanted, int* found,
                          Answer* answers);
// Tries them out, with operands; the result is overwritten.
using Trial = Status (*)(Handle, Shape, const void*, Shape, const void*, Convolution, Shape, void*,
                         int wanted, int* found, Answer* answers, void* workspace,
                         std::size_t bytes);
using Run = Status (*)(Handle, const void* alpha, Shape, const void*, Shape, const void*,
                       Convolution, int algorithm, void* workspace, std::size_t bytes,
                       const void* beta, Shape, void*);

struct Functions {
  std::size_t (*version)();
  const char* (*words)(Status);
  Status (*create)(Handle*);
  Status (*set_stream)(Handle, cudaStream_t);
  Status (*create_tensor)(Shape*);
  Status (*set_tensor)(Shape, Element, int rank, const int* sizes, const int* strides);
  Status (*destroy_tensor)(Shape);
  Status (*create_filter)(Shape*);
  Status (*set_filter)(Shape, Element, int format, int rank, const int* sizes);
  Status (*destroy_filter)(Shape);
  Status (*create_convolution)(Convolution*);
  Status (*set_convolution)(Convolution, int rank, const int* padding, const int* stride,
                            const int* dilation, int mode, Element computed_in);
  Status (*set_groups)(Convolution, int);
  Status (*set_math)(Convolution, Math);
  Status (*destroy_convolution)(Convolution);
  Search search[kProducts];
  Trial try_out[kProducts];
  Run run[kProducts];

  static constexpr const char* names[] = {"cudnnGetVersion",
                                          "cudnnGetErrorString",
                                          "cudnnCreate",
                                          "cudnnSetStream",
                                          "cudnnCreateTensorDescriptor",
                                          "cudnnSetTensorNdDescriptor",
                                          "cudnnDestroyTensorDescriptor",
                                          "cudnnCreateFilterDescriptor",
                                          "cudnnSetFilterNdDescriptor",
                                          "cudnnDestroyFilterDescriptor",
                                          "cudnnCreateConvolutionDescriptor",
                                          "cudnnSetConvolutionNdDescriptor",
                                          "cudnnSetConvolutionGroupCount",
                                          "cudnnSetConvolutionMathType",
                                          "cudnnDestroyConvolutionDescriptor",
                                          "cudnnGetConvolutionForwardAlgorithm_v7",
                                          "cudnnGetConvolutionBackwardDataAlgorithm_v7",
                                          "cudnnGetConvolutionBackwardFilterAlgorithm_v7",
                                          "cudnnFindConvolutionForwardAlgorithmEx",
                                          "cudnnFindConvolutionBackwardDataAlgorithmEx",
                                          "cudnnFindConvolutionBackwardFilterAlgorithmEx",
                                          "cudnnConvolutionForward",
                                          "cudnnConvolutionBackwardData",
                                          "cudnnConvolutionBackwardFilter"};
  static const LibraryKind& kind();
};

}  // namespace rushlight::gpu::cudnn
