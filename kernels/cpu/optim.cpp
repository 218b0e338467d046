// Optimizer steps: every element is read and written once. The formulas are in optim_formulas.h.
#include <array>

#include "../optim_formulas.h"
#include "../parallel.h"

namespace rushlight {
namespace {

using Index = std::int64_t;
constexpr Index kGrain = 16384;

template <int N, class F, class S>
CLONES void run(S* p, const S* g, const std::array<S*, N> states, Index n, const F settings,
                const typename F::Numbers now) {
  using T = Compute<S>;
  for (Index i = 0; i < n; ++i) {
    T w = load(p + i), s[N + 1] = {};
    for (int k = 0; k < N; ++k) s[k] = load(states[std::size_t(k)] + i);
    settings.template step<N>(w, load(g + i), s, now);
    for (int k = 0; k < N; ++k) store(states[std::size_t(k)] + i, s[k]);
    store(p + i, w);
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
          run<N>(item.param.template as<S>() + begin, item.grad.template as<const S>() + begin,
                 states, end - begin, settings, item.now);
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
