// Optimizer steps over all parameters: one launch for up to kItems of them, their addresses in the
// kernel's arguments. A block works on kChunk elements of one parameter. Compiled with -fmad=false
// (CMakeLists.txt), so that each operation is rounded as on the CPU.
#include "../optim_formulas.h"
#include "elements.h"
#include "families.h"
#include "runtime/launch.h"

namespace rushlight::gpu {
namespace {

constexpr int kItems = 40;
constexpr Index kChunk = kThreads * 16;

template <class F>
struct Item {
  void* param;
  const void* grad;
  void* state[F::kStates];
  Index numel;
  typename F::Coefficients now;
  DType dtype;
};
template <class F>
struct Batch {
  Item<F> items[kItems];
  unsigned first_block[kItems + 1];
  int count = 0;

  bool is_full() const { return count == kItems; }
  // Items that name the same memory are worked on in order, so not in one launch.
  bool has(const void* param) const {
    for (int i = 0; i < count; ++i)
      if (items[i].param == param) return true;
    return false;
  }
  void add(const Item<F>& item) {
    if (count == 0) first_block[0] = 0;
    items[count] = item;
    first_block[count + 1] = first_block[count] + unsigned((item.numel + kChunk - 1) / kChunk);
    ++count;
  }
};

template <class C>
struct Elements {
  void* data;
  DType dtype;
  __device__ C get(Index i) const { return Reader<C>(data, dtype)[i]; }
  __device__ void set(Index i, C v) const { Writer<C>(data, dtype).set(i, v); }
};

template <int N, class F, class C>
__global__ void optimizer_step(Batch<F> batch, F settings) {
  int k = 0;
  while (k + 1 < batch.count && blockIdx.x >= batch.first_block[k + 1]) ++k;
  const Item<F>& item = batch.items[k];
  const Elements<C> param{item.param, item.dtype};
  const Reader<C> grad(item.grad, item.dtype);
  const Index begin = Index(blockIdx.x - batch.first_block[k]) * kChunk;
  const Index end = begin + kChunk < item.numel ? begin + kChunk : item.numel;
  for (Index i = begin + threadIdx.x; i < end; i += blockDim.x) {
    C w = param.get(i), s[N + 1];
    for (int n = 0; n < N; ++n) s[n] = Elements<C>{item.state[n], item.dtype}.get(i);
    settings.template step<N>(w, settings.descent(grad[i], w), s, item.now);
    for (int n = 0; n < N; ++n) Elements<C>{item.state[n], item.dtype}.set(i, s[n]);
    param.set(i, w);
  }
}

template <int N, class F>
void run(const Batch<F>& batch, const F& settings) {
  static_assert(sizeof(Batch<F>) + sizeof(F) <= 4096, "the arguments of a kernel");
  const unsigned blocks = batch.count ? batch.first_block[batch.count] : 0;
  if (blocks == 0) return;
  const auto kernel = batch.items[0].dtype == DType::float64 ? optimizer_step<N, F, double>
                                                             : optimizer_step<N, F, float>;
  launch("Optimizer.step", kernel, blocks, kThreads, 0, batch, settings);
}

// Cuts the list into batches of one class of types.
template <class F>
void step(const OptimItem<F>* items, Index count, const F& settings) {
  optim::with_states(settings, [&]<int N>(std::integral_constant<int, N>) {
    Batch<F> batch;
    for (Index k = 0; k < count; ++k) {
      const View &param = items[k].param, &grad = items[k].grad;
      Item<F> item = {.param = param.data,
                      .grad = grad.data,
                      .state = {},
                      .numel = param.numel,
                      .now = items[k].now,
                      .dtype = param.dtype};
      for (int n = 0; n < N; ++n) item.state[n] = items[k].state[n].data;
      const bool other =
          batch.count && (batch.items[0].dtype == DType::float64) != (item.dtype == DType::float64);
      if (batch.is_full() || other || batch.has(item.param)) {
        run<N>(batch, settings);
        batch = Batch<F>();
      }
      batch.add(item);
    }
    run<N>(batch, settings);
  });
}

}  // namespace

const OptimKernels optim_kernels = {
    {step<optim::Sgd>},     {step<optim::Adam>},  {step<optim::Adadelta>}, {step<optim::Adagrad>},
    {step<optim::Adamax>},  {step<optim::Asgd>},  {step<optim::NAdam>},    {step<optim::RAdam>},
    {step<optim::RmsProp>}, {step<optim::Rprop>},
};

}  // namespace rushlight::gpu
