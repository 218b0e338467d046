// Long serial loops that answer Ctrl-C. parallel_for checks between its chunks; what runs in one
// piece checks through these.
#pragma once
#include <algorithm>

#include "kernels/parallel.h"

namespace rushlight {

// Calls f(begin, end) for one piece of [0, n) after another.
template <class F>
void serial_for(std::int64_t n, F&& f) {
  constexpr std::int64_t kPiece = 1 << 16;
  for (std::int64_t begin = 0; begin < n; begin += kPiece) {
    f(begin, std::min(n, begin + kPiece));
    if (n - begin > kPiece) check_interrupt();  // it reads the clock: lines may be short
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
