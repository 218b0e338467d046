// Operations on boxes (n, 4), each written as two corners.
#pragma once
#include "ops/ops.h"

namespace rushlight {

// The indices of the boxes that stay, highest score first: one goes if it overlaps one that stays
// by more than the threshold, in intersection over union.
Tensor nms(const Tensor& boxes, const Tensor& scores, double iou_threshold);

}  // namespace rushlight
