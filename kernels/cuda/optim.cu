// Optimizer steps over all parameters: one launch for up to kItems of them, their addresses in the
// kernel's arguments. A block works on kChunk elements of one parameter. The order of roundings is
// that of kernels/cpu/optim.cpp.
#include "elements.h"
#include "families.h"
#include "runtime/launch.h"

namespace rushlight::gpu {
namespace {

constexpr int kItems = 40;
constexpr Index kChunk = kThreads * 16;

struct Item {
  void *param, *first, *second, *third;  // SGD: the buffer; Adam: mean, square, largest square
  const void* grad;
  Index numel;
  double step_size, correction;
  DType dtype;
  bool fresh;
};
struct Batch {
  Item items[kItems];
  unsigned first_block[kItems + 1];
  int count = 0;

  bool is_full() const { return count == kItems; }
  // Items that name the same memory are worked on in order, so not in one launch.
  bool has(const void* param) const {
    for (int i = 0; i < count; ++i)
      if (items[i].param == param) return true;
    return false;
  }
  void add(const Item& item) {
    if (count == 0) first_block[0] = 0;
    items[count] = item;
    first_block[count + 1] = first_block[count] + unsigned((item.numel + kChunk - 1) / kChunk);
    ++count;
  }
};

// Calls f(item, element) for the block's chunk.
template <class F>
__device__ void each_element(const Batch& batch, F f) {
  int k = 0;
  while (k + 1 < batch.count && blockIdx.x >= batch.first_block[k + 1]) ++k;
  const Item& item = batch.items[k];
  const Index begin = Index(blockIdx.x - batch.first_block[k]) * kChunk;
  const Index end = begin + kChunk < item.numel ? begin + kChunk : item.numel;
  for (Index i = begin + threadIdx.x; i < end; i += blockDim.x) f(item, i);
}

template <class C>
struct Memory {
  void* data;
  DType dtype;
  __device__ C get(Index i) const { return Reader<C>(data, dtype)[i]; }
  __device__ void set(Index i, C v) const { Writer<C>(data, dtype).set(i, v); }
};

template <class C>
__global__ void sgd_step(Batch batch, SgdSettings s) {
  each_element(batch, [&](const Item& item, Index i) {
    const Memory<C> param{item.param, item.dtype}, buffer{item.first, item.dtype},
        grad{const_cast<void*>(item.grad), item.dtype};
    const C lr = C(s.lr), sign = s.maximize ? C(-1) : C(1), momentum = C(s.momentum);
    const C w = param.get(i), g = grad.get(i) * sign + w * C(s.weight_decay);
    if (s.momentum == 0) return param.set(i, w - lr * g);
    const C b = item.fresh ? g : buffer.get(i) * momentum + g * C(1 - s.dampening);
    buffer.set(i, b);
    param.set(i, w - lr * (s.nesterov ? g + momentum * b : b));
  });
}

template <class C>
__global__ void adam_step(Batch batch, AdamSettings s) {
  each_element(batch, [&](const Item& item, Index i) {
    const Memory<C> param{item.param, item.dtype}, mean{item.first, item.dtype},
        square{item.second, item.dtype}, largest{item.third, item.dtype},
        grad{const_cast<void*>(item.grad), item.dtype};
    const C rest1 = C(1 - s.beta1), rest2 = C(1 - s.beta2), sign = s.maximize ? C(-1) : C(1);
    const C w = param.get(i), g = grad.get(i) * sign + w * C(s.weight_decay);
    const C before = mean.get(i), way = g - before;
    const C m = 1 - s.beta1 >= 0.5 ? g - way * (C(1) - rest1) : before + way * rest1;
    const C v = square.get(i) * C(s.beta2) + rest2 * g * g;
    mean.set(i, m);
    square.set(i, v);
    C top = v;
    if (s.amsgrad) {
      const C most = largest.get(i);
      top = most > v ? most : v;
      largest.set(i, top);
    }
    const C root = std::sqrt(top) / C(item.correction) + C(s.eps);
    param.set(i, w * C(s.shrink) - C(item.step_size) * m / root);
  });
}

template <class Settings>
void run(const char* op, void (*single)(Batch, Settings), void (*wide)(Batch, Settings),
         const Batch& batch, const Settings& settings) {
  const unsigned blocks = batch.count ? batch.first_block[batch.count] : 0;
  if (blocks == 0) return;
  launch(op, batch.items[0].dtype == DType::float64 ? wide : single, blocks, kThreads, 0, batch,
         settings);
}

// Cuts the list into batches of one class of types.
template <class From, class Settings, class ToItem>
void run_all(const char* op, void (*single)(Batch, Settings), void (*wide)(Batch, Settings),
             const From* items, Index count, const Settings& settings, ToItem to_item) {
  Batch batch;
  for (Index k = 0; k < count; ++k) {
    const Item item = to_item(items[k]);
    const bool other =
        batch.count && (batch.items[0].dtype == DType::float64) != (item.dtype == DType::float64);
    if (batch.is_full() || other || batch.has(item.param)) {
      run(op, single, wide, batch, settings);
      batch = Batch();
    }
    batch.add(item);
  }
  run(op, single, wide, batch, settings);
}

void sgd(const SgdItem* items, Index count, const SgdSettings& settings) {
  run_all("SGD.step", sgd_step<float>, sgd_step<double>, items, count, settings,
          [&](const SgdItem& i) {
            void* buffer = settings.momentum != 0 ? i.buffer.data : nullptr;
            return Item{i.param.data,  buffer, nullptr, nullptr,       i.grad.data,
                        i.param.numel, 0,      0,       i.param.dtype, i.fresh};
          });
}

void adam(const AdamItem* items, Index count, const AdamSettings& settings) {
  run_all("Adam.step", adam_step<float>, adam_step<double>, items, count, settings,
          [&](const AdamItem& i) {
            void* largest = settings.amsgrad ? i.largest.data : nullptr;
            return Item{i.param.data,  i.mean.data, i.square.data, largest,       i.grad.data,
                        i.param.numel, i.step_size, i.correction,  i.param.dtype, false};
          });
}

}  // namespace

const OptimKernels optim_kernels = {.sgd = sgd, .adam = adam};

}  // namespace rushlight::gpu
