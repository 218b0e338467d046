// Both products of a block have rows that are packed here, of queries or of weights, and panels of
// the head.
#include "attention_bfloat16.h"

#include <algorithm>

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
  const amx::Tiles tiles(kTile);
  for (Index c = 0; c < keys; c += kWide)
    multiply_panel(rows.data(), queries, features_, k_.data() + (key + c) * features_,
                   std::min(kWide, keys - c), float(s_.scale), 0, {to + c, keys});
}

void Bfloat16Head::average(const float* weights, Index queries, Index key, Index keys, bool adds,
                           Matrix<float> out) const {
  const Index pairs = rounded_up((keys + 1) / 2, kTile);
  Scratch<Pair> rows(std::size_t(rounded_up(queries, kWide) * pairs));
  pack_rounded({weights, keys}, queries, keys, pairs, rows.data());
  const amx::Tiles tiles(kTile);
  for (Index c = 0; c < s_.v; c += kWide)
    multiply_panel(rows.data(), queries, pairs, v_.data() + c * keys_ + key / 2 * kWide,
                   std::min(kWide, s_.v - c), 1, adds ? 1 : 0, {out.data + c, out.ld});
}

}  // namespace rushlight::attention
