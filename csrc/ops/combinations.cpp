// Choices of elements of a vector: their indices are counted out on the host, which needs none of
// the values.
#include "core/unlocked.h"
#include "ops/join.h"

namespace rushlight {
namespace {

// How many ways there are to choose r of n; a number too large for memory where it overflows.
std::int64_t choices(std::int64_t n, std::int64_t r) {
  if (r > n) return 0;
  r = std::min(r, n - r);
  std::int64_t count = 1;
  for (std::int64_t i = 0; i < r; ++i) {
    const __int128 next = __int128(count) * (n - i) / (i + 1);
    if (next > std::int64_t(1) << 60) return std::int64_t(1) << 60;
    count = std::int64_t(next);
  }
  return count;
}

// Rows of indices below n in lexical order; each is larger than the one before it, or at least as
// large with `repeats`.
void count_out(std::int64_t* rows, std::int64_t count, std::int64_t n, std::int64_t r,
               bool repeats) {
  const std::int64_t step = repeats ? 0 : 1;
  for (std::int64_t k = 0; k < r; ++k) rows[k] = k * step;
  for (std::int64_t i = 1; i < count; ++i) {
    const std::int64_t* before = rows + (i - 1) * r;
    std::int64_t* row = rows + i * r;
    std::int64_t at = r - 1;  // the last that can grow
    while (at > 0 && before[at] == n - 1 - (r - 1 - at) * step) --at;
    std::copy_n(before, at, row);
    for (std::int64_t k = at; k < r; ++k) row[k] = before[at] + 1 + (k - at) * step;
  }
}

}  // namespace

Tensor combinations(const Tensor& input, std::int64_t r, bool with_replacement) {
  if (input.dim() != 1) fail<RuntimeError>("Expect a 1D vector, but got shape ", input.sizes());
  if (r < 0) fail<RuntimeError>("Expect a non-negative number, but got ", r);
  if (r == 0) return empty({0}, input.dtype(), input.device());
  const std::int64_t n = input.numel();
  const std::int64_t count = !n ? 0 : choices(with_replacement ? checked_add(n, r - 1) : n, r);
  const Tensor rows = empty({count, r}, DType::int64);
  if (count) {
    const View v = view_of(rows);
    const Unlocked unlocked(double(v.numel), {&rows});
    count_out(v.as<std::int64_t>(), count, n, r, with_replacement);
  }
  return index(input, {to(rows, input.device())});
}

}  // namespace rushlight
