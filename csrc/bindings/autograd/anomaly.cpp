// Anomaly detection in Python: its switches, the stack of the forward call, and the warning.
#include "autograd/anomaly.h"

#include <pybind11/pybind11.h>

#include "bindings/autograd/release.h"
#include "bindings/gil.h"
#include "bindings/module.h"
#include "bindings/table/signature.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

struct PythonOrigin final : Origin {
  py::object lines;  // of traceback.format_stack()
  explicit PythonOrigin(py::object l) : lines(std::move(l)) {}
  ~PythonOrigin() override { release_locked(lines); }
  std::string traceback() const override {
    const GilHeld gil;
    return py::cast<std::string>(py::str("").attr("join")(lines));
  }
};

// Null where the stack cannot be had (no memory, no room on the stack): the operation goes on.
Ref<Origin> here() {
  const GilHeld gil;
  try {
    py::object lines = py::module_::import("traceback").attr("format_stack")();
    return Ref<Origin>::adopt(new PythonOrigin(std::move(lines)));
  } catch (const py::error_already_set&) {
    return {};
  }
}

// A filter may make an error of the warning; the error being reported is raised all the same.
void warn(const std::string& text) noexcept {
  const GilHeld gil;
  if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1) != 0) PyErr_Clear();
}

}  // namespace

static void set_anomaly(bool enabled, bool check_nan) {
  anomaly.check_nan = check_nan;
  anomaly.enabled = enabled;
  steps_watched = enabled || step_watch.begin;
}

void bind_anomaly(py::module_& m) {
  anomaly.here = here;
  anomaly.warn = warn;
  op<&set_anomaly>(m, "set_anomaly_enabled(enabled, check_nan=True)", As::function,
                   R"(What autograd.set_detect_anomaly() does, without a `with` block.

Args:
    enabled: whether to look for anomalies.
    check_nan: whether NaN in a gradient is one.

>>> torch.set_anomaly_enabled(False))");
  m.def(
      "is_anomaly_enabled", [] { return anomaly.enabled.load(); },
      R"(Whether autograd.set_detect_anomaly() is on.

    >>> torch.is_anomaly_enabled()
    False
)");
  m.def(
      "is_anomaly_check_nan_enabled", [] { return anomaly.check_nan.load(); },
      R"(Whether anomaly detection looks for NaN, once it is on.

    >>> torch.is_anomaly_check_nan_enabled()
    True
)");
}

}  // namespace rushlight::python
