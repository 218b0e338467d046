// gather and scatter, beside what index.cpp holds.
#pragma once
#include "kernels/index.h"

namespace rushlight {

BadIndex gather_elements(const View& out, const View& self, int dim, const View& index);
BadIndex scatter_elements(const View& self, int dim, const View& index, const View& src,
                          ScatterMode mode, bool include_self);

}  // namespace rushlight
