// Bunch-Kaufman factors by LAPACK. A pivot above 0 names the row that was exchanged with its own;
// two below 0, one after the other, belong to a block of two rows.
#include "indefinite.h"

#include <vector>

#include "batches.h"
#include "lapack.h"

namespace rushlight {

void factor_ldl(const View& a, const View& pivots, bool hermitian, const View& info) {
  each(a, [&]<class T>(T, std::int64_t i) {
    const Columns<T> m = matrix<T>(a, i);
    const int lead = m.lead, ask = -1;
    int *rows = row<int>(pivots, i), *result = info.as<int>() + i;
    const auto factor = hermitian ? lapack<T>().hetrf : lapack<T>().sytrf;
    T answer = 1;
    factor("L", &m.rows, m.data, &lead, rows, &answer, &ask, result, 1);
    const int size = work_size(answer);
    std::vector<T> work(std::size_t(size) + 1);
    factor("L", &m.rows, m.data, &lead, rows, work.data(), &size, result, 1);
  });
}

// LAPACK reads rows as pivots say, unchecked: where the first is that names no row, or is half of a
// pair; -1 where none is.
static std::int64_t bad_pivot(const int* pivots, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t at = pivots[i];
    if (at == 0 || at > n || at < -n) return i;
    if (at > 0) continue;
    if (i + 1 == n || pivots[i + 1] >= 0) return i;
    const std::int64_t other = pivots[++i];
    if (other < -n) return i;
  }
  return -1;
}

std::int64_t solve_ldl(const View& ld, const View& pivots, const View& b, bool hermitian) {
  const std::int64_t n = ld.sizes[1];
  for (std::int64_t i = 0; i < ld.sizes[0]; ++i)
    if (const auto bad = bad_pivot(row<int>(pivots, i), n); bad >= 0) return i * n + bad;
  each(ld, [&]<class T>(T, std::int64_t i) {
    const Columns<T> m = matrix<T>(ld, i), x = matrix<T>(b, i);
    const int lead = m.lead, lead_x = x.lead;
    int info;
    const auto solve = hermitian ? lapack<T>().hetrs : lapack<T>().sytrs;
    solve("L", &m.rows, &x.columns, m.data, &lead, row<int>(pivots, i), x.data, &lead_x, &info, 1);
  });
  return -1;
}

}  // namespace rushlight
