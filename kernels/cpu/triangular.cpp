// Triangles, a row of a matrix at a time.
#include "../triangular.h"

#include <algorithm>
#include <numeric>

#include "../parallel.h"
#include "positions.h"
#include "runs.h"

namespace rushlight {
namespace {

constexpr std::int64_t kGrain = 1 << 15;  // elements for which a thread pays

void keep(const View& out, const View& in, const Triangle& t) {
  const int last = out.rank - 1;
  const std::int64_t to_step = out.strides[last], from_step = in.strides[last];
  dispatch_size(out.dtype, [&]<class S>(Type<S>) {
    const auto zero = [&](S* to, std::int64_t n) {
      if (to_step == 1)
        std::fill_n(to, n, S(0));
      else
        for (std::int64_t i = 0; i < n; ++i) to[i * to_step] = S(0);
    };
    const std::int64_t grain = std::max<std::int64_t>(1, kGrain / t.columns);
    parallel_for(out.numel / t.columns, grain, [&](std::int64_t first, std::int64_t past) {
      Positions<2> at(last, out.sizes, {out.strides, in.strides}, first);
      for (; first < past; ++first, at.next()) {
        const std::int64_t row = first % t.rows, begin = t.begin(row), end = t.end(row);
        S* const to = out.as<S>() + at.offset[0];
        zero(to, begin);
        copy_run(to + begin * to_step, to_step, in.as<const S>() + at.offset[1] + begin * from_step,
                 from_step, end - begin);
        zero(to + end * to_step, t.columns - end);
      }
    });
  });
}

void indices(const View& out, const Triangle& t) {
  auto* const rows = out.as<std::int64_t>();
  std::int64_t* const columns = rows + out.sizes[1];
  const std::int64_t grain =
      std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(t.columns, 1));
  parallel_for(t.rows, grain, [&](std::int64_t row, std::int64_t past) {
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
