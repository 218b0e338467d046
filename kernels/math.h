// The functions that formulas may call, for one element: our own branch-free texts where a loop
// should vectorise, libm's where it is rare. csrc/ops/value.h has the same list for tensors.
#pragma once
#include "math/bessel.h"
#include "math/exponential.h"
#include "math/gamma.h"
#include "math/integer.h"
#include "math/normal.h"
#include "math/orthogonal.h"
#include "math/real.h"
#include "math/special.h"
#include "math/trigonometric.h"
