// The table of all pointwise ops, in the order of the kernels' tables.
#include "rows.h"

namespace rushlight {

std::span<const PointwiseOp* const> pointwise_ops() {
  static const PointwiseRows all = [] {
    PointwiseRows rows;
    append_arithmetic_rows(rows);
    append_selection_rows(rows);
    append_comparison_rows(rows);
    append_exponential_rows(rows);
    append_trigonometric_rows(rows);
    append_activation_rows(rows);
    append_loss_rows(rows);
    append_special_rows(rows);
    append_bessel_rows(rows);
    int index = 0;
    for (PointwiseOp* row : rows) row->index = index++;
    return rows;
  }();
  return {all.data(), all.size()};
}

}  // namespace rushlight
