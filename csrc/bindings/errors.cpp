// C++ exceptions as Python ones, and the hooks by which the core reaches the interpreter: giving up
// its lock, and Ctrl-C.
#include <pybind11/pybind11.h>

#include "bindings/gil.h"
#include "bindings/module.h"
#include "bindings/table/signature.h"
#include "core/unlocked.h"
#include "kernels/device_error.h"
#include "kernels/parallel.h"
#include "ops/linalg/linalg.h"

namespace py = pybind11;

namespace rushlight::python {

static PyObject *out_of_memory_error, *accelerator_error, *linalg_error;

// What a provider throws from its own library.
static PyObject* type_of(const DeviceError& e) {
  switch (e.kind) {
    case DeviceError::Kind::index: return PyExc_IndexError;
    case DeviceError::Kind::memory: return out_of_memory_error;
    default: return accelerator_error;
  }
}

PyObject* raise_current() noexcept {
  try {
    throw;
  } catch (py::error_already_set& e) {
    e.restore();
  } catch (const OutOfMemoryError& e) {
    PyErr_SetString(out_of_memory_error, e.what());
  } catch (const AcceleratorError& e) {
    PyErr_SetString(accelerator_error, e.what());
  } catch (const LinAlgError& e) {
    PyErr_SetString(linalg_error, e.what());
  } catch (const IndexError& e) {
    PyErr_SetString(PyExc_IndexError, e.what());
  } catch (const TypeError& e) {
    PyErr_SetString(PyExc_TypeError, e.what());
  } catch (const ValueError& e) {
    PyErr_SetString(PyExc_ValueError, e.what());
  } catch (const OverflowError& e) {
    PyErr_SetString(PyExc_OverflowError, e.what());
  } catch (const AttributeError& e) {
    PyErr_SetString(PyExc_AttributeError, e.what());
  } catch (const AssertionError& e) {
    PyErr_SetString(PyExc_AssertionError, e.what());
  } catch (const NotImplementedError& e) {
    PyErr_SetString(PyExc_NotImplementedError, e.what());
  } catch (const DeviceError& e) {
    PyErr_SetString(type_of(e), e.what());
  } catch (const std::bad_alloc&) {
    PyErr_SetString(PyExc_MemoryError,
                    "can't allocate memory: the operation's own working memory does not fit on "
                    "this machine. Use smaller operands, or split the work into parts");
  } catch (const py::builtin_exception& e) {
    e.set_error();
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  } catch (...) {
    PyErr_SetString(PyExc_RuntimeError, "an unknown C++ exception");
  }
  return nullptr;
}

static void check_signals() {
  const GilHeld gil;
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

// What a program's other thread could do at any moment in which the lock is given up, at each such
// moment: with the tests that give one, no chance is left to the scheduler.
static PyObject* meanwhile = nullptr;
static void call_meanwhile() {
  static bool inside = false;
  if (inside || !PyGILState_Check()) return;
  inside = true;
  PyObject* const answer = PyObject_CallNoArgs(meanwhile);
  if (!answer) PyErr_WriteUnraisable(meanwhile);
  Py_XDECREF(answer);
  inside = false;
}
static void set_meanwhile(py::object function) {
  const bool is_set = !function.is_none();
  interpreter.meanwhile = is_set ? call_meanwhile : nullptr;
  interpreter.least = is_set ? 0 : Interpreter().least;
  Py_XDECREF(std::exchange(meanwhile, is_set ? function.release().ptr() : nullptr));
}

void bind_errors(py::module_& m) {
  out_of_memory_error = PyErr_NewExceptionWithDoc("rushlight.OutOfMemoryError",
                                                  "A device has no memory left for a request.",
                                                  PyExc_RuntimeError, nullptr);
  accelerator_error = PyErr_NewExceptionWithDoc("rushlight.AcceleratorError",
                                                "A GPU refused or failed an operation.",
                                                PyExc_RuntimeError, nullptr);
  linalg_error = PyErr_NewExceptionWithDoc("rushlight._C._LinAlgError",
                                           "A matrix that has no inverse, factor or eigenvalues.",
                                           PyExc_RuntimeError, nullptr);
  m.attr("_LinAlgError") = py::handle(linalg_error);
  m.attr("OutOfMemoryError") = py::handle(out_of_memory_error);
  m.attr("AcceleratorError") = py::handle(accelerator_error);
  py::register_local_exception_translator([](std::exception_ptr p) {
    try {
      if (p) std::rethrow_exception(p);
    } catch (const Error&) {
      raise_current();
    } catch (const DeviceError&) {
      raise_current();
    }
  });
  interpreter.release = []() -> void* {
    return PyGILState_Check() ? static_cast<void*>(PyEval_SaveThread()) : nullptr;
  };
  interpreter.acquire = take_gil_back;
  watch_for_the_end();
  poll_interrupt = check_signals;
  m.def("_set_meanwhile", set_meanwhile);
  m.def(
      "set_num_threads",
      [](py::handle number) {
        if (!PyIndex_Check(number.ptr()) || PyBool_Check(number.ptr()))
          fail<RuntimeError>("set_num_threads expects an int, but got ",
                             Py_TYPE(number.ptr())->tp_name);
        std::int64_t n;
        if (!read_index(number.ptr(), n)) fail<ValueError>("Overflow when unpacking long long");
        if (n < 1) fail<RuntimeError>("set_num_threads expects a positive integer");
        set_num_threads(int(std::min<std::int64_t>(n, std::numeric_limits<int>::max())));
      },
      py::arg("int"), R"(Sets how many threads an operation may use.

Raises:
    RuntimeError: if the number is not positive.

    >>> torch.set_num_threads(torch.get_num_threads())
)");
  m.def("get_num_threads", [] { return num_threads(); }, R"(How many threads an operation may use.

    >>> torch.get_num_threads() >= 1
    True
)");
}

}  // namespace rushlight::python
