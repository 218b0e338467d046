// Correlation by Winograd's tiles: some rows of tiles at a time, as many as the second cache holds
// with their products, are transformed, multiplied by the weights and transformed back.
#include "winograd.h"

#include <atomic>

#include "kernels/cpu/transpose.h"
#include "kernels/parallel.h"

namespace rushlight::conv {
namespace {

constexpr Index kNearBytes = 512 << 10;
constexpr Index kMostBytes = 8 << 20;  // of one row of tiles
constexpr Index kMostWeights = 64 << 20;  // bytes, as long as a convolution takes
constexpr Index kFewestAtOnce = 28;    // tiles, for each reading of the weights

// Pixels [0, n) of a row of results, from [pixel][channel].
void store_row(const Correlation& s, const float* from, float* to) {
  if (s.to.channel != 1) return transpose(from, s.out, s.cols.out, s.out, to, s.to.channel);
  if (s.to.pixel == s.out) return void(std::copy_n(from, s.cols.out * s.out, to));
  for (Index q = 0; q < s.cols.out; ++q) std::copy_n(from + q * s.out, s.out, to + q * s.to.pixel);
}

class Filter {
 public:
  Filter(const Correlation& s, const float* w)
      : s_(s),
        tiles_(s.cols),
        down_((s.rows.out + 1) / kTileOut),
        panels_(s.out / kPanel),
        frequency_(s.c * s.out + kWinogradGap),
        weights_(std::size_t(kFrequencies * frequency_)),
        bias_(padded_bias(s, kPanel)) {
    parallel_for(panels_, 1 + 65536 / (s.c * kPanel), [&](Index begin, Index end) {
      for (Index b = begin; b < end; ++b) transform_weights(w, b);
    });
  }

  bool run(const float* x, float* y) const {
    const Index row = kFrequencies * tiles_.across * (s_.c + s_.out) * Index(sizeof(float));
    const Index all = s_.n * down_, threads = num_threads();
    Index chunk = std::max({Index(1), kNearBytes / row, kFewestAtOnce / tiles_.across});
    if (all < chunk * threads) chunk = (all + threads - 1) / threads;
    const Index chunks = (all + chunk - 1) / chunk;
    std::atomic<bool> is_finite = true;
    parallel_for(chunks, 1, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i)
        if (!some(x, all * i / chunks, all * (i + 1) / chunks, y)) is_finite = false;
    });
    return is_finite;
  }

 private:
  // Those of 16 results, some input channels at a time.
  void transform_weights(const float* w, Index panel) {
    constexpr Index kTaps = 9, kKernel = kTaps * kPanel;
    const float* const from = w + panel * kPanel * s_.w_out;
    const bool reversed = s_.rows.tap[0] > 0;
    Scratch<float> kernels(std::size_t(kPanel * kKernel));  // [c][tap][16]
    for (Index c = 0; c < s_.c; c += kPanel) {
      if (s_.w_in == kTaps)
        transpose(from + c * kTaps, s_.w_out, kPanel, kKernel, kernels.data(), kPanel);
      for (Index i = 0; i < kPanel && s_.w_in != kTaps; ++i)
        transpose(from + (c + i) * s_.w_in, s_.w_out, kPanel, kTaps, kernels.data() + i * kKernel,
                  kPanel);
      winograd_transforms().weights(kernels.data() + (reversed ? (kTaps - 1) * kPanel : 0),
                                    reversed ? -kPanel : kPanel, kKernel, kPanel,
                                    weights_.data() + (panel * s_.c + c) * kPanel, frequency_);
    }
  }

  // Rows [begin, end) of tiles of all images.
  bool some(const float* x, Index begin, Index end, float* y) const {
    const Index count = (end - begin) * tiles_.across;
    const Index in = count * s_.c + kWinogradGap, result = count * s_.out + kWinogradGap;
    Scratch<float> from(std::size_t(kFrequencies * in)), sums(std::size_t(kFrequencies * result));
    transform_rows(x, begin, end, from.data(), in);
    multiply(from.data(), in, count, sums.data(), result);
    return store_rows(sums.data(), result, begin, end, y);
  }

  void transform_rows(const float* x, Index begin, Index end, float* to, Index frequency) const {
    WinogradRows rows(s_, tiles_);
    const Index panel = (end - begin) * tiles_.across * kPanel;
    for (Index r = begin; r < end; ++r) {
      rows.load(x, r / down_, r % down_ * kTileOut, r > begin && r % down_ > 0);
      for (Index t = 0; t < tiles_.across; ++t, to += kPanel) {
        const float* at[kTileIn];
        for (Index i = 0; i < kTileIn; ++i) at[i] = rows.row(i) + t * kTileOut * s_.c;
        winograd_transforms().input(at, s_.c, s_.c / kPanel, to, panel, frequency);
      }
    }
  }

  // [tile][out] of each frequency, from [panel][tile][16].
  void multiply(const float* from, Index in, Index count, float* sums, Index result) const {
    static constexpr float kZeros[2 * kPanel] = {};
    const Tiles& t = tiles();
    const Index parts = (count + t.p - 1) / t.p, panel = s_.c * kPanel;
    std::vector<int> off;
    for (Index i = 0; i < s_.c / kPanel; ++i) off.push_back(int(i * count * kPanel));
    for (Index f = 0; f < kFrequencies; ++f)
      for (Index b = 0; b < panels_; b += t.panels) {
        const Index v = std::min(t.panels, panels_ - b);
        for (Index i = 0; i < parts; ++i) {
          const Index p0 = count * i / parts, p = count * (i + 1) / parts - p0;
          t.pixel_tile[v - 1][p - 1]({from + f * in + p0 * kPanel, off.data(), s_.c / kPanel,
                                      kPanel, kPanel, weights_.data() + f * frequency_ + b * panel,
                                      panel, sums + f * result + p0 * s_.out + b * kPanel, s_.out,
                                      kZeros, kPanel});
        }
      }
  }

  bool store_rows(const float* sums, Index frequency, Index begin, Index end, float* y) const {
    const Index width = kTileOut * tiles_.across * s_.out;
    Scratch<float> rows(std::size_t(kTileOut * width));
    float check[kPanel] = {};
    for (Index r = begin; r < end; ++r) {
      for (Index t = 0; t < tiles_.across; ++t, sums += s_.out) {
        float* const at[] = {rows.data() + t * kTileOut * s_.out,
                             rows.data() + width + t * kTileOut * s_.out};
        winograd_transforms().output(sums, frequency, bias_.data(), panels_, at, s_.out, check);
      }
      const Index h = r % down_ * kTileOut;
      float* const image = y + r / down_ * s_.to.image;
      for (Index i = 0; i < std::min(kTileOut, s_.rows.out - h); ++i)
        store_row(s_, rows.data() + i * width, image + s_.stored(h + i, 0));
    }
    return std::all_of(check, check + kPanel, [](float v) { return v == 0; });
  }

  const Correlation& s_;
  WinogradTiles tiles_;
  Index down_, panels_, frequency_;
  Scratch<float> weights_;  // [frequency][panel][c][16]
  std::vector<float> bias_;
};

// Three taps, one after another.
bool is_three(const Axis& x) {
  return x.step == 1 && x.pitch == 1 && x.shift.size() == 3 && x.shift[1] == x.shift[0] + 1 &&
         x.shift[2] == x.shift[0] + 2;
}

}  // namespace

WinogradRows::WinogradRows(const Correlation& s, const WinogradTiles& tiles)
    : s_(s), pixels_(tiles.pixels()), size_(pixels_ * s.c), all_(std::size_t(kTileIn * size_)) {
  for (Index i = 0; i < kTileIn; ++i) rows_[i] = all_.data() + i * size_;
}

void WinogradRows::load(const float* x, Index image, Index h, bool again) {
  constexpr Index kShared = kTileIn - kTileOut;
  if (again) std::rotate(rows_, rows_ + kTileOut, rows_ + kTileIn);
  for (Index i = again ? kShared : 0; i < kTileIn; ++i)
    fill(x, image, h + s_.rows.shift[0] + i, rows_[i]);
}

void WinogradRows::fill(const float* x, Index image, Index y, float* to) const {
  const Index shift = s_.cols.shift[0];
  const Index first = std::clamp<Index>(-shift, 0, pixels_);
  const Index end = std::clamp<Index>(s_.cols.in - shift, first, pixels_);
  if (y < 0 || y >= s_.rows.in) return void(std::fill_n(to, size_, 0.f));
  std::fill(to, to + first * s_.c, 0.f);
  std::fill(to + end * s_.c, to + size_, 0.f);
  pack_row(s_, x, image, y, first + shift, end - first, to + first * s_.c);
}

bool suits_winograd(const Correlation& s) {
  if (!winograd_transforms().input || !is_three(s.rows) || !is_three(s.cols) || s.c % kPanel != 0 ||
      s.out % kPanel != 0)
    return false;
  const Index across = WinogradTiles(s.cols).across, down = (s.rows.out + 1) / kTileOut;
  const Index size = kFrequencies * Index(sizeof(float));
  if (size * across * (s.c + s.out) > kMostBytes || s.c * s.out > kMostWeights / size) return false;
  // In products. Measured: the transforms of a channel's tile are worth 192 of them, those of a
  // weight 512.
  const double tiles = double(s.n) * double(across) * double(down);
  const double channels = double(s.c), out = double(s.out);
  const double transforms = 192 * tiles * (channels + out) + 512 * channels * out;
  const double pixels = double(s.n) * double(s.rows.out) * double(s.cols.out);
  return kFrequencies * tiles * channels * out + transforms < 9 * pixels * channels * out;
}

bool correlate_winograd(const Correlation& s, const float* x, const float* w, float* y) {
  return Filter(s, w).run(x, y);
}

}  // namespace rushlight::conv
