// Which provider serves "cuda": virtual GPUs where the program or its environment requested them,
// else the CUDA library beside the core, else none, and then why. Nothing is loaded before a
// program uses CUDA.
#include <dlfcn.h>
#include <filesystem>
#include <unistd.h>

#include "core/error.h"
#include "devices/providers.h"
#include "devices/virtual_machine.h"
#include "kernels/provider.h"

namespace rushlight {
namespace {

constexpr const char* kCure =
    "\nto run without a GPU: use the CPU, or virtual GPUs: `rushlight run --gpus 4 FILE`, the "
    "environment variable RUSHLIGHT_VIRTUAL_GPUS=4, or torch.cuda.virtual(4) in the program";

constexpr const char* kGone =
    "\nthere were virtual GPUs, which cuda.virtual(0) or the end of a `with` block has taken away: "
    "a tensor made on them is gone";

constexpr int kOldestDriver = 13000;  // as cuDriverGetVersion counts: CUDA 13.0
constexpr int kNoDevice = 100;        // CUDA_ERROR_NO_DEVICE

// RUSHLIGHT_CUDA_LIBRARY, or the library beside this one; empty if there is none.
std::string library_path() {
  if (const char* named = std::getenv("RUSHLIGHT_CUDA_LIBRARY"); named && *named) return named;
  Dl_info self;
  if (!dladdr(reinterpret_cast<const void*>(&library_path), &self)) return "";
  std::error_code none;
  const auto path =
      std::filesystem::canonical(self.dli_fname, none).parent_path() / "librushlight_cuda.so";
  return std::filesystem::exists(path, none) ? path.string() : "";
}

struct Library {
  const Backend* table = nullptr;
  std::string why_not;
};
Library open_library(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  const char* words = library ? nullptr : dlerror();
  auto entry = library ? reinterpret_cast<ProviderEntry>(dlsym(library, kProviderEntry)) : nullptr;
  Library found;
  if (entry) found.table = entry(kProviderAbi, &provider_host);
  if (!library)
    found.why_not = words;
  else if (!entry)
    found.why_not = text("it has no function ", kProviderEntry);
  else if (!found.table)
    found.why_not =
        text("it was built for another version than this one (interface ", kProviderAbi, ")");
  return found;
}

// The driver's own answer; its library is installed by nothing else. Empty where the library at
// `path` can be tried.
std::string why_no_gpu(const std::string& path) {
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (!driver)
    return text(
        "Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and "
        "installed a driver from http://www.nvidia.com/Download/index.aspx",
        "\nno driver: libcuda.so.1 cannot be loaded", kCure);
  const auto version_of = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDriverGetVersion"));
  const auto start = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  const auto count_devices = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDeviceGetCount"));
  int count = 0, version = 0, error = -1;
  if (version_of && version_of(&version) == 0 && version < kOldestDriver)
    return text("The NVIDIA driver on your system is too old (found version ", version,
                "). Please update your GPU driver by downloading and installing a new version from "
                "the URL: http://www.nvidia.com/Download/index.aspx\nold driver: it is for CUDA ",
                version / 1000, ".", version % 1000 / 10,
                ", and the CUDA library of rushlight needs one for CUDA 13 (580 or newer)", kCure);
  if (start && count_devices) error = start(0);
  if (error == 0) error = count_devices(&count);
  if (count <= 0)
    return text("No CUDA GPUs are available\nno device: there is an NVIDIA driver, and it ",
                error == 0 || error == kNoDevice
                    ? "shows no GPU"
                    : text("answers error ", error, " (`nvidia-smi` may say more)"),
                std::getenv("CUDA_VISIBLE_DEVICES") ? " (CUDA_VISIBLE_DEVICES is set)" : "", kCure);
  if (!path.empty()) return "";
  return text(
      "Torch not compiled with CUDA enabled\nCUDA library not installed: this version of "
      "rushlight has no librushlight_cuda.so, so the ",
      count, " GPU", count == 1 ? "" : "s", " of this machine cannot be used", kCure);
}

// The library that was named by hand is opened whatever the driver says: tests name one that needs
// none.
CudaProvider real_gpus() {
  const std::string path = library_path();
  const char* given = std::getenv("RUSHLIGHT_CUDA_LIBRARY");
  const bool named = given && *given;
  if (!named)
    if (std::string absence = why_no_gpu(path); !absence.empty())
      return {nullptr, std::move(absence)};
  Library library = open_library(path);
  if (!library.table)
    return {nullptr, text("Torch not compiled with CUDA enabled\nCUDA library cannot be used: ",
                          path, ": ", library.why_not, kCure)};
  if (library.table->runtime->device_count() == 0) {
    const char* why = library.table->runtime->why_not_more();
    return {nullptr,
            text("No CUDA GPUs are available\nno device: ", path, " was loaded and ",
                 why ? "cannot use what there is: " : "finds none", why ? why : "", kCure)};
  }
  return {library.table, ""};
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
  static const CudaProvider real = real_gpus();
  if (real.table) return real;
  return {nullptr, had_machine() ? real.why_not + kGone : real.why_not};
}

}  // namespace rushlight
