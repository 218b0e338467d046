// The left operand is transposed into scratch memory, as the tiles broadcast neighbouring rows; it
// is small beside the product. Each tile's rows lie by themselves: with the panel they fit the
// nearest cache.
#include "step_product.h"

#include <algorithm>

#include "amx.h"
#include "kernels/cpu/scratch.h"
#include "kernels/cpu/transpose.h"
#include "register_tile.h"
#include "rounded_gemm.h"
#include "tile_kernel.h"

namespace rushlight {
namespace {

using Index = std::int64_t;
constexpr Index kFewRows = 2;  // fewer: no packing, as the product reads the weight only once
constexpr Index kNearby = Index(1) << 17;  // floats of the left operand

// Columns of a panel: the tile of AVX-512 reads two vectors of them side by side.
Index panel_width() { return uses_wide_vectors() ? 2 * kPanel : kPanel; }

// Panels of [k][width]; the last one may be narrower, a multiple of 16 too.
void pack(Index k, Index n, Matrix<const float> right, float* packed) {
  const Index most = panel_width();
  for (Index first = 0; first < n; first += most) {
    const Index lanes = std::min(most, n - first), width = rounded_up(lanes, kPanel);
    float* to = packed + first * k;
    if (lanes < width) std::fill_n(to, width * k, 0.f);
    if (right.transposed)
      transpose(right.data + first * right.ld, right.ld, lanes, k, to, width);
    else
      for (Index i = 0; i < k; ++i)
        std::copy_n(right.data + i * right.ld + first, lanes, to + i * width);
  }
}

Index height_of(Index rows) {  // of tiles of nearly equal heights
  const Index count = (rows + tiles().p - 1) / tiles().p;
  return (rows + count - 1) / count;
}

Index pairs_of(Index k) { return rounded_up((k + 1) / 2, amx::kTile); }

}  // namespace

template <class T>
bool StepProduct<T>::packs(Index k, const StepUse& use) {
  return std::is_same_v<T, float> && use.rows >= kFewRows && use.steps >= 2 &&
         k <= kNearby / use.rows;
}

template <class T>
bool StepProduct<T>::rounds(Index k, const StepUse& use) {
  return use.rounded && packs(k, use) && amx::is_available() &&
         pairs_of(k) <= amx::kMostLots * amx::kTile;
}

template <class T>
StepProduct<T>::StepProduct(Index k, Index n, Matrix<const T> right, const StepUse& use,
                            const T* bias)
    : k_(k), n_(n), right_(right) {
  if constexpr (std::is_same_v<T, float>) {
    if (rounds(k, use)) {
      const Index pairs = pairs_of(k);
      pairs_.emplace(std::size_t(rounded_up(n, kPairColumns) * pairs));
      for (Index c = 0; c < n; c += kPairColumns)
        pack_panel(right, c, n, k, pairs, pairs_->data() + c * pairs);
      if (bias) bias_.assign(bias, bias + n);
    } else if (packs(k, use)) {
      packed_.emplace(std::size_t(rounded_up(n, kPanel) * k));
      pack(k, n, right, packed_->data());
      bias_.resize(std::size_t(rounded_up(n, kPanel)));
      if (bias) std::copy_n(bias, n, bias_.data());
      ld_ = height_of(use.rows);
      offsets_.resize(std::size_t(k));
      for (Index i = 0; i < k; ++i) offsets_[std::size_t(i)] = int(i * ld_);
    }
  }
}

template <class T>
void StepProduct<T>::run(std::span<const StepRows<T>> steps, Index ldl, T beta, Index ldo) const {
  if (pairs_) {
    run_rounded(steps, ldl, beta != 0, ldo);
  } else if (!packed_) {
    for (const StepRows<T>& s : steps)
      gemm<T>(s.rows, n_, k_, T(1), {s.left, ldl}, right_, beta, {s.out, ldo});
  } else if constexpr (std::is_same_v<T, float>) {
    Index count = 0;
    for (const StepRows<T>& s : steps) count += (s.rows + ld_ - 1) / ld_;
    Scratch<float> transposed(std::size_t(count * k_ * ld_));
    float* to = transposed.data();
    for (const StepRows<T>& s : steps)
      for (Index row = 0; row < s.rows; row += ld_, to += k_ * ld_)
        transpose(s.left + row * ldl, ldl, std::min(ld_, s.rows - row), k_, to,
                  panel_width() > kPanel ? std::min(ld_, s.rows - row) : ld_);
    run_panels(steps, transposed.data(), beta != 0, ldo);
  }
}

#if defined(__x86_64__)
template <class T>
void StepProduct<T>::run_wide_panels(std::span<const StepRows<T>> steps, const float* transposed,
                                     bool adds, Index ldo) const {
  if constexpr (std::is_same_v<T, float>) {
    const auto sizes = std::make_integer_sequence<int, int(tiled::kRows)>();
    Index count = 0;  // of the tiles of a panel, each of which fetches a part of the next one
    for (const StepRows<T>& s : steps) count += (s.rows + ld_ - 1) / ld_;
    for (Index at = 0, lanes; at < n_; at += lanes) {
      lanes = std::min(n_ - at, 2 * kPanel);
      const Index vectors = (lanes + kPanel - 1) / kPanel;
      const float *const panel = packed_->data() + at * k_, *left = transposed;
      const float* const next = packed_->data() + (at + lanes < n_ ? (at + lanes) * k_ : 0);
      Index tile = 0;
      for (const StepRows<T>& s : steps)
        for (Index row = 0; row < s.rows; row += ld_, left += k_ * ld_) {
          const Index height = std::min(ld_, s.rows - row), width = 2 * kPanel;
          float* const to = s.out + row * ldo + at;
          tiled::pick<float>(sizes, tiled::Order::packed, height,
                             vectors)({.a = left,
                                       .b = panel,
                                       .depth = k_,
                                       .out = to,
                                       .ldo = ldo,
                                       .added = adds ? to : bias_.data() + at,
                                       .ld_added = adds ? ldo : 0,
                                       .alpha = 1,
                                       .beta = 1,
                                       .mask = first_lanes(lanes - (vectors - 1) * kPanel),
                                       .next = next + tile++ * k_ / count * width,
                                       .next_step = width,
                                       .every = count});
        }
    }
  }
}
#else
template <class T>
void StepProduct<T>::run_wide_panels(std::span<const StepRows<T>>, const float*, bool,
                                     Index) const {}
#endif

template <class T>
void StepProduct<T>::run_panels(std::span<const StepRows<T>> steps, const float* transposed,
                                bool adds, Index ldo) const {
  if (panel_width() > kPanel) return run_wide_panels(steps, transposed, adds, ldo);
  if constexpr (std::is_same_v<T, float>) {
    const Tiles& t = tiles();
    Scratch<float> edge(std::size_t(t.p * kPanel));
    for (Index at = 0; at < n_;) {
      const Index whole = (n_ - at) / kPanel, panels = std::clamp<Index>(whole, 1, t.panels);
      const Index lanes = std::min(n_ - at, panels * kPanel);
      const float* left = transposed;
      for (const StepRows<T>& s : steps) {
        for (Index row = 0; row < s.rows; row += ld_, left += k_ * ld_) {
          const Index height = std::min(ld_, s.rows - row);
          float* const to = s.out + row * ldo + at;
          TileArgs args = {left,        offsets_.data(),
                           1,           k_,
                           k_,          packed_->data() + at * k_,
                           k_ * kPanel, to,
                           ldo,         adds ? nullptr : bias_.data() + at};
          if (whole == 0) {  // the tile is wider than what is left
            args.out = edge.data();
            args.ldo = kPanel;
            if (adds)
              for (Index r = 0; r < height; ++r)
                std::copy_n(to + r * ldo, lanes, edge.data() + r * kPanel);
          }
          t.tile[panels - 1][height - 1](args);
          if (whole == 0)
            for (Index r = 0; r < height; ++r)
              std::copy_n(edge.data() + r * kPanel, lanes, to + r * ldo);
        }
      }
      at += lanes;
    }
  }
}

template <class T>
void StepProduct<T>::run_rounded(std::span<const StepRows<T>> steps, Index ldl, bool adds,
                                 Index ldo) const {
  if constexpr (std::is_same_v<T, float>) {
    const Index pairs = pairs_of(k_);
    Index rows = 0;
    for (const StepRows<T>& s : steps) rows += rounded_up(s.rows, kPairColumns);
    Scratch<Bfloat16Pair> left(std::size_t(rows * pairs));
    Bfloat16Pair* to = left.data();
    for (const StepRows<T>& s : steps) {
      pack_rounded({s.left, ldl}, s.rows, k_, pairs, to);
      to += rounded_up(s.rows, kPairColumns) * pairs;
      if (!adds && !bias_.empty())
        for (Index r = 0; r < s.rows; ++r) std::copy_n(bias_.data(), n_, s.out + r * ldo);
    }
    const float beta = adds || !bias_.empty() ? 1.0f : 0.0f;
    const amx::Tiles tiles(amx::kTile);
    for (Index c = 0; c < n_; c += kPairColumns) {
      const Bfloat16Pair* from = left.data();
      for (const StepRows<T>& s : steps) {
        multiply_panel(from, s.rows, pairs, pairs_->data() + c * pairs,
                       std::min(kPairColumns, n_ - c), 1.0f, beta, {s.out + c, ldo});
        from += rounded_up(s.rows, kPairColumns) * pairs;
      }
    }
  }
}

template class StepProduct<float>;
template class StepProduct<double>;

}  // namespace rushlight
