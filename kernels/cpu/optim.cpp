// Optimizer steps: every element is read and written once. A changer must know: the order of
// roundings is torch's (buf * momentum first, then the gradient's share; lerp for Adam's mean).
#include "../optim.h"

#include <cmath>

#include "../host_device.h"
#include "../parallel.h"

namespace rushlight {
namespace {

using Index = std::int64_t;
constexpr Index kGrain = 16384;

// Adds weight decay to a gradient that `sign` may have turned round.
template <class T>
inline T full_gradient(T g, T p, T sign, T decay) {
  return g * sign + p * decay;
}

template <class S, class T = Compute<S>>
CLONES void sgd_plain(S* p, const S* g, Index n, T lr, T sign, T decay) {
  for (Index i = 0; i < n; ++i) {
    const T w = load(p + i);
    store(p + i, w - lr * full_gradient(load(g + i), w, sign, decay));
  }
}

template <bool kFresh, bool kNesterov, class S, class T = Compute<S>>
CLONES void sgd_momentum(S* p, const S* g, S* buffer, Index n, T lr, T sign, T decay, T momentum,
                         T share) {
  for (Index i = 0; i < n; ++i) {
    const T w = load(p + i), gradient = full_gradient(load(g + i), w, sign, decay);
    const T b = kFresh ? gradient : load(buffer + i) * momentum + gradient * share;
    store(buffer + i, b);
    store(p + i, w - lr * (kNesterov ? gradient + momentum * b : b));
  }
}

template <class S>
void sgd_item(const SgdItem& item, const SgdSettings& s, Index begin, Index n) {
  using T = Compute<S>;
  S* p = item.param.as<S>() + begin;
  const S* g = item.grad.as<const S>() + begin;
  const T lr = T(s.lr), sign = s.maximize ? T(-1) : T(1), decay = T(s.weight_decay);
  if (s.momentum == 0) return sgd_plain<S>(p, g, n, lr, sign, decay);
  S* b = item.buffer.as<S>() + begin;
  const T momentum = T(s.momentum), share = T(1 - s.dampening);
  if (item.fresh && s.nesterov)
    sgd_momentum<true, true, S>(p, g, b, n, lr, sign, decay, momentum, share);
  else if (item.fresh)
    sgd_momentum<true, false, S>(p, g, b, n, lr, sign, decay, momentum, share);
  else if (s.nesterov)
    sgd_momentum<false, true, S>(p, g, b, n, lr, sign, decay, momentum, share);
  else
    sgd_momentum<false, false, S>(p, g, b, n, lr, sign, decay, momentum, share);
}

template <class T>
struct AdamNumbers {
  T sign, decay, shrink, beta2, rest1, rest2, eps, step_size, correction;
  bool far;  // 1 - beta1 >= 1/2: the mean is reached from the other end, as lerp does
};

template <bool kAmsgrad, class S, class T = Compute<S>>
CLONES void adam_loop(S* p, const S* g, S* mean, S* square, S* largest, Index n,
                      const AdamNumbers<T> a) {
  for (Index i = 0; i < n; ++i) {
    const T w = load(p + i), gradient = full_gradient(load(g + i), w, a.sign, a.decay);
    const T before = load(mean + i), way = gradient - before;
    const T m = a.far ? gradient - way * (T(1) - a.rest1) : before + way * a.rest1;
    const T v = load(square + i) * a.beta2 + a.rest2 * gradient * gradient;
    store(mean + i, m);
    store(square + i, v);
    T top = v;
    if constexpr (kAmsgrad) {
      const T most = load(largest + i);
      top = most > v ? most : v;
      store(largest + i, top);
    }
    const T root = std::sqrt(top) / a.correction + a.eps;
    store(p + i, w * a.shrink - a.step_size * m / root);
  }
}

template <class S>
void adam_item(const AdamItem& item, const AdamSettings& s, Index begin, Index n) {
  using T = Compute<S>;
  const double rest1 = 1 - s.beta1;
  const AdamNumbers<T> a{.sign = s.maximize ? T(-1) : T(1),
                         .decay = T(s.weight_decay),
                         .shrink = T(s.shrink),
                         .beta2 = T(s.beta2),
                         .rest1 = T(rest1),
                         .rest2 = T(1 - s.beta2),
                         .eps = T(s.eps),
                         .step_size = T(item.step_size),
                         .correction = T(item.correction),
                         .far = rest1 >= 0.5};
  S* p = item.param.as<S>() + begin;
  const S* g = item.grad.as<const S>() + begin;
  S *m = item.mean.as<S>() + begin, *v = item.square.as<S>() + begin;
  if (s.amsgrad)
    adam_loop<true, S>(p, g, m, v, item.largest.as<S>() + begin, n, a);
  else
    adam_loop<false, S>(p, g, m, v, static_cast<S*>(nullptr), n, a);
}

void sgd(const SgdItem* items, Index count, const SgdSettings& settings) {
  for (Index i = 0; i < count; ++i)
    dispatch_floating(items[i].param.dtype, [&]<class S>(Type<S>) {
      parallel_for(items[i].param.numel, kGrain, [&](Index begin, Index end) {
        sgd_item<S>(items[i], settings, begin, end - begin);
      });
    });
}

void adam(const AdamItem* items, Index count, const AdamSettings& settings) {
  for (Index i = 0; i < count; ++i)
    dispatch_floating(items[i].param.dtype, [&]<class S>(Type<S>) {
      parallel_for(items[i].param.numel, kGrain, [&](Index begin, Index end) {
        adam_item<S>(items[i], settings, begin, end - begin);
      });
    });
}

}  // namespace

const OptimKernels cpu_optim = {.sgd = sgd, .adam = adam};

}  // namespace rushlight
