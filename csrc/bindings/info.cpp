// What `rushlight info` prints of the machine; NVIDIA's libraries: where a provider of GPUs finds
// them with Python's help, which there are, and the switches of how exact their results are.
#include <cstdio>
#include <pybind11/pybind11.h>

#include "bindings/gil.h"
#include "bindings/module.h"
#include "bindings/new_memory.h"
#include "bindings/table/signature.h"
#include "bindings/warnings.h"
#include "core/cuda.h"
#include "core/error.h"
#include "kernels/host_device.h"
#include "kernels/libraries.h"
#include "ops/linalg/matmul.h"

namespace py = pybind11;

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

// Calls rushlight._cuda_libraries. From any thread; Python's errors become words.
bool find_library(const char* name, char* words, std::size_t size) {
  if (!Py_IsInitialized()) return false;
  const GilHeld locked;
  try {
    const auto answer =
        py::module_::import("rushlight._cuda_libraries").attr("find")(name).cast<py::tuple>();
    std::snprintf(words, size, "%s", answer[1].cast<std::string>().c_str());
    return answer[0].cast<bool>();
  } catch (const std::exception& error) {
    std::snprintf(words, size, "%s", error.what());
    return false;
  }
}

// (name, version or 0, its path or why it is absent) of each; none without a provider of real GPUs.
py::list libraries() {
  py::list all;
  const Backend* provider = find_cuda().table;
  if (!provider || !provider->libraries) return all;
  for (int i = 0; i < provider->libraries->count; ++i) {
    const LibraryState state = provider->libraries->state(i);
    all.append(py::make_tuple(state.name, state.version, state.words));
  }
  return all;
}

std::atomic<bool>& switch_named(const std::string& name) {
  if (name == "tf32_products") return math_switches.tf32_products;
  if (name == "tf32_convolutions") return math_switches.tf32_convolutions;
  if (name == "cudnn_enabled") return math_switches.cudnn_enabled;
  if (name == "cudnn_deterministic") return math_switches.cudnn_deterministic;
  if (name == "deterministic_algorithms") return math_switches.deterministic_algorithms;
  if (name == "fills_new_memory") return fills_new_memory;
  if (name == "cudnn_benchmark") return math_switches.cudnn_benchmark;
  fail<ValueError>("no switch is called ", name);
}

void set_warn_always(bool always) { warn_always = always; }
bool is_warn_always() { return warn_always; }

// Of this thread, as torch has it: the bits "flush to zero" and "denormals are zeros".
bool set_flush_denormal(bool flush) {
#if defined(__x86_64__)
  constexpr unsigned kFlush = 0x8040;
  const unsigned now = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(flush ? now | kFlush : now & ~kFlush);
  return true;
#else
  return false;
#endif
}

}  // namespace

void bind_info(py::module_& m) {
  provider_host.find_library = find_library;
  m.def("_cpu_capability", cpu_capability);
  m.def("_matmul_library", matmul_library);
  m.def("_cuda_libraries", libraries);
  m.def("_get_switch", [](const std::string& name) { return switch_named(name).load(); });
  m.def("_set_switch", [](const std::string& name, bool on) { switch_named(name) = on; });
  op<&set_warn_always>(m, "set_warn_always(b)", As::function,
                       R"(Whether warnings that come once in a process come each time.

Args:
    b: each time.

>>> torch.set_warn_always(False))");
  op<&is_warn_always>(m, "is_warn_always_enabled()", As::function,
                      R"(What set_warn_always() has set.

>>> torch.is_warn_always_enabled()
False)");
  op<&set_flush_denormal>(
      m, "set_flush_denormal(mode)", As::function,
      R"(Whether results too small for a normal number are 0, in this thread; True if it can be set.

Args:
    mode: whether they are.

>>> torch.set_flush_denormal(False)
True)");
  // Libraries call it as they are made; nothing is counted or sent, as in torch's own releases.
  m.def("_log_api_usage_once", [](const std::string&) {});
}

}  // namespace rushlight::python
