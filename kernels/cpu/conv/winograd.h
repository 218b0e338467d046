// Winograd's minimal filtering F(2x2, 3x3): 2 x 2 results of a kernel of 3 x 3 take 16 products in
// place of 36, with sums and differences before and after them (Lavin and Gray, 2015, "Fast
// Algorithms for Convolutional Neural Networks"). Channels lie innermost, in panels of 16.
#pragma once
#include <algorithm>

#include "plan.h"

namespace rushlight::conv {

inline constexpr Index kFrequencies = 16;  // products of a tile
inline constexpr Index kTileIn = 4, kTileOut = 2;  // rows and columns of a tile
// Elements between frequencies, so that they begin in different sets of a cache.
inline constexpr Index kWinogradGap = 16;

// Each goes through `panels` panels of 16 channels; `frequency`: elements from one of the 16
// products to the next.
struct WinogradTransforms {
  // A tile of 4 x 4 pixels: `rows` are four rows of pixels, [pixel][channel].
  void (*input)(const float* const* rows, Index pixel, Index panels, float* to, Index panel,
                Index frequency);
  // Vectors of 16, `tap` elements from tap to tap; n kernels, `step` apart, become [n][16].
  void (*weights)(const float* taps, Index tap, Index step, Index n, float* to, Index frequency);
  // Two pixels of two rows, [pixel][channel]. `check` holds 16 zeros, NaN after what is not finite.
  void (*output)(const float* sums, Index frequency, const float* bias, Index panels,
                 float* const* rows, Index pixel, float* check);
  // The gradients of the last two.
  void (*grad_output)(const float* const* rows, Index pixel, Index panels, float* to,
                      Index frequency);
  void (*grad_weights)(const float* sums, Index frequency, Index panels, float* taps, Index tap);
};
const WinogradTransforms& winograd_transforms();

// Tiles that cover rows of results, two at a time, of one image after another.
struct WinogradTiles {
  Index across;  // tiles in a row
  explicit WinogradTiles(const Axis& cols) : across((cols.out + 1) / kTileOut) {}
  Index pixels() const { return kTileOut * across + kTileIn - kTileOut; }  // that a row reads
};

// Rows of an image as [pixel][channel], as far as tiles read, with zeros where they leave it. Four
// of them at a time; those that two rows of tiles share are kept.
class WinogradRows {
 public:
  WinogradRows(const Correlation& s, const WinogradTiles& tiles);
  // The four rows from the one on that result `h` reads first; again: two of them are there.
  void load(const float* x, Index image, Index h, bool again);
  const float* row(Index i) const { return rows_[i]; }

 private:
  void fill(const float* x, Index image, Index y, float* to) const;

  const Correlation& s_;
  Index pixels_, size_;
  Scratch<float> all_;
  float* rows_[kTileIn];
};

// Whether a kernel of 3 x 3 pixels, one next to another, is taken so: where panels of channels are
// full, and the products that are saved are worth the transforms.
bool suits_winograd(const Correlation& s);
// False where a result is not finite: then it is to be computed again, by products of elements,
// which an infinity meets one by one.
bool correlate_winograd(const Correlation& s, const float* x, const float* w, float* y);
// The same of the weight gradient; false also where the shape does not suit.
bool winograd_weight_gradient(const ConvShape& s, const Steps& from, const Steps& to,
                              const float* x, const float* grad, float* grad_weight);

}  // namespace rushlight::conv
