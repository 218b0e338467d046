// Rows of the elementary functions, activations and losses.
#include "rows.h"

namespace rushlight {

void append_exponential_rows(std::vector<PointwiseOp>& rows) {
  append_rows(rows, ExponentialOps{});
}
void append_trigonometric_rows(std::vector<PointwiseOp>& rows) {
  append_rows(rows, TrigonometricOps{});
}
void append_activation_rows(std::vector<PointwiseOp>& rows) { append_rows(rows, ActivationOps{}); }
void append_loss_rows(std::vector<PointwiseOp>& rows) { append_rows(rows, LossOps{}); }

}  // namespace rushlight
