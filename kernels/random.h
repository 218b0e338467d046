// The state of a random number stream and what a device can fill from it. Note: on
// the CPU the numbers and the count of draws are torch 2.13's, dtype by dtype; tests compare them.
#pragma once
#include "view.h"

namespace rushlight {

inline constexpr int kEngineWords = 624;
inline constexpr std::uint64_t kDefaultSeed = 67280421310721;  // of a generator that was not seeded

// mt19937 and the two normal numbers that a draw of a pair may leave over.
struct RandomState {
  std::uint64_t seed = 0;
  std::uint32_t words[kEngineWords] = {};
  std::int32_t next = kEngineWords;  // words used of this block; all of them: twist first
  bool fresh = true;  // seeded and not twisted yet: torch's format tells them apart
  bool has_double = false, has_float = false;
  double next_double = 0;
  float next_float = 0;

  explicit RandomState(std::uint64_t s = kDefaultSeed) : seed(s) {
    words[0] = static_cast<std::uint32_t>(s);
    for (std::uint32_t i = 1; i < kEngineWords; ++i)
      words[i] = 1812433253u * (words[i - 1] ^ words[i - 1] >> 30) + i;
  }
};

// Laws of one or two parameters for each element. gamma: a shape. poisson: a rate. binomial: tries
// and the chance of each. gamma_slope draws nothing: the derivative of a draw by its shape, of
// both.
enum class Law : unsigned char { gamma, poisson, binomial, gamma_slope };

// Fills go in torch's order: along the memory for a dense tensor, else from the largest stride to
// the smallest. An empty `out` draws nothing.
struct RandomKernels {
  void (*uniform)(const View& out, double from, double to, RandomState&);
  void (*normal)(const View& out, double mean, double std, RandomState&);
  // base + x % range; a range of 0 means 2^64.
  void (*integers)(const View& out, std::int64_t base, std::uint64_t range, RandomState&);
  // The non-negative integers that the dtype holds exactly.
  void (*natural)(const View& out, RandomState&);
  void (*permutation)(const View& out, RandomState&);  // of 0..numel-1, rank 1
  void (*bernoulli)(const View& out, double p, RandomState&);
  // p has the sizes of out and holds numbers in [0, 1].
  void (*bernoulli_each)(const View& out, const View& p, RandomState&);
  // noise = bernoulli(keep) / keep, out = input * noise; one dtype, equal strides, dense.
  void (*dropout)(const View& out, const View& noise, const View& input, double keep, RandomState&);
  // noise = a draw of U(lower, upper) where input <= 0, else 1; one dtype, both dense and
  // row-major.
  void (*slopes)(const View& noise, const View& input, double lower, double upper, RandomState&);
  void (*exponential)(const View& out, double lambda, RandomState&);
  void (*geometric)(const View& out, double p, RandomState&);
  void (*log_normal)(const View& out, double mean, double std, RandomState&);
  void (*cauchy)(const View& out, double median, double sigma, RandomState&);
  // Draws out[r][j] among the columns of p[r][.], both rank 2. Returns a row whose numbers are no
  // distribution (then out is not written), or -1.
  std::int64_t (*multinomial)(const View& out, const View& p, RandomState&);
  // One dtype, dense, equal strides; b is a where the law has one parameter.
  void (*drawn)(Law, const View& out, const View& a, const View& b, RandomState&);
};
extern const RandomKernels cpu_random;

}  // namespace rushlight
