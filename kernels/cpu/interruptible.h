// Long serial loops that answer Ctrl-C. parallel_for checks between its chunks; what runs in one
// piece checks through these.
#pragma once
#include <algorithm>

#include "kernels/parallel.h"

namespace rushlight {

// Calls f(begin, end) for one piece of [0, n) after another.
template <class F>
[[gnu::always_inline]] inline void serial_for(std::int64_t n, F&& f) {
  constexpr std::int64_t kPiece = 1 << 16;
  for (std::int64_t begin = 0; begin < n;) {
    const std::int64_t end = std::min(n, begin + kPiece);
    f(begin, end);
    if (end == n) return;  // a check reads the clock, and lines may be short
    check_interrupt();
    begin = end;
  }
}

// Calls f(i) for each row i, of few elements: of a small function, whose loops have no calls.
template <class F>
[[gnu::always_inline]] inline void each_row(std::int64_t rows, const F& f) {
  constexpr std::int64_t kRows = 4096;
  for (std::int64_t first = 0; first < rows; first += kRows) {
    if (first > 0) check_interrupt();
    const std::int64_t past = std::min(rows, first + kRows);
    for (std::int64_t i = first; i < past; ++i) f(i);
  }
}

// Counts work where there are no pieces: inside comparisons, or runs of runs.
class Interruptible {
 public:
  void done(std::int64_t items) {
    left_ -= items;
    if (left_ >= 0) return;
    left_ = kItems;
    check_interrupt();
  }

 private:
  static constexpr std::int64_t kItems = 1 << 20;
  std::int64_t left_ = kItems;
};

}  // namespace rushlight
