// Optimizer steps: every element is read and written once. The formulas are in optim_formulas.h.
#include <algorithm>
#include <array>
#include <utility>

#include "../optim_formulas.h"
#include "../parallel.h"
#include "convert.h"

namespace rushlight {
namespace {

using Index = std::int64_t;
constexpr Index kGrain = 16384;

// The states are named one by one, and no two of the tensors share memory but as a whole: gcc then
// makes vector code of the loop, without a second one for tensors that overlap.
// Plain: gradients are taken as they are.
template <bool kPlain, class F, class T, int... K>
CLONES void loop(T* p, const T* g, [[maybe_unused]] const std::array<T*, sizeof...(K)> states,
                 Index n, const F settings, const typename F::Coefficients now,
                 std::integer_sequence<int, K...>) {
#pragma GCC ivdep
  for (Index i = 0; i < n; ++i) {
    T s[sizeof...(K) + 1] = {std::get<K>(states)[i]...};
    const T down = kPlain ? g[i] : settings.descent(g[i], p[i]);
    settings.template step<sizeof...(K)>(p[i], down, s, now);
    ((std::get<K>(states)[i] = s[K]), ...);
  }
}

template <int N, class F, class T>
void run(T* p, const T* g, const std::array<T*, N>& states, Index n, const F& settings,
         const typename F::Coefficients& now) {
  constexpr auto each = std::make_integer_sequence<int, N>();
  if constexpr (F::kLight)
    if (settings.is_plain()) return loop<true>(p, g, states, n, settings, now, each);
  loop<false>(p, g, states, n, settings, now, each);
}

// Elements of 16 bits, a block of them in float32 at a time.
template <int N, class F, class S>
void run_by_blocks(S* p, const S* g, const std::array<S*, N> states, Index n, const F& settings,
                   const typename F::Coefficients& now) {
  constexpr Index kBlock = 512;
  float parameter[kBlock], gradient[kBlock], state[N + 1][kBlock];
  std::array<float*, N> block_states;
  for (int k = 0; k < N; ++k) block_states[std::size_t(k)] = state[k];
  for (Index i = 0; i < n; i += kBlock) {
    const Index count = std::min(kBlock, n - i);
    convert_row(parameter, p + i, count);
    convert_row(gradient, g + i, count);
    for (int k = 0; k < N; ++k) convert_row(state[k], states[std::size_t(k)] + i, count);
    run<N>(parameter, gradient, block_states, count, settings, now);
    for (int k = 0; k < N; ++k) convert_row(states[std::size_t(k)] + i, state[k], count);
    convert_row(p + i, parameter, count);
  }
}

template <class F>
void step(const OptimItem<F>* items, Index count, const F& settings) {
  optim::with_states(settings, [&]<int N>(std::integral_constant<int, N>) {
    for (Index i = 0; i < count; ++i) {
      const OptimItem<F>& item = items[i];
      dispatch_floating(item.param.dtype, [&]<class S>(Type<S>) {
        parallel_for(item.param.numel, kGrain, [&](Index begin, Index end) {
          std::array<S*, N> states;
          for (int k = 0; k < N; ++k)
            states[std::size_t(k)] = item.state[k].template as<S>() + begin;
          const auto* g = item.grad.template as<const S>() + begin;
          auto* p = item.param.template as<S>() + begin;
          if constexpr (sizeof(S) == 2)
            run_by_blocks<N>(p, g, states, end - begin, settings, item.now);
          else
            run<N>(p, g, states, end - begin, settings, item.now);
        });
      });
    }
  });
}

}  // namespace

const OptimKernels cpu_optim = {
    {step<optim::Sgd>},     {step<optim::Adam>},  {step<optim::Adadelta>}, {step<optim::Adagrad>},
    {step<optim::Adamax>},  {step<optim::Asgd>},  {step<optim::NAdam>},    {step<optim::RAdam>},
    {step<optim::RmsProp>}, {step<optim::Rprop>},
};

}  // namespace rushlight
