// Which provider serves "cuda": virtual GPUs where the program or its environment asked for them,
// else the CUDA library beside the core, else none, and then why. Nothing is loaded before a
// program uses CUDA.
#include <dlfcn.h>
#include <unistd.h>

#include "core/error.h"
#include "devices/providers.h"
#include "devices/virtual_machine.h"

namespace rushlight {
namespace {

constexpr const char* kCure =
    "\nto run without a GPU: use the CPU, or virtual GPUs: `rushlight run --gpus 4 FILE`, the "
    "environment variable RUSHLIGHT_VIRTUAL_GPUS=4, or torch.cuda.virtual(4) in the program";

constexpr const char* kGone =
    "\nthere were virtual GPUs, which cuda.virtual(0) or the end of a `with` block has taken away: "
    "a tensor made on them is gone";

// The driver's own answer; its library is installed by nothing else.
std::string why_no_gpu() {
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (!driver)
    return text(
        "Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and "
        "installed a driver from http://www.nvidia.com/Download/index.aspx",
        "\nno driver: libcuda.so.1 cannot be loaded", kCure);
  auto start = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  auto count_devices = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDeviceGetCount"));
  int count = 0;
  const bool works =
      start && count_devices && start(0) == 0 && count_devices(&count) == 0 && count > 0;
  if (!works)
    return text(
        "No CUDA GPUs are available\nno device: there is an NVIDIA driver, and it shows no "
        "GPU",
        std::getenv("CUDA_VISIBLE_DEVICES") ? " (CUDA_VISIBLE_DEVICES is set)" : "", kCure);
  return text(
      "Torch not compiled with CUDA enabled\nCUDA library not installed: this version of "
      "rushlight has no librushlight_cuda.so, so the ",
      count, " GPU", count == 1 ? "" : "s", " of this machine cannot be used", kCure);
}

bool& environment_was_read() {
  static bool read = false;
  return read;
}

}  // namespace

CudaProvider find_cuda() {
  if (!active_machine() && !environment_was_read()) {
    auto machine = machine_from_environment();
    environment_was_read() = true;  // not if that throws: it throws again, then
    if (machine) exchange_machine(std::move(machine));
  }
  if (active_machine()) return {&virtual_cuda_backend(), ""};
  static const std::string absence = why_no_gpu();
  return {nullptr, had_machine() ? absence + kGone : absence};
}

}  // namespace rushlight
