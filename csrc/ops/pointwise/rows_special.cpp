// Rows of the functions that torch.special has.
#include "rows.h"

namespace rushlight {

void append_special_rows(std::vector<PointwiseOp>& rows) { append_rows(rows, SpecialOps{}); }
void append_bessel_rows(std::vector<PointwiseOp>& rows) {
  append_rows(rows, BesselOps{});
  append_rows(rows, OrthogonalOps{});
}

}  // namespace rushlight
