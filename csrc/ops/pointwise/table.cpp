// The table of all pointwise ops. Note: a row has its number, by which kernels know the op, when
// the library is loaded, before anything can call one.
#include "rows.h"

namespace rushlight {
namespace {

const PointwiseRows& numbered_rows() {
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
    for (int i = 0; PointwiseOp * row : rows) row->index = i++;
    return rows;
  }();
  return all;
}
const PointwiseRows& at_load = numbered_rows();

}  // namespace

std::span<const PointwiseOp* const> pointwise_ops() { return {at_load.data(), at_load.size()}; }

}  // namespace rushlight
