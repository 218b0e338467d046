// Convolutions by cuDNN. An algorithm is chosen for each shape, by its own guess or, where
// `backends.cudnn.benchmark` is on, by trying; one that gives other results in each run only
// where benchmark is on and deterministic is off. What was chosen is kept, for kPlans shapes of
// each device. Where there is no memory for its workspace, an algorithm with less serves, or none.
#include "cudnn.h"

#include <algorithm>
#include <mutex>
#include <optional>

#include "convolutions.h"
#include "kernels/cuda/runtime/devices.h"
#include "plans.h"

namespace rushlight::gpu {
namespace cudnn {

const LibraryKind& Functions::kind() {
  static constexpr LibraryKind kind = {
      .title = "cuDNN",
      .name = "cudnn",
      .soname = "libcudnn.so.9",
      .variable = "RUSHLIGHT_CUDNN_LIBRARY",
      .package = "nvidia-cudnn-cu13",
      .needs = {"cublasLt", "nvrtc"},
      .floor = 91001,  // 9.10.0 is broken
      .version = [](void* f) { return int(reinterpret_cast<std::size_t (*)()>(f)()); },
      .names = names,
      .count = sizeof names / sizeof names[0],
  };
  return kind;
}

}  // namespace cudnn

namespace {

using namespace cudnn;

constexpr std::size_t kMostWorkspace = std::size_t(1) << 30;
constexpr int kMostRank = 5, kAnswers = 8;

void check(const Functions& f, cudnnStatus_t status, const char* call) {
  if (status != CUDNN_STATUS_SUCCESS) fail_call(Functions::kind(), "cuDNN", f.words(status), call);
}

// All that a plan depends on, as integers of one size.
struct Problem {
  ConvShape shape;
  Index product, dtype, tf32, tries, repeatable;
};

struct Plan {
  Shape input = nullptr, weight = nullptr, result = nullptr;
  cudnnConvolutionDescriptor_t convolution = nullptr;
  bool exact = false;
  Answer answers[kAnswers] = {};  // the quickest first
  int count = 0;                  // none: cuDNN has nothing for it
};

struct PerDevice {
  std::mutex mutex;
  cudnnHandle_t handle = nullptr;
  Plans<Problem, Plan> plans;
};

cudnnDataType_t element_of(DType d) {
  return d == DType::float64    ? CUDNN_DATA_DOUBLE
         : d == DType::float16  ? CUDNN_DATA_HALF
         : d == DType::bfloat16 ? CUDNN_DATA_BFLOAT16
                                : CUDNN_DATA_FLOAT;
}

// The numbers of a convolution as cuDNN takes them: two dimensions, or three.
struct Geometry {
  int rank, first;  // dimensions, and which of ConvShape's three is the first
  int padding[3], stride[3], dilation[3];
};

// False where they are not cuDNN's: beyond 31 bits, or a result that its rule would not give.
bool describe(const ConvShape& s, Geometry& g) {
  constexpr Index most = 0x7fffffff;
  const bool flat = s.in[0] == 1 && s.kernel[0] == 1 && s.padding[0] == 0 && s.result[0] == 1;
  g.first = flat ? 1 : 0;
  g.rank = 3 - g.first;
  for (int i = 0; i < g.rank; ++i) {
    const int d = g.first + i;
    const Index room = s.in[d] + 2 * s.padding[d] - s.dilation[d] * (s.kernel[d] - 1) - 1;
    // One window: the stride is any that has no room for a second.
    const Index stride = s.result[d] == 1 && room >= s.stride[d] ? room + 1 : s.stride[d];
    if (room < 0 || room > most || stride > most || s.padding[d] > most || s.dilation[d] > most ||
        room / stride + 1 != s.result[d])
      return false;
    g.padding[i] = int(s.padding[d]);
    g.stride[i] = int(stride);
    g.dilation[i] = int(s.dilation[d]);
  }
  return true;
}

// (first, second, sizes...) in contiguous memory.
struct Sizes {
  int sizes[kMostRank], strides[kMostRank];
  Sizes(const Geometry& g, Index first, Index second, const Index (&inner)[3]) {
    sizes[0] = int(first);
    sizes[1] = int(second);
    for (int i = 0; i < g.rank; ++i) sizes[2 + i] = int(inner[g.first + i]);
    int step = 1;
    for (int i = g.rank + 1; i >= 0; --i) {
      strides[i] = step;
      step *= sizes[i];
    }
  }
};

Shape make_tensor(const Functions& f, cudnnDataType_t e, const Geometry& g, const Sizes& s) {
  Shape shape;
  check(f, f.create_tensor(&shape), "cudnnCreateTensorDescriptor");
  check(f, f.set_tensor(shape, e, g.rank + 2, s.sizes, s.strides), "cudnnSetTensorNdDescriptor");
  return shape;
}

void describe_operands(const Functions& f, const Problem& problem, const Geometry& g, Plan& p) {
  const ConvShape& s = problem.shape;
  const cudnnDataType_t e = element_of(DType(problem.dtype));
  p.input = make_tensor(f, e, g, Sizes(g, s.n, s.c, s.in));
  p.result = make_tensor(f, e, g, Sizes(g, s.n, s.out, s.result));
  check(f, f.create_filter(&p.weight), "cudnnCreateFilterDescriptor");
  const Sizes weight(g, s.out, s.c / s.groups, s.kernel);
  check(f, f.set_filter(p.weight, e, CUDNN_TENSOR_NCHW, g.rank + 2, weight.sizes),
        "cudnnSetFilterNdDescriptor");
  check(f, f.create_convolution(&p.convolution), "cudnnCreateConvolutionDescriptor");
  check(f,
        f.set_convolution(p.convolution, g.rank, g.padding, g.stride, g.dilation,
                          CUDNN_CROSS_CORRELATION,
                          e == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT),
        "cudnnSetConvolutionNdDescriptor");
  check(f, f.set_groups(p.convolution, int(s.groups)), "cudnnSetConvolutionGroupCount");
}

// The operands of a product in cuDNN's order.
struct Operands {
  Shape shapes[3];
  const void* data[2];
  void* out;
};
Operands operands_of(Product product, const Plan& p, const View& a, const View& b,
                     const View& out) {
  switch (product) {
    case kForward: return {{p.input, p.weight, p.result}, {a.data, b.data}, out.data};
    case kInputGradient: return {{p.weight, p.result, p.input}, {b.data, a.data}, out.data};
    default: return {{p.input, p.result, p.weight}, {a.data, b.data}, out.data};
  }
}

bool is_usable(const Answer& a) {
  return a.status == CUDNN_STATUS_SUCCESS && a.workspace <= kMostWorkspace;
}

// The algorithms within the requested limits.
void choose(const Answer* answers, int found, const Problem& problem, Plan& p) {
  for (int i = 0; i < found; ++i)
    if (is_usable(answers[i]) && (!problem.repeatable || answers[i].is_deterministic))
      p.answers[p.count++] = answers[i];
}

// The largest workspace of the algorithms, or the largest that there is memory for.
struct Workspace {
  std::size_t bytes = 0;
  void* data = nullptr;
  Workspace(const Answer* answers, int found) {
    for (std::size_t most = ~std::size_t(0); !data && most;) {
      bytes = 0;  // of the largest that is less than the one refused
      for (int i = 0; i < found; ++i)
        if (is_usable(answers[i]) && answers[i].workspace < most)
          bytes = std::max(bytes, answers[i].workspace);
      data = bytes ? try_scratch(bytes) : nullptr;
      most = bytes;
    }
  }
  ~Workspace() { give_scratch(data, bytes); }
  Workspace(const Workspace&) = delete;
};

Plan make_plan(const Functions& f, cudnnHandle_t handle, const Problem& problem, const View& a,
               const View& b, const View& out) {
  Plan p;
  Geometry g;
  if (!describe(problem.shape, g)) return p;
  describe_operands(f, problem, g, p);
  const bool reduced = is_reduced(DType(problem.dtype)),
             exact = !reduced && !(DType(problem.dtype) == DType::float32 && problem.tf32);
  p.exact = exact;
  const cudnnMathType_t math = reduced ? CUDNN_TENSOR_OP_MATH
                               : exact ? CUDNN_FMA_MATH
                                       : CUDNN_DEFAULT_MATH;
  check(f, f.set_math(p.convolution, math), "cudnnSetConvolutionMathType");
  const auto product = Product(problem.product);
  const Operands o = operands_of(product, p, a, b, out);
  Answer answers[kAnswers];
  int found = 0;
  cudnnStatus_t status = f.search[product](handle, o.shapes[0], o.shapes[1], p.convolution,
                                           o.shapes[2], kAnswers, &found, answers);
  if (is_refusal(status)) return p;
  check(f, status, "cudnnGetConvolutionAlgorithm_v7");
  if (problem.tries) {
    const Workspace workspace(answers, found);
    status = f.try_out[product](handle, o.shapes[0], o.data[0], o.shapes[1], o.data[1],
                                p.convolution, o.shapes[2], o.out, kAnswers, &found, answers,
                                workspace.data, workspace.bytes);
    if (is_refusal(status)) return p;
    check(f, status, "cudnnFindConvolutionAlgorithmEx");
  }
  choose(answers, found, problem, p);
  return p;
}

void forget(const Functions& f, PerDevice& here) {
  for (auto& [problem, p] : here.plans) {
    if (!p.convolution) continue;
    f.destroy_tensor(p.input);
    f.destroy_tensor(p.result);
    f.destroy_filter(p.weight);
    f.destroy_convolution(p.convolution);
  }
  here.plans.clear();
}

bool convolve(Product product, const ConvShape& s, const View& a, const View& b, const View& out) {
  const MathSwitches& wanted = switches();
  constexpr Index most = 0x7fffffff;
  if (!wanted.cudnn_enabled || a.numel > most || b.numel > most || out.numel > most) return false;
  const Functions* f = functions<Functions>();
  if (!f) return false;
  PerDevice& here = per_device<PerDevice>(current().device);
  const std::lock_guard lock(here.mutex);
  if (!here.handle) check(*f, f->create(&here.handle), "cudnnCreate");
  check(*f, f->set_stream(here.handle, current().stream), "cudnnSetStream");
  const Problem problem = {.shape = s,
                           .product = product,
                           .dtype = Index(out.dtype),
                           .tf32 = wanted.tf32_convolutions,
                           .tries = wanted.cudnn_benchmark,
                           .repeatable = !wanted.cudnn_benchmark || wanted.cudnn_deterministic ||
                                         wanted.deterministic_algorithms};
  const auto key = key_of(problem);
  auto found = here.plans.find(key);
  if (found == here.plans.end()) {
    if (here.plans.size() >= kPlans) forget(*f, here);
    found = here.plans.emplace(key, make_plan(*f, here.handle, problem, a, b, out)).first;
  }
  const Plan& p = found->second;
  if (p.count == 0) return false;
  const Answer* answer = p.answers;
  std::optional<Scratch<char>> workspace;
  for (std::size_t refused = SIZE_MAX;; ++answer) {
    if (answer == p.answers + p.count) return false;  // our own kernel needs no memory
    if (answer->workspace >= refused) continue;
    workspace.emplace(Index(answer->workspace), std::nothrow);
    if (workspace->data() || answer->workspace == 0) break;
    refused = answer->workspace;
  }
  if (!p.exact) check(*f, f->set_math(p.convolution, answer->math), "cudnnSetConvolutionMathType");
  const Operands o = operands_of(product, p, a, b, out);
  const bool wide = out.dtype == DType::float64;
  const float narrow_scale[] = {1, 0};
  const double wide_scale[] = {1, 0};
  const auto scale = [&](int i) -> const void* {
    return wide ? static_cast<const void*>(wide_scale + i) : narrow_scale + i;
  };
  check(*f,
        f->run[product](here.handle, scale(0), o.shapes[0], o.data[0], o.shapes[1], o.data[1],
                        p.convolution, answer->algorithm, workspace->data(), answer->workspace,
                        scale(1), o.shapes[2], o.out),
        "cudnnConvolution");
  finish_launch(cudaSuccess, "convolution");
  return true;
}

}  // namespace

bool convolve_by_library(const ConvShape& s, const View& input, const View& weight,
                         const View& out) {
  return convolve(kForward, s, input, weight, out);
}
bool convolve_input_by_library(const ConvShape& s, const View& grad, const View& weight,
                               const View& out) {
  return convolve(kInputGradient, s, grad, weight, out);
}
bool convolve_weight_by_library(const ConvShape& s, const View& input, const View& grad,
                                const View& out) {
  return convolve(kWeightGradient, s, input, grad, out);
}

}  // namespace rushlight::gpu
