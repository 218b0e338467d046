// Rows of the functions that torch.special has.
#include "kernels/pointwise/bessel.h"
#include "kernels/pointwise/orthogonal.h"
#include "kernels/pointwise/special.h"
#include "rows.h"

namespace rushlight {

void append_special_rows(PointwiseRows& rows) { append_rows(rows, SpecialOps{}); }
void append_bessel_rows(PointwiseRows& rows) {
  append_rows(rows, BesselOps{});
  append_rows(rows, OrthogonalOps{});
}

}  // namespace rushlight
