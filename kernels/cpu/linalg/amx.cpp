// The intrinsics of tiles take the numbers of registers as constants: 0 to 3 hold the sums, 4 and 5
// rows, 6 and 7 columns.
#include "amx.h"

#include <algorithm>

#include "bfloat16_product.h"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace rushlight::amx {

#if defined(__x86_64__) && defined(__linux__)
namespace {

// Linux saves the tiles of a process that has asked for them (its documentation, x86/xstate).
constexpr long kRequestPermission = 0x1023, kTileData = 18;

bool request() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kTiles = 1u << 24, kBfloat16 = 1u << 22;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(d & kTiles) || !(d & kBfloat16)) return false;
  return multiplies_bfloat16() && syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

struct alignas(64) Configuration {
  std::uint8_t palette = 1, start = 0, reserved[14] = {};
  std::uint16_t bytes[16] = {};  // of a row of each register
  std::uint8_t rows[16] = {};
};

// gcc 12's intrinsics do not say which memory they read: all that was written to `data` is there
// from here on.
[[gnu::always_inline]] inline void read_by_assembly(const void* data) {
  asm volatile("" ::"r"(data) : "memory");
}
[[gnu::target("amx-tile")]] void load(const Configuration& c) {
  read_by_assembly(&c);
  _tile_loadconfig(&c);
}
[[gnu::target("amx-tile")]] void release() { _tile_release(); }

template <bool Two>
[[gnu::always_inline, gnu::target("amx-tile,amx-bf16")]] inline void add_lot(
    const char* first, const char* second, std::int64_t step, const std::uint32_t* right,
    std::int64_t right_step) {
  _tile_loadd(4, first, step);
  _tile_loadd(6, right, right_step);
  _tile_dpbf16ps(0, 4, 6);
  _tile_loadd(7, right + kTile, right_step);
  _tile_dpbf16ps(1, 4, 7);
  if constexpr (Two) {
    _tile_loadd(5, second, step);
    _tile_dpbf16ps(3, 5, 7);
    _tile_dpbf16ps(2, 5, 6);
  }
}

template <bool Two>
[[gnu::target("amx-tile,amx-bf16")]] void run(const Block& b) {
  constexpr std::int64_t kRowOfSums = 2 * kTile * std::int64_t(sizeof(float));
  float* const below = b.sums + 2 * kTile * kTile;
  read_by_assembly(b.right);
  if (b.adds) {
    _tile_loadd(0, b.sums, kRowOfSums);
    _tile_loadd(1, b.sums + kTile, kRowOfSums);
    if constexpr (Two) {
      _tile_loadd(2, below, kRowOfSums);
      _tile_loadd(3, below + kTile, kRowOfSums);
    }
  } else {
    _tile_zero(0);
    _tile_zero(1);
    if constexpr (Two) {
      _tile_zero(2);
      _tile_zero(3);
    }
  }
  const auto* first = static_cast<const char*>(b.left[0]);
  const auto* second = static_cast<const char*>(b.left[1]);
  const std::int64_t whole = b.chunks - (b.tail[0] != nullptr);
  const std::int64_t rows = whole ? (b.written_rows + whole - 1) / whole : 0;  // with each lot
  for (std::int64_t i = 0; i < whole; ++i) {
    for (std::int64_t row = i * rows; row < std::min((i + 1) * rows, b.written_rows); ++row)
      __builtin_prefetch(b.written + row * b.written_step, 1);
    for (std::int64_t line = 0; line < b.lines; ++line)
      __builtin_prefetch(b.ahead + (i * b.lines + line) * kTile, 0, 2);
    const std::int64_t at = b.left_offsets ? b.left_offsets[i] : i * b.left_chunk;
    add_lot<Two>(first + at, second + at, b.left_step, b.right + b.offsets[i], b.right_step);
  }
  if (whole < b.chunks)
    add_lot<Two>(static_cast<const char*>(b.tail[0]), static_cast<const char*>(b.tail[1]), 64,
                 b.right + b.offsets[whole], b.right_step);
  _tile_stored(0, b.sums, kRowOfSums);
  _tile_stored(1, b.sums + kTile, kRowOfSums);
  if constexpr (Two) {
    _tile_stored(2, below, kRowOfSums);
    _tile_stored(3, below + kTile, kRowOfSums);
  }
}

}  // namespace

bool is_available() {
  static const bool available = request();
  return available;
}

Tiles::Tiles(std::int64_t pairs) {
  Configuration c;
  for (int i = 0; i < 8; ++i) c.rows[i] = kTile, c.bytes[i] = 4 * kTile;
  c.bytes[4] = c.bytes[5] = std::uint16_t(4 * pairs);
  c.rows[6] = c.rows[7] = std::uint8_t(pairs);
  load(c);
}
Tiles::~Tiles() { release(); }

void multiply(const Block& block) { block.left[1] ? run<true>(block) : run<false>(block); }
#else
bool is_available() { return false; }
Tiles::Tiles(std::int64_t) {}
Tiles::~Tiles() {}
void multiply(const Block&) {}
#endif

}  // namespace rushlight::amx
