// In place of cuDNN, for tests: the same functions on the emulator's memory, by plain loops. Types,
// sizes, strides, the rule of the result's size, memory and workspace of every call are checked,
// and that an algorithm is one that was offered for that very convolution. It offers five, of which
// a careful caller takes the fourth, or where memory is short the last: one differs from run to
// run, one wants too much memory, one has failed.
#include "kernels/cuda/nvidia/cudnn.h"

#include <atomic>
#include <initializer_list>
#include <vector>

#include "kernels/dtype.h"
#include "memory.h"

using emulated::holds;
using emulated::wrong;
using namespace rushlight::gpu::cudnn;

namespace rushlight::gpu::cudnn {
struct cudnnContext {
  cudaStream_t stream = nullptr;
};
struct ShapeBody {
  bool is_filter = false;
  cudnnDataType_t element = CUDNN_DATA_FLOAT;
  int rank = 0, sizes[5] = {};
};
struct cudnnConvolutionStruct {
  int rank = 0, padding[3] = {}, stride[3] = {}, dilation[3] = {}, groups = 1;
  cudnnDataType_t computed_in = CUDNN_DATA_FLOAT;
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
};
}  // namespace rushlight::gpu::cudnn

namespace {

enum Offer { kUnsteady, kHungry, kFailed, kSteady, kFrugal, kOffers };
constexpr std::size_t kNeeded[kOffers] = {2000, std::size_t(1) << 40, 2000, 2000, 600};
std::atomic<int> convolutions{0}, refused{0}, trials{0}, last_offer{-1}, last_math{-1};
std::atomic<bool> refuses{false};

using Count = std::int64_t;

std::size_t bytes_of(cudnnDataType_t e) {
  return e == CUDNN_DATA_DOUBLE ? 8 : e == CUDNN_DATA_FLOAT ? 4 : 2;
}
Count volume(const ShapeBody& s) {
  Count n = 1;
  for (int i = 0; i < s.rank; ++i) n *= s.sizes[i];
  return n;
}
double value_at(const void* p, cudnnDataType_t e, Count i) {
  switch (e) {
    case CUDNN_DATA_DOUBLE: return static_cast<const double*>(p)[i];
    case CUDNN_DATA_HALF:
      return double(rushlight::load(static_cast<const rushlight::float16*>(p) + i));
    case CUDNN_DATA_BFLOAT16:
      return double(rushlight::load(static_cast<const rushlight::bfloat16*>(p) + i));
    default: return double(static_cast<const float*>(p)[i]);
  }
}
void put(void* p, cudnnDataType_t e, Count i, double v) {
  switch (e) {
    case CUDNN_DATA_DOUBLE: static_cast<double*>(p)[i] = v; break;
    case CUDNN_DATA_HALF:
      rushlight::store(static_cast<rushlight::float16*>(p) + i, float(v));
      break;
    case CUDNN_DATA_BFLOAT16:
      rushlight::store(static_cast<rushlight::bfloat16*>(p) + i, float(v));
      break;
    default: static_cast<float*>(p)[i] = float(v);
  }
}

std::vector<double> values(const void* p, Count count, cudnnDataType_t e) {
  std::vector<double> all;
  all.reserve(std::size_t(count));
  for (Count i = 0; i < count; ++i) all.push_back(value_at(p, e, i));
  return all;
}

// A convolution's three shapes, whatever is computed.
struct Parts {
  ShapeBody input, weight, result;
};
Parts parts_of(Product product, Shape a, Shape b, Shape out) {
  switch (product) {
    case kForward: return {*a, *b, *out};
    case kInputGradient: return {*out, *a, *b};
    default: return {*a, *out, *b};
  }
}

bool is_sound(const Parts& p, const cudnnConvolutionStruct& c) {
  if (p.input.is_filter || !p.weight.is_filter || p.result.is_filter)
    return wrong("a filter is given where a tensor should be, or the other way");
  const cudnnDataType_t e = p.input.element;
  if (p.weight.element != e || p.result.element != e) return wrong("operands of different types");
  const bool wide = e == CUDNN_DATA_DOUBLE;
  if ((c.computed_in == CUDNN_DATA_DOUBLE) != wide)
    return wrong("it cannot compute in these types");
  if (bytes_of(e) > 2 && c.math == CUDNN_TENSOR_OP_MATH)
    return wrong("tensor cores for these types");
  if (c.rank + 2 != p.input.rank || c.rank + 2 != p.weight.rank || c.rank + 2 != p.result.rank)
    return wrong("ranks %d, %d, %d of a convolution of %d", p.input.rank, p.weight.rank,
                 p.result.rank, c.rank);
  if (p.input.sizes[0] != p.result.sizes[0] || p.weight.sizes[0] != p.result.sizes[1] ||
      p.weight.sizes[1] * c.groups != p.input.sizes[1] || p.weight.sizes[0] % c.groups)
    return wrong("images or channels do not fit together");
  for (int d = 0; d < c.rank; ++d) {
    const int room =
        p.input.sizes[d + 2] + 2 * c.padding[d] - c.dilation[d] * (p.weight.sizes[d + 2] - 1) - 1;
    if (room < 0 || room / c.stride[d] + 1 != p.result.sizes[d + 2])
      return wrong("dimension %d: %d windows, not %d", d, room / c.stride[d] + 1,
                   p.result.sizes[d + 2]);
  }
  return true;
}

// Of this convolution: the algorithms that it was offered carry it.
int identity(Product product, const Parts& p, const cudnnConvolutionStruct& c) {
  unsigned h = unsigned(product) + 7;
  for (const ShapeBody* s : {&p.input, &p.weight, &p.result})
    for (int i = 0; i < s->rank; ++i) h = h * 31 + unsigned(s->sizes[i]);
  for (int d = 0; d < c.rank; ++d)
    h = h * 31 + unsigned(c.stride[d] * 64 + c.padding[d] * 8 + c.dilation[d]);
  return int((h * 31 + unsigned(c.groups) + unsigned(p.input.element)) % 100000) * kOffers;
}

cudnnStatus_t answer(Product product, const Parts& p, const cudnnConvolutionStruct& c, int wanted,
                     int* found, Answer* answers) {
  *found = 0;
  if (!is_sound(p, c)) return CUDNN_STATUS_BAD_PARAM;
  if (refuses) {
    ++refused;
    return 3000;
  }
  const int first = identity(product, p, c);
  for (int i = 0; i < kOffers && i < wanted; ++i)
    answers[(*found)++] = {first + i,  i == kFailed ? 3000 : 0, float(i),
                           kNeeded[i], i == kUnsteady ? 0 : 1,  c.math,
                           {}};
  return CUDNN_STATUS_SUCCESS;
}

// f(index in the input, in the weight, in the result) for all that are multiplied with each other.
template <class F>
void for_each_product(const Parts& p, const cudnnConvolutionStruct& c, F f) {
  const int outs = p.weight.sizes[0] / c.groups;
  int in[3], kernel[3], result[3];  // sizes; the missing dimensions first
  for (int d = 0; d < 3; ++d) {
    const int at = d - (3 - c.rank);
    in[d] = at < 0 ? 1 : p.input.sizes[at + 2];
    kernel[d] = at < 0 ? 1 : p.weight.sizes[at + 2];
    result[d] = at < 0 ? 1 : p.result.sizes[at + 2];
  }
  // Where the window of a result meets the input in this dimension, or -1 beside it.
  const auto reach = [&](int d, int r, int k) {
    const int at = d - (3 - c.rank);
    const int i = at < 0 ? 0 : r * c.stride[at] - c.padding[at] + k * c.dilation[at];
    return i < in[d] ? i : -1;
  };
  const auto row = [](Count plane, const int* sizes, int x, int y) {
    return ((plane * sizes[0] + x) * sizes[1] + y) * sizes[2];
  };
  const auto planes = [&](Count image, Count filter, Count to) {
    for (int rx = 0; rx < result[0]; ++rx)
      for (int kx = 0; kx < kernel[0]; ++kx)
        for (int ry = 0; ry < result[1]; ++ry)
          for (int ky = 0; ky < kernel[1]; ++ky) {
            const int x = reach(0, rx, kx), y = reach(1, ry, ky);
            if (x < 0 || y < 0) continue;
            const Count from = row(image, in, x, y), weight = row(filter, kernel, kx, ky),
                        sum = row(to, result, rx, ry);
            for (int kz = 0; kz < kernel[2]; ++kz)
              for (int rz = 0; rz < result[2]; ++rz)
                if (const int z = reach(2, rz, kz); z >= 0) f(from + z, weight + kz, sum + rz);
          }
  };
  for (int n = 0; n < p.input.sizes[0]; ++n)
    for (int to = 0; to < p.weight.sizes[0]; ++to)
      for (int ch = 0; ch < p.weight.sizes[1]; ++ch)
        planes(Count(n) * p.input.sizes[1] + Count(to / outs) * p.weight.sizes[1] + ch,
               Count(to) * p.weight.sizes[1] + ch, Count(n) * p.result.sizes[1] + to);
}

bool operands_are_there(Shape a, const void* a_data, Shape b, const void* b_data, Shape out,
                        const void* out_data, const void* workspace, std::size_t bytes) {
  const auto there = [](const char* what, Shape s, const void* p) {
    return holds(what, p, std::uint64_t(volume(*s)) * bytes_of(s->element));
  };
  return there("the first operand", a, a_data) && there("the second operand", b, b_data) &&
         there("the result", out, out_data) && holds("the workspace", workspace, bytes);
}

cudnnStatus_t run(Product product, cudnnHandle_t handle, const void* alpha, Shape a,
                  const void* a_data, Shape b, const void* b_data, cudnnConvolutionDescriptor_t c,
                  int algorithm, void* workspace, std::size_t bytes, const void* beta, Shape out,
                  void* out_data) {
  const Parts p = parts_of(product, a, b, out);
  if (!handle || !is_sound(p, *c)) return CUDNN_STATUS_BAD_PARAM;
  const int offer = algorithm - identity(product, p, *c);
  if ((offer != kUnsteady && offer != kSteady && offer != kFrugal) || bytes < kNeeded[offer]) {
    wrong("algorithm %d with %zu bytes was not offered for this convolution", algorithm, bytes);
    return CUDNN_STATUS_BAD_PARAM;
  }
  const cudnnDataType_t e = out->element;
  const cudnnDataType_t scale = e == CUDNN_DATA_DOUBLE ? e : CUDNN_DATA_FLOAT;
  if (value_at(alpha, scale, 0) != 1 || value_at(beta, scale, 0) != 0)
    return CUDNN_STATUS_BAD_PARAM;
  if (!operands_are_there(a, a_data, b, b_data, out, out_data, workspace, bytes))
    return CUDNN_STATUS_BAD_PARAM;
  emulated::give(handle->stream, [=, body = *c, a_count = volume(*a), b_count = volume(*b),
                                  count = std::size_t(volume(*out))] {
    std::memset(workspace, 0xff, bytes);
    std::vector<double> sums(count, 0.0);
    const std::vector<double> first = values(a_data, a_count, e),
                              second = values(b_data, b_count, e);
    if (product == kForward)
      for_each_product(p, body,
                       [&](Count x, Count w, Count y) { sums[y] += first[x] * second[w]; });
    else if (product == kInputGradient)
      for_each_product(p, body,
                       [&](Count x, Count w, Count y) { sums[x] += first[w] * second[y]; });
    else
      for_each_product(p, body,
                       [&](Count x, Count w, Count y) { sums[w] += first[x] * second[y]; });
    for (std::size_t i = 0; i < sums.size(); ++i) put(out_data, e, Count(i), sums[i]);
  });
  ++convolutions;
  last_offer = offer;
  last_math = int(c->math);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t try_out(Product product, cudnnHandle_t handle, Shape a, const void* a_data, Shape b,
                      const void* b_data, cudnnConvolutionDescriptor_t c, Shape out, void* out_data,
                      int wanted, int* found, Answer* answers, void* workspace, std::size_t bytes) {
  if (!handle || !operands_are_there(a, a_data, b, b_data, out, out_data, workspace, bytes))
    return CUDNN_STATUS_BAD_PARAM;
  ++trials;
  const auto size = std::size_t(volume(*out)) * bytes_of(out->element);
  emulated::give(handle->stream, [=] { std::memset(out_data, 0xff, size); });
  return answer(product, parts_of(product, a, b, out), *c, wanted, found, answers);
}

cudnnStatus_t set_sizes(ShapeBody& s, bool is_filter, cudnnDataType_t e, int rank,
                        const int* sizes) {
  if (rank < 4 || rank > 5) {
    wrong("a shape of %d dimensions", rank);
    return CUDNN_STATUS_BAD_PARAM;
  }
  s = {is_filter, e, rank, {}};
  for (int i = 0; i < rank; ++i) {
    s.sizes[i] = sizes[i];
    if (sizes[i] < 1) return CUDNN_STATUS_BAD_PARAM;
  }
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

// For tests: calls, refusals and trials so far; of the last call, which offer and which arithmetic.
int emulated_convolutions() { return convolutions; }
int emulated_refused() { return refused; }
int emulated_trials() { return trials; }
int emulated_offer() { return last_offer; }
int emulated_math() { return last_math; }
void emulated_refuse(int yes) { refuses = yes != 0; }

std::size_t cudnnGetVersion() { return 91002; }
const char* cudnnGetErrorString(cudnnStatus_t) { return "CUDNN_STATUS_BAD_PARAM"; }
cudnnStatus_t cudnnCreate(cudnnHandle_t* h) {
  *h = new cudnnContext;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t h, cudaStream_t stream) {
  if (!h) return CUDNN_STATUS_BAD_PARAM;
  h->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnCreateTensorDescriptor(Shape* s) {
  *s = new ShapeBody;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetTensorNdDescriptor(Shape s, cudnnDataType_t e, int rank, const int* sizes,
                                         const int* strides) {
  const cudnnStatus_t status = set_sizes(*s, false, e, rank, sizes);
  int step = 1;
  for (int i = rank - 1; status == CUDNN_STATUS_SUCCESS && i >= 0; --i) {
    if (strides[i] != step) {
      wrong("the stride of dimension %d is %d and not %d", i, strides[i], step);
      return CUDNN_STATUS_BAD_PARAM;
    }
    step *= sizes[i];
  }
  return status;
}
cudnnStatus_t cudnnDestroyTensorDescriptor(Shape s) {
  delete s;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnCreateFilterDescriptor(Shape* s) { return cudnnCreateTensorDescriptor(s); }
cudnnStatus_t cudnnSetFilterNdDescriptor(Shape s, cudnnDataType_t e, int format, int rank,
                                         const int* sizes) {
  return format == CUDNN_TENSOR_NCHW ? set_sizes(*s, true, e, rank, sizes) : CUDNN_STATUS_BAD_PARAM;
}
cudnnStatus_t cudnnDestroyFilterDescriptor(Shape s) { return cudnnDestroyTensorDescriptor(s); }
cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t* c) {
  *c = new cudnnConvolutionStruct;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolutionNdDescriptor(cudnnConvolutionDescriptor_t c, int rank,
                                              const int* padding, const int* stride,
                                              const int* dilation, int mode,
                                              cudnnDataType_t computed_in) {
  if (rank < 2 || rank > 3 || mode != CUDNN_CROSS_CORRELATION) return CUDNN_STATUS_BAD_PARAM;
  c->rank = rank;
  c->computed_in = computed_in;
  for (int d = 0; d < rank; ++d) {
    c->padding[d] = padding[d];
    c->stride[d] = stride[d];
    c->dilation[d] = dilation[d];
    if (padding[d] < 0 || stride[d] < 1 || dilation[d] < 1) return CUDNN_STATUS_BAD_PARAM;
  }
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t c, int groups) {
  c->groups = groups;
  return groups > 0 ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}
cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t c, cudnnMathType_t math) {
  c->math = math;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t c) {
  delete c;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(cudnnHandle_t, Shape a, Shape b,
                                                     cudnnConvolutionDescriptor_t c, Shape out,
                                                     int wanted, int* found, Answer* answers) {
  return answer(kForward, parts_of(kForward, a, b, out), *c, wanted, found, answers);
}
cudnnStatus_t cudnnFindConvolutionForwardAlgorithmEx(cudnnHandle_t h, Shape a, const void* ad,
                                                     Shape b, const void* bd,
                                                     cudnnConvolutionDescriptor_t c, Shape out,
                                                     void* od, int wanted, int* found,
                                                     Answer* answers, void* workspace,
                                                     std::size_t bytes) {
  return try_out(kForward, h, a, ad, b, bd, c, out, od, wanted, found, answers, workspace, bytes);
}
cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t h, const void* alpha, Shape a, const void* ad,
                                      Shape b, const void* bd, cudnnConvolutionDescriptor_t c,
                                      int algorithm, void* workspace, std::size_t bytes,
                                      const void* beta, Shape out, void* od) {
  return run(kForward, h, alpha, a, ad, b, bd, c, algorithm, workspace, bytes, beta, out, od);
}

cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(cudnnHandle_t, Shape a, Shape b,
                                                          cudnnConvolutionDescriptor_t c, Shape out,
                                                          int wanted, int* found, Answer* answers) {
  return answer(kInputGradient, parts_of(kInputGradient, a, b, out), *c, wanted, found, answers);
}
cudnnStatus_t cudnnFindConvolutionBackwardDataAlgorithmEx(cudnnHandle_t h, Shape a, const void* ad,
                                                          Shape b, const void* bd,
                                                          cudnnConvolutionDescriptor_t c, Shape out,
                                                          void* od, int wanted, int* found,
                                                          Answer* answers, void* workspace,
                                                          std::size_t bytes) {
  return try_out(kInputGradient, h, a, ad, b, bd, c, out, od, wanted, found, answers, workspace,
                 bytes);
}
cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t h, const void* alpha, Shape a,
                                           const void* ad, Shape b, const void* bd,
                                           cudnnConvolutionDescriptor_t c, int algorithm,
                                           void* workspace, std::size_t bytes, const void* beta,
                                           Shape out, void* od) {
  return run(kInputGradient, h, alpha, a, ad, b, bd, c, algorithm, workspace, bytes, beta, out, od);
}

cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(cudnnHandle_t, Shape a, Shape b,
                                                            cudnnConvolutionDescriptor_t c,
                                                            Shape out, int wanted, int* found,
                                                            Answer* answers) {
  return answer(kWeightGradient, parts_of(kWeightGradient, a, b, out), *c, wanted, found, answers);
}
cudnnStatus_t cudnnFindConvolutionBackwardFilterAlgorithmEx(cudnnHandle_t h, Shape a,
                                                            const void* ad, Shape b, const void* bd,
                                                            cudnnConvolutionDescriptor_t c,
                                                            Shape out, void* od, int wanted,
                                                            int* found, Answer* answers,
                                                            void* workspace, std::size_t bytes) {
  return try_out(kWeightGradient, h, a, ad, b, bd, c, out, od, wanted, found, answers, workspace,
                 bytes);
}
cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t h, const void* alpha, Shape a,
                                             const void* ad, Shape b, const void* bd,
                                             cudnnConvolutionDescriptor_t c, int algorithm,
                                             void* workspace, std::size_t bytes, const void* beta,
                                             Shape out, void* od) {
  return run(kWeightGradient, h, alpha, a, ad, b, bd, c, algorithm, workspace, bytes, beta, out,
             od);
}

}  // extern "C"
