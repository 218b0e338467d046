// The dense loop of the light ops whose operands are all bfloat16, two elements at a time.
#pragma once
#include <utility>

#include "kernels/pointwise.h"
#include "kernels/pointwise/traits.h"

namespace rushlight {

// Two neighbours in memory as one number, and as floats: the halves of a vector of such numbers
// need no packing and no permutation, of which a loop over single ones has more than arithmetic.
struct Bfloat16Pair {
  // A class, as a template's argument loses the attributes of any other type.
  struct [[gnu::may_alias, gnu::packed, gnu::aligned(2)]] Bits {
    std::uint32_t v;
  };
  static float low(std::uint32_t pair) { return std::bit_cast<float>(pair << 16); }
  static float high(std::uint32_t pair) { return std::bit_cast<float>(pair & 0xffff0000u); }
  static std::uint32_t of(float low, float high) {
    return rounded(low) >> 16 | (rounded(high) & 0xffff0000u);
  }
  // Its upper half is what `store` writes, of a NaN too: those of bfloat16, and those that the
  // processor makes, have nothing in the lower half that could carry.
  static std::uint32_t rounded(float value) {
    const auto u = std::bit_cast<std::uint32_t>(value);
    return u + 0x7fff + (u >> 16 & 1);
  }
  static float number(float value) {  // one of the call, with the usual NaN
    return value == value ? value : kNaN<float>;
  }
};

// The dense loop where all operands are bfloat16. kScalars: so many of the last inputs are one
// float for all.
template <class Op, class K, int kScalars = 0>
CLONES_512 __attribute__((flatten)) void bfloat16_loop(std::int64_t n, void* const* out,
                                                       const void* const* in,
                                                       const Scalar* parameters) {
  [&]<std::size_t... I, std::size_t... O, std::size_t... P>(
      std::index_sequence<I...>, std::index_sequence<O...>, std::index_sequence<P...>) {
    const float scalars[] = {
        Bfloat16Pair::number(I + kScalars >= K::kIn ? *static_cast<const float*>(in[I]) : 0)...};
    const float p[] = {Bfloat16Pair::number(parameters[P].template to<float>())..., 0};
    (void)p;
    auto run = [&](auto... x) {
      Bfloat16Pair::Bits* const y[] = {static_cast<Bfloat16Pair::Bits*>(out[O])...};
      const auto results = [&](auto half, std::int64_t i) {
        auto element = [&]<std::size_t k>(std::integral_constant<std::size_t, k>, auto* e) {
          return k + kScalars >= K::kIn ? scalars[k] : half(e[i].v);
        };
        return K::apply(element(std::integral_constant<std::size_t, I>{}, x)..., p[P]...);
      };
      const std::int64_t pairs = n / 2;  // in the loop UBSan's check would come before the pragma
#pragma GCC ivdep
      for (std::int64_t i = 0; i < pairs; ++i) {
        const auto low = results(Bfloat16Pair::low, i), high = results(Bfloat16Pair::high, i);
        ((y[O][i].v = Bfloat16Pair::of(low.of[O], high.of[O])), ...);
      }
    };
    run(static_cast<const Bfloat16Pair::Bits*>(in[I])...);
    if (n % 2 == 0) return;
    const auto last =
        K::apply((I + kScalars >= K::kIn ? scalars[I]
                                         : load(static_cast<const bfloat16*>(in[I]) + n - 1))...,
                 p[P]...);
    (store(static_cast<bfloat16*>(out[O]) + n - 1, last.of[O]), ...);
  }(std::make_index_sequence<K::kIn>{}, std::make_index_sequence<K::kOut>{},
    std::make_index_sequence<Traits<Op>::parameters>{});
}

}  // namespace rushlight
