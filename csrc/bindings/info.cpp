// What `rushlight info` tells about the machine.
#include <pybind11/pybind11.h>

#include "bindings/module.h"
#include "kernels/host_device.h"

namespace rushlight::python {
namespace {

// The loops that CLONES chose at load, in torch's words.
const char* cpu_capability() {
#if defined(__x86_64__) && !defined(RUSHLIGHT_NO_CLONES)
  if (__builtin_cpu_supports("x86-64-v4")) return "AVX512";
  if (__builtin_cpu_supports("x86-64-v3")) return "AVX2";
#endif
  return "DEFAULT";
}

}  // namespace

void bind_info(pybind11::module_& m) { m.def("_cpu_capability", cpu_capability); }

}  // namespace rushlight::python
