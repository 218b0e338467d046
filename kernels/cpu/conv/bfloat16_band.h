// What convolutions of bfloat16 read, packed: two channels zipped into pairs, the rows that a band
// of results reads with their margins, one plane for each phase of the stride.
#pragma once
#include "bfloat16.h"
#include "kernels/cpu/linalg/amx.h"

namespace rushlight::conv {

inline constexpr Index kPixels = 32, kHeight = 12, kTiledHeight = 2 * amx::kTile;

// Pairs of channels, `each` at once in `lots` of instructions; the last lot may be filled up.
struct Depth {
  bool is_tiled;
  Index lots, each;
  explicit Depth(Index channels) {
    const Index pairs = (channels + 1) / 2;
    is_tiled = amx::is_available() && pairs >= 4;
    lots = is_tiled ? (pairs + amx::kTile - 1) / amx::kTile : pairs;
    each = lots ? (pairs + lots - 1) / lots : 1;
  }
  Index pairs() const { return lots * each; }
};

// Output channels, in registers those of like heights; weights of `rows` are stored.
struct Block {
  Index first, height, rows;
};
std::vector<Block> blocks_of(Index out, bool is_tiled);

// For each block [row of taps][tap][lot][output channel][pair of the lot].
void pack_weights(const Correlation& s, const Depth& depth, const std::vector<Block>& blocks,
                  const bfloat16* w, Pair* to);

struct Run {
  Index from, to, n;
};

// What outputs [q0, q1) of an axis read: place i of phase f is input i * step + f + base.
struct Reach {
  Index in, step, base, size;
  Reach(const Axis& x, Index q0, Index q1)
      : in(x.in), step(x.step), base(q0 * step), size(q1 - q0) {
    if (x.shift.empty()) return;
    base += x.shift.front();
    size += (x.shift.back() - x.shift.front()) / step;
  }
  std::pair<Index, Index> inside(Index phase) const {
    const auto from = [&](Index input) {  // the first place that is not before it
      return std::clamp<Index>((std::max<Index>(input - phase - base, 0) + step - 1) / step, 0,
                               size);
    };
    return {from(0), from(in)};
  }
};

// Output rows [r0, r1) of one image.
struct Band {
  const Correlation& s;
  Depth depth;
  Index r0, r1;
  Reach rows, cols;
  Index width, phases, plane;
  Band(const Correlation& shape, Index from, Index to)
      : s(shape),
        depth(shape.c),
        r0(from),
        r1(to),
        rows(s.rows, from, to),
        cols(s.cols, 0, s.cols.out),
        width(cols.size),
        phases(rows.step * cols.step),
        plane(rows.size * width + kPixels) {}
  Index pairs() const { return depth.pairs(); }

  // [pair of channels][phase][row][column]
  void pack(const bfloat16* x, Pair* to) const;
  // Of each tap and lot, from a pixel's place in the first plane.
  std::vector<int> offsets() const;
  // Which of the pixels [q, q + 32) are results, and where those are in the plane of a channel.
  int runs(Index q, Run* to) const;

 private:
  void bring_together(const bfloat16* row, Pair* pixels) const;  // of one group, in whole pairs
};

}  // namespace rushlight::conv
