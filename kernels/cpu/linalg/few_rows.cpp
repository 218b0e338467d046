// One panel over the whole depth.
#include "few_rows.h"

#include "kernels/parallel.h"
#include "panel_sums.h"
#include "register_tile.h"

namespace rushlight {

template <class T>
bool few_rows(const StridedMatrix<const T>& left, const StridedMatrix<const T>& right,
              const StridedMatrix<T>& out, T alpha, T beta) {
  using Index = std::int64_t;
  constexpr Index kLanes = 64 / Index(sizeof(T));
  const Index m = out.rows, n = out.cols, k = left.cols;
  if (tiles().width != 16 || m > 8 || n < 2 || n > (m > 6 ? 3 : kMostVectors) * kLanes ||
      right.col_stride != 1 || out.col_stride != 1 || alpha == T(0) || k == 0)
    return false;
  const Index products = m * n * k;
  if (num_threads() > 1 && products > 4 * kWorthwhile) return false;
  // One after the other, as they add to the same sums: parts, so that Ctrl-C is answered.
  const Index parts = products / 250'000'000 + 1;
  parallel_for(parts, 1, [&](Index begin, Index end) {
    for (Index part = begin; part < end; ++part) {
      const Index from = k * part / parts, to = k * (part + 1) / parts;
      add_panel<T>({left.data + from * left.col_stride, left.row_stride, left.col_stride,
                    right.data + from * right.row_stride, right.row_stride, m, n, to - from,
                    out.data, out.row_stride, alpha, part == 0 ? beta : T(1)});
    }
  });
  return true;
}

template bool few_rows(const StridedMatrix<const float>&, const StridedMatrix<const float>&,
                       const StridedMatrix<float>&, float, float);
template bool few_rows(const StridedMatrix<const double>&, const StridedMatrix<const double>&,
                       const StridedMatrix<double>&, double, double);

}  // namespace rushlight
