// Rows of the elementary functions, activations and losses.
#include "kernels/pointwise/activation.h"
#include "kernels/pointwise/exponential.h"
#include "kernels/pointwise/loss.h"
#include "kernels/pointwise/trigonometric.h"
#include "rows.h"

namespace rushlight {

void append_exponential_rows(PointwiseRows& rows) { append_rows(rows, ExponentialOps{}); }
void append_trigonometric_rows(PointwiseRows& rows) { append_rows(rows, TrigonometricOps{}); }
void append_activation_rows(PointwiseRows& rows) { append_rows(rows, ActivationOps{}); }
void append_loss_rows(PointwiseRows& rows) { append_rows(rows, LossOps{}); }

}  // namespace rushlight
