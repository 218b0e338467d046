// Blocks of 32 queries by 32 keys or features: their sums are written to where the softmax, or the
// next block of keys, reads them.
#include "attention_bfloat16.h"

#include <algorithm>

#include "kernels/host_device.h"
#include "linalg/amx.h"
#include "linalg/rounded_gemm.h"
#include "linalg/strided_matrix.h"

namespace rushlight::attention {
namespace {

using amx::kTile;
using Index = std::int64_t;
using Pair = Bfloat16Pair;
constexpr Index kWide = kPairColumns, kFewQueries = 16, kLeast = 65536;  // products

Index panels_of(Index n) { return (n + kWide - 1) / kWide; }

// 32 rows of `pairs` each, by `lots` of 16 pairs of a panel.
void multiply(const Pair* rows, Index count, Index pairs, const Pair* panel, Index lots,
              float* sums) {
  amx::multiply({{rows, count > kTile ? rows + kTile * pairs : nullptr},
                 {},
                 pairs * Index(sizeof(Pair)),
                 kTile * Index(sizeof(Pair)),
                 panel,
                 kWide * Index(sizeof(Pair)),
                 amx::kPanelOffsets.data(),
                 lots,
                 sums,
                 false,
                 panel,
                 0});
}

CLONES_512 void put(const float* sums, Index rows, Index columns, float factor, bool adds,
                    float* out, Index ld) {
  for (Index r = 0; r < rows; ++r, sums += kWide, out += ld)
    if (adds)
      for (Index c = 0; c < columns; ++c) out[c] += factor * sums[c];
    else
      for (Index c = 0; c < columns; ++c) out[c] = factor * sums[c];
}

}  // namespace

bool multiplies_in_bfloat16(const AttentionShape& s) {
  return amx::is_available() && s.l >= kFewQueries && s.e <= amx::kMostLots * kWide &&
         s.l * s.s * (s.e + s.v) >= kLeast;
}

Bfloat16Head::Bfloat16Head(const AttentionShape& s)
    : s_(s),
      features_(rounded_up((s.e + 1) / 2, kTile)),
      keys_(rounded_up((s.s + 1) / 2, kTile)),
      k_(std::size_t(panels_of(s.s) * kWide * features_)),
      v_(std::size_t(panels_of(s.v) * kWide * keys_)) {}

void Bfloat16Head::pack(Matrix<const bfloat16> k, Matrix<const bfloat16> v) {
  pack_panels({k.data, s_.s, s_.e, k.ld, 1}, 0, panels_of(s_.s), features_, k_.data());
  pack_panels({v.data, s_.v, s_.s, 1, v.ld}, 0, panels_of(s_.v), keys_, v_.data());
}

void Bfloat16Head::logits(Matrix<const bfloat16> q, Index queries, Index key, Index keys,
                          float* to) const {
  Scratch<Pair> rows(std::size_t(rounded_up(queries, kWide) * features_));
  pack_pairs({q.data, queries, s_.e, q.ld, 1}, 0, queries, features_, rows.data());
  std::fill(rows.data() + queries * features_, rows.data() + rows.size(), Pair(0));
  alignas(64) float sums[kWide * kWide];
  const amx::Tiles tiles(kTile);
  for (Index c = 0; c < keys; c += kWide)
    for (Index r = 0; r < queries; r += kWide) {
      const Index count = std::min(kWide, queries - r);
      multiply(rows.data() + r * features_, count, features_, k_.data() + (key + c) * features_,
               features_ / kTile, sums);
      put(sums, count, std::min(kWide, keys - c), float(s_.scale), false, to + r * keys + c, keys);
    }
}

void Bfloat16Head::average(const float* weights, Index queries, Index key, Index keys, bool adds,
                           Matrix<float> out) const {
  const Index pairs = rounded_up((keys + 1) / 2, kTile);
  Scratch<Pair> rows(std::size_t(rounded_up(queries, kWide) * pairs));
  pack_rounded({weights, keys}, queries, keys, pairs, rows.data());
  alignas(64) float sums[kWide * kWide];
  const amx::Tiles tiles(kTile);
  for (Index c = 0; c < s_.v; c += kWide)
    for (Index r = 0; r < queries; r += kWide) {
      const Index count = std::min(kWide, queries - r);
      multiply(rows.data() + r * pairs, count, pairs, v_.data() + c * keys_ + key / 2 * kWide,
               pairs / kTile, sums);
      put(sums, count, std::min(kWide, s_.v - c), 1, adds, out.data + r * out.ld + c, out.ld);
    }
}

}  // namespace rushlight::attention
