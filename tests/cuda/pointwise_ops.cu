// The shared formulas as a GPU compiles them: one kernel per op and direction, in each type the op
// takes. Compiled in CI where nvcc is found (.ci/run cuda); nothing runs it here.
#include "kernels/pointwise.h"

namespace rushlight {

template <class K, int kParameters, class T>
__global__ void one_element(T* out, const T* in) {
  [&]<std::size_t... I, std::size_t... P>(std::index_sequence<I...>, std::index_sequence<P...>) {
    auto element = [&](auto i) {
      if constexpr (K::bools >> i.value & 1)
        return bool(in[i.value] < T(0));
      else
        return in[i.value];
    };
    const auto results =
        K::apply(element(std::integral_constant<std::size_t, I>{})..., in[K::kIn + P]...);
    for (int o = 0; o < K::kOut; ++o) out[o] = T(results.of[o]);
  }(std::make_index_sequence<K::kIn>{}, std::make_index_sequence<kParameters>{});
}

template <class Op, class T>
void launch() {
  constexpr int parameters = Traits<Op>::parameters;
  one_element<Forward<Op>, parameters, T><<<1, 1>>>(nullptr, nullptr);
  if constexpr (Traits<Op>::differentiable && !std::is_same_v<T, Integer>)
    one_element<Backward<Op>, parameters, T><<<1, 1>>>(nullptr, nullptr);
}

template <class... Ops>
void launch_each(OpList<Ops...>) {
  (
      [] {
        if constexpr (Traits<Ops>::on_floats) {
          launch<Ops, float>();
          launch<Ops, double>();
        }
        if constexpr (Traits<Ops>::on_integers) launch<Ops, Integer>();
      }(),
      ...);
}

void launch_all() { launch_each(PointwiseOps{}); }

}  // namespace rushlight
