// Rows of the arithmetic, selecting and comparing ops, and the table of all.
#include "rows.h"

namespace rushlight {

void append_arithmetic_rows(std::vector<PointwiseOp>& rows) { append_rows(rows, ArithmeticOps{}); }
void append_selection_rows(std::vector<PointwiseOp>& rows) { append_rows(rows, SelectionOps{}); }
void append_comparison_rows(std::vector<PointwiseOp>& rows) { append_rows(rows, ComparisonOps{}); }

std::span<const PointwiseOp> pointwise_ops() {
  static const std::vector<PointwiseOp> all = [] {
    std::vector<PointwiseOp> rows;
    append_arithmetic_rows(rows);
    append_selection_rows(rows);
    append_comparison_rows(rows);
    append_exponential_rows(rows);
    append_trigonometric_rows(rows);
    append_activation_rows(rows);
    append_loss_rows(rows);
    append_special_rows(rows);
    append_bessel_rows(rows);
    return rows;
  }();
  return all;
}

}  // namespace rushlight
