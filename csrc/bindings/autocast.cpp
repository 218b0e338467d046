// Autocast's casts and switches.
#include "bindings/autocast.h"

#include <pybind11/pybind11.h>

#include "bindings/module.h"
#include "bindings/table/signature.h"
#include "ops/ops.h"

namespace py = pybind11;

namespace rushlight::python {

Tensor recast(const Tensor& t, Policy p) {
  if (!t || !is_floating(t.dtype()) || t.dtype() == DType::float64) return t;
  const bool cpu = t.device().is_cpu();
  if (!(cpu ? autocast.cpu : t.device().is_cuda() && autocast.cuda)) return t;
  const Cast cast = cpu ? p.cpu : p.cuda;
  if (cast == Cast::none) return t;
  if (cast == Cast::full) return to(t, DType::float32);
  return to(t, cpu ? autocast.cpu_dtype : autocast.cuda_dtype);
}

namespace {

bool& enabled(std::string_view device) {
  if (device == "cpu") return autocast.cpu;
  if (device == "cuda") return autocast.cuda;
  fail<RuntimeError>("unknown device type for autocast: ", device, "; it is for 'cpu' and 'cuda'");
}
DType& dtype(std::string_view device) {
  enabled(device);
  return device == "cpu" ? autocast.cpu_dtype : autocast.cuda_dtype;
}

// Of devices that torch knows and that are not here: off.
bool is_enabled(std::string_view device) {
  for (std::string_view other : {"mps", "xpu", "hpu", "mtia", "maia", "xla", "ipu"})
    if (device == other) return false;
  return enabled(device);
}
void set_enabled(std::string_view device, bool to) {
  enabled(device) = to;
  autocast.on = autocast.cpu || autocast.cuda;
}
void set_enabled_on_cuda(bool to) { set_enabled("cuda", to); }
DType get_dtype(std::string_view device) { return dtype(device); }
void set_dtype(std::string_view device, DType to) {
  if (to != DType::float16 && to != DType::bfloat16 && to != DType::float32)
    fail<RuntimeError>("autocast computes in float16, bfloat16 or float32, not in ", to);
  dtype(device) = to;
}

bool is_cache_enabled() { return autocast.cache; }
void set_cache_enabled(bool enabled) { autocast.cache = enabled; }
void clear_cache() {}

}  // namespace

void bind_autocast(py::module_& m) {
  op<&is_enabled>(m, "is_autocast_enabled(device_type='cuda')", As::function,
                  R"(Whether autocast is on for a type of device, in this thread.

Args:
    device_type: 'cpu' or 'cuda'.

>>> with torch.autocast("cpu"):
...     torch.is_autocast_enabled("cpu")
True)");
  overloads<&set_enabled, &set_enabled_on_cuda>(
      m, {"set_autocast_enabled(device_type, enabled)", "set_autocast_enabled(enabled)"},
      As::function,
      R"(Switches autocast on or off for a type of device, in this thread, as torch.autocast does.

Args:
    enabled: whether it is on.
    device_type: 'cpu' or 'cuda'; 'cuda' where it is left out.

>>> torch.set_autocast_enabled("cpu", False))");
  op<&get_dtype>(m, "get_autocast_dtype(device_type)", As::function,
                 R"(The dtype that autocast casts to on a type of device.

Args:
    device_type: 'cpu' or 'cuda'.

>>> torch.get_autocast_dtype("cpu")
torch.bfloat16)");
  op<&set_dtype>(m, "set_autocast_dtype(device_type, dtype)", As::function,
                 R"(Sets the dtype that autocast casts to on a type of device.

Args:
    dtype: torch.bfloat16 or torch.float16.
    device_type: 'cpu' or 'cuda'.

>>> torch.set_autocast_dtype("cpu", torch.bfloat16))");
  op<&is_cache_enabled>(m, "is_autocast_cache_enabled()", As::function,
                        R"(What set_autocast_cache_enabled() or torch.autocast set in this thread.

>>> torch.is_autocast_cache_enabled()
True)");
  op<&set_cache_enabled>(m, "set_autocast_cache_enabled(enabled)", As::function,
                         R"(Sets what is_autocast_cache_enabled() returns: casts are never kept.

Args:
    enabled: a bool.

>>> torch.set_autocast_cache_enabled(True))");
  op<&clear_cache>(m, "clear_autocast_cache()", As::function,
                   R"(Forgets the casts that autocast keeps: there are none.

>>> torch.clear_autocast_cache())");
}

}  // namespace rushlight::python
