// Rows of the arithmetic, selecting and comparing ops.
#include "kernels/pointwise/arithmetic.h"
#include "kernels/pointwise/comparison.h"
#include "kernels/pointwise/selection.h"
#include "rows.h"

namespace rushlight {

void append_arithmetic_rows(PointwiseRows& rows) { append_rows(rows, ArithmeticOps{}); }
void append_selection_rows(PointwiseRows& rows) { append_rows(rows, SelectionOps{}); }
void append_comparison_rows(PointwiseRows& rows) { append_rows(rows, ComparisonOps{}); }

}  // namespace rushlight
