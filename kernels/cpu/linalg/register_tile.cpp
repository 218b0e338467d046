// The tiles' bodies. Note: they are always_inline into target(...) wrappers, one
// per instruction set; sizes below are what fills each one's registers (measured on Zen 4: 14 x 2
// vectors of 16, 6 x 2 of 8, 3 x 4 of 4).
#include "register_tile.h"

#include <cstdlib>
#include <string_view>
#include <utility>

#include "kernels/cpu/wide_vector.h"

namespace rushlight {
namespace {

template <int W>
struct VectorOf;  // loads and stores may be unaligned
template <>
struct VectorOf<16> {
  using type = float __attribute__((vector_size(64), aligned(4), may_alias));
};
template <>
struct VectorOf<8> {
  using type = float __attribute__((vector_size(32), aligned(4), may_alias));
};
template <>
struct VectorOf<4> {
  using type = float __attribute__((vector_size(16), aligned(4), may_alias));
};
template <class V>
[[gnu::always_inline]] inline V& at(float* p) {
  return *reinterpret_cast<V*>(p);
}
template <class V>
[[gnu::always_inline]] inline const V& at(const float* p) {
  return *reinterpret_cast<const V*>(p);
}

// Of pixels a row's elements lie side by side, from the one offset of the row on.
template <int W, int P, int Panels, bool kPixels = false>
[[gnu::always_inline]] inline void tile(const TileArgs& s) {
  using V = typename VectorOf<W>::type;
  constexpr int kVectors = Panels * int(kPanel) / W;
  const std::int64_t step = kPixels ? s.step : 1;
  V acc[P][kVectors];
#pragma GCC unroll 16
  for (int p = 0; p < P; ++p)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
      acc[p][v] = at<const V>(s.bias ? s.bias + v * W : s.out + p * s.ldo + v * W);
  for (std::int64_t r = 0; r < s.rows; ++r) {
    const int* off = kPixels ? s.off + r : s.off + r * s.ld;
    const float* b = s.b + r * s.ld * kPanel;
    for (std::int64_t k = 0; k < s.n; ++k, b += kPanel) {
      const float* a = kPixels ? s.a + *off + k : s.a + off[k];
      V lanes[kVectors];
      for (int v = 0; v < kVectors; ++v)
        lanes[v] = at<const V>(b + v * W / kPanel * s.panel + v * W % kPanel);
#pragma GCC unroll 16
      for (int p = 0; p < P; ++p)
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) acc[p][v] += a[p * step] * lanes[v];
    }
  }
#pragma GCC unroll 16
  for (int p = 0; p < P; ++p)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) at<V>(s.out + p * s.ldo + v * W) = acc[p][v];
}

template <int W, int P, int Vectors>
[[gnu::always_inline]] inline void channel_tile(const ChannelTileArgs& s) {
  using V = typename VectorOf<W>::type;
  V acc[P][Vectors];
  for (int p = 0; p < P; ++p)
    for (int v = 0; v < Vectors; ++v) acc[p][v] = V{} + s.bias[p];
  const float* w = s.w;
  for (std::int64_t k = 0; k < s.n; ++k, w += P) {
    V lanes[Vectors];
    for (int v = 0; v < Vectors; ++v) lanes[v] = at<const V>(s.x + s.off[k] + v * W);
#pragma GCC unroll 8
    for (int p = 0; p < P; ++p)
#pragma GCC unroll 2
      for (int v = 0; v < Vectors; ++v) acc[p][v] += w[p] * lanes[v];
  }
  for (int p = 0; p < P; ++p)
    for (int v = 0; v < Vectors; ++v) at<V>(s.out + p * s.ldo + v * W) = acc[p][v];
}

#if defined(__x86_64__)
struct Avx512 {
  static constexpr int kWidth = 16, kP = 14, kPanels = 2, kChannels = 8;
  template <int P, int N>
  [[gnu::target("arch=x86-64-v4")]] static void run(const TileArgs& s) {
    tile<16, P, N>(s);
  }
  template <int P, int N>
  [[gnu::target("arch=x86-64-v4")]] static void run_pixels(const TileArgs& s) {
    tile<16, P, N, true>(s);
  }
  template <int P, int N>
  [[gnu::target("arch=x86-64-v4")]] static void run_channels(const ChannelTileArgs& s) {
    channel_tile<16, P, N>(s);
  }
};
struct Avx2 {
  static constexpr int kWidth = 8, kP = 6, kPanels = 1, kChannels = 6;
  template <int P, int N>
  [[gnu::target("arch=x86-64-v3")]] static void run(const TileArgs& s) {
    tile<8, P, N>(s);
  }
  template <int P, int N>
  [[gnu::target("arch=x86-64-v3")]] static void run_pixels(const TileArgs& s) {
    tile<8, P, N, true>(s);
  }
  template <int P, int N>
  [[gnu::target("arch=x86-64-v3")]] static void run_channels(const ChannelTileArgs& s) {
    channel_tile<8, P, N>(s);
  }
};
#endif
struct Baseline {
  static constexpr int kWidth = 4, kP = 3, kPanels = 1, kChannels = 6;
  template <int P, int N>
  static void run(const TileArgs& s) {
    tile<4, P, N>(s);
  }
  template <int P, int N>
  static void run_channels(const ChannelTileArgs& s) {
    channel_tile<4, P, N>(s);
  }
};

template <class Isa, int P, int N>
constexpr Tile pixel_tile() {
  if constexpr (requires(const TileArgs& s) { Isa::template run_pixels<P, N>(s); })
    return Isa::template run_pixels<P, N>;
  else
    return nullptr;
}
template <class Isa, int... P, int... C>
Tiles table(std::integer_sequence<int, P...>, std::integer_sequence<int, C...>) {
  return {Isa::kWidth,
          Isa::kP,
          Isa::kPanels,
          Isa::kChannels,
          {{Isa::template run<P + 1, 1>...}, {Isa::template run<P + 1, Isa::kPanels>...}},
          {{pixel_tile<Isa, P + 1, 1>()...}, {pixel_tile<Isa, P + 1, Isa::kPanels>()...}},
          {{Isa::template run_channels<C + 1, 1>...}, {Isa::template run_channels<C + 1, 2>...}}};
}
template <class Isa>
Tiles table() {
  return table<Isa>(std::make_integer_sequence<int, Isa::kP>(),
                    std::make_integer_sequence<int, Isa::kChannels>());
}

Tiles choose() {
#if defined(__x86_64__)
  const char* forced = std::getenv("RUSHLIGHT_ISA");
  const std::string_view isa = forced ? forced : "";
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (isa.empty() && avx2 && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
    return table<Avx512>();
  if (isa != "baseline" && avx2) return table<Avx2>();
#endif
  return table<Baseline>();
}

}  // namespace

const Tiles& tiles() {
  static const Tiles chosen = choose();
  return chosen;
}

bool uses_wide_vectors() { return tiles().width == 16; }

bool prefers_wide_vectors() {
#if defined(__x86_64__)
  static const bool preferred = uses_wide_vectors() && __builtin_cpu_is("intel");
  return preferred;
#else
  return false;
#endif
}

}  // namespace rushlight
