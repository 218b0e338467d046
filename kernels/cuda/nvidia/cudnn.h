// What is used of cuDNN 9: numbers and signatures are facts of its binary
// interface, so that none of NVIDIA's headers is needed to build. Its three products of a
// convolution take their arguments in one order: two operands, the convolution, the result.
#pragma once
#include <cuda_runtime.h>

#include "libraries.h"

namespace rushlight::gpu::cudnn {

using cudnnStatus_t = int;
inline constexpr cudnnStatus_t CUDNN_STATUS_SUCCESS = 0, CUDNN_STATUS_BAD_PARAM = 2000;
// 3000 to 3999: it has nothing for such a call.
constexpr bool is_refusal(cudnnStatus_t s) { return s >= 3000 && s < 4000; }

enum cudnnDataType_t : int {
  CUDNN_DATA_FLOAT = 0,
  CUDNN_DATA_DOUBLE = 1,
  CUDNN_DATA_HALF = 2,
  CUDNN_DATA_BFLOAT16 = 9
};
enum cudnnMathType_t : int {
  CUDNN_DEFAULT_MATH = 0,  // TF32 where it pays
  CUDNN_TENSOR_OP_MATH = 1,
  CUDNN_FMA_MATH = 3
};
inline constexpr int CUDNN_TENSOR_NCHW = 0, CUDNN_CROSS_CORRELATION = 1;

using cudnnHandle_t = struct cudnnContext*;
using Shape = struct ShapeBody*;  // of a tensor, or of a filter
using cudnnConvolutionDescriptor_t = struct cudnnConvolutionStruct*;
struct Answer {  // of a search, the quickest first
  int algorithm;
  cudnnStatus_t status;
  float time;
  std::size_t workspace;
  int is_deterministic;
  cudnnMathType_t math;
  int reserved[3];
};

enum Product { kForward, kInputGradient, kWeightGradient, kProducts };
using Search = cudnnStatus_t (*)(cudnnHandle_t, Shape, Shape, cudnnConvolutionDescriptor_t, Shape,
                                 int wanted, int* found, Answer* answers);
// Tries them out, with operands; the result is overwritten.
using Trial = cudnnStatus_t (*)(cudnnHandle_t, Shape, const void*, Shape, const void*,
                                cudnnConvolutionDescriptor_t, Shape, void*, int wanted, int* found,
                                Answer* answers, void* workspace, std::size_t bytes);
using Run = cudnnStatus_t (*)(cudnnHandle_t, const void* alpha, Shape, const void*, Shape,
                              const void*, cudnnConvolutionDescriptor_t, int algorithm,
                              void* workspace, std::size_t bytes, const void* beta, Shape, void*);

struct Functions {
  std::size_t (*version)();
  const char* (*words)(cudnnStatus_t);
  cudnnStatus_t (*create)(cudnnHandle_t*);
  cudnnStatus_t (*set_stream)(cudnnHandle_t, cudaStream_t);
  cudnnStatus_t (*create_tensor)(Shape*);
  cudnnStatus_t (*set_tensor)(Shape, cudnnDataType_t, int rank, const int* sizes,
                              const int* strides);
  cudnnStatus_t (*destroy_tensor)(Shape);
  cudnnStatus_t (*create_filter)(Shape*);
  cudnnStatus_t (*set_filter)(Shape, cudnnDataType_t, int format, int rank, const int* sizes);
  cudnnStatus_t (*destroy_filter)(Shape);
  cudnnStatus_t (*create_convolution)(cudnnConvolutionDescriptor_t*);
  cudnnStatus_t (*set_convolution)(cudnnConvolutionDescriptor_t, int rank, const int* padding,
                                   const int* stride, const int* dilation, int mode,
                                   cudnnDataType_t computed_in);
  cudnnStatus_t (*set_groups)(cudnnConvolutionDescriptor_t, int);
  cudnnStatus_t (*set_math)(cudnnConvolutionDescriptor_t, cudnnMathType_t);
  cudnnStatus_t (*destroy_convolution)(cudnnConvolutionDescriptor_t);
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
