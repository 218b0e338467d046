// Triangles, a row of a matrix at a time, or several rows that lie one behind another.
#include "../triangular.h"

#include <algorithm>
#include <numeric>

#include "../parallel.h"
#include "interruptible.h"
#include "positions.h"
#include "runs.h"

namespace rushlight {
namespace {

constexpr std::int64_t kGrain = 1 << 15;  // elements for which a thread pays

void keep(const View& out, const View& in, const Triangle& t) {
  const int last = out.rank - 1;
  const std::int64_t to_step = out.strides[last], from_step = in.strides[last];
  dispatch_size(out.dtype, [&]<class S>(Type<S>) {
    const std::int64_t grain = std::max<std::int64_t>(1, kGrain / t.columns);
    parallel_for(out.numel / t.columns, grain, [&](std::int64_t first, std::int64_t past) {
      Positions<2> at(last, out.sizes, {out.strides, in.strides}, first);
      // What lies one behind another is copied or filled together: whole rows, and zeros.
      S *kept = nullptr, *zeros = nullptr;
      const S* from_kept = nullptr;
      std::int64_t held = 0, empty = 0;
      const auto copy_some = [&](std::int64_t a, std::int64_t b) {
        copy_run(kept + a * to_step, to_step, from_kept + a * from_step, from_step, b - a);
      };
      const auto copy_held = [&] {
        held <= kGrain ? copy_some(0, held) : serial_for(held, copy_some);
      };
      const auto copy = [&](S* to, const S* from, std::int64_t n) {
        if (to != kept + held * to_step || from != from_kept + held * from_step) {
          copy_held();
          kept = to, from_kept = from, held = 0;
        }
        held += n;
      };
      const auto fill_some = [&](std::int64_t a, std::int64_t b) {
        if (to_step == 1)
          std::fill_n(zeros + a, b - a, S(0));
        else
          for (std::int64_t i = a; i < b; ++i) zeros[i * to_step] = S(0);
      };
      const auto fill = [&] {
        empty <= kGrain ? fill_some(0, empty) : serial_for(empty, fill_some);
      };
      const auto zero = [&](S* to, std::int64_t n) {
        if (to != zeros + empty * to_step) {
          fill();
          zeros = to, empty = 0;
        }
        empty += n;
      };
      for (std::int64_t row = first % t.rows; first < past; ++first, at.next()) {
        const std::int64_t begin = t.begin(row), end = t.end(row);
        S* const to = out.as<S>() + at.offset[0];
        const S* const from = in.as<const S>() + at.offset[1];
        if (++row == t.rows) row = 0;
        if (begin > 0) zero(to, begin);
        if (begin < end) copy(to + begin * to_step, from + begin * from_step, end - begin);
        if (end < t.columns) zero(to + end * to_step, t.columns - end);
      }
      copy_held();
      fill();
    });
  });
}

void indices(const View& out, const Triangle& t) {
  auto* const rows = out.as<std::int64_t>();
  std::int64_t* const columns = rows + out.sizes[1];
  const std::int64_t grain =
      std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(t.columns, 1));
  // The rows that hold something: of others there may be more than memory has elements.
  const auto row_of = [&](std::int64_t row) { return std::clamp<std::int64_t>(row, 0, t.rows); };
  const std::int64_t first = t.lower ? row_of(-t.diagonal) : 0,
                     last = t.lower ? t.rows : row_of(t.columns - t.diagonal);
  parallel_for(std::max<std::int64_t>(last - first, 0), grain, [&](auto row, auto past) {
    row += first, past += first;
    for (std::int64_t at = t.count_before(row); row < past; ++row) {
      const std::int64_t begin = t.begin(row), n = t.end(row) - begin;
      std::fill_n(rows + at, n, row);
      std::iota(columns + at, columns + at + n, begin);
      at += n;
    }
  });
}

}  // namespace

const TriangularKernels cpu_triangular = {keep, indices};

}  // namespace rushlight
