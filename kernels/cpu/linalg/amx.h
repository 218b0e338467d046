// The processor's tiles of bfloat16 (Intel's AMX): 16 rows by 16 columns of float sums, to which
// one instruction adds the products of 16 rows by 16 pairs and of 16 pairs by 16 columns.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace rushlight::amx {

inline constexpr std::int64_t kTile = 16;  // rows, columns and pairs of a tile

bool is_available();  // whether the processor has tiles, and the system lends them

// The calling thread's tiles while it lives, for `pairs` of the depth at a time, at most 16.
class Tiles {
 public:
  explicit Tiles(std::int64_t pairs);
  ~Tiles();
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;
};

// sums[32][32] of one or two times 16 rows, and 32 columns.
struct Block {
  const void* left[2];       // 16 rows of pairs each; the second may be null
  const void* tail[2];       // the same of the last lot, 64 bytes from row to row, or null
  std::int64_t left_step;    // bytes from row to row
  std::int64_t left_chunk;   // bytes from one lot of pairs to the next, unless left_offsets say
  const std::uint32_t* right;  // 32 columns of pairs
  std::int64_t right_step;   // bytes from pair to pair of the depth
  const int* offsets;        // where each lot of pairs begins in `right`
  std::int64_t chunks;       // lots
  float* sums;
  bool adds;  // to what `sums` holds
  const std::uint32_t* ahead;  // what is read next, `lines` of the cache for each lot of pairs
  std::int64_t lines;
  const int* left_offsets = nullptr;  // bytes to where each lot begins in `left`
  const char* written = nullptr;      // what is written next, a line in each of so many rows
  std::int64_t written_step = 0, written_rows = 0;
};
void multiply(const Block& block);  // with Tiles alive

// Where lots of 16 pairs begin in a panel of [pair][32].
inline constexpr std::int64_t kMostLots = 48;
inline constexpr auto kPanelOffsets = [] {
  std::array<int, kMostLots> all{};
  for (int i = 0; i < kMostLots; ++i) all[std::size_t(i)] = i * int(2 * kTile * kTile);
  return all;
}();

}  // namespace rushlight::amx
