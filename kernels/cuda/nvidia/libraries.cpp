// The search for NVIDIA's libraries: what the process has already (so that one copy is shared with
// others in it), cuda-pathfinder (wheels, conda, system), beside this library, the loader's own
// paths. The first that is found decides; one that is too old is not used.
#include "libraries.h"

#include <atomic>
#include <cstdlib>
#include <dlfcn.h>

#include "cublas.h"
#include "cublaslt.h"
#include "cudnn.h"
#include "cusolver.h"
#include "kernels/device_error.h"
#include "nccl.h"

namespace rushlight::gpu {
namespace {

const ProviderHost* host = nullptr;

// All that there are, and what was found of each.
constexpr int kKinds = 5;
const LibraryKind* kind_at(int i) {
  const LibraryKind* const all[kKinds] = {&cublaslt::Functions::kind(), &cublas::Functions::kind(),
                                          &cudnn::Functions::kind(), &cusolver::Functions::kind(),
                                          &nccl::Functions::kind()};
  return all[i];
}
std::atomic<const Library*> found_libraries[kKinds];

std::string number(int version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

// Takes what dlopen gave. True ends the search, also where the library cannot be used.
bool take(const LibraryKind& kind, void* handle, const std::string& where, Library& out) {
  if (!handle) return false;
  for (std::size_t i = 0; i < kind.count; ++i) {
    out.functions.push_back(dlsym(handle, kind.names[i]));
    if (out.functions.back()) continue;
    out.words = where + " has no function " + kind.names[i];
    return true;
  }
  Dl_info info;
  const bool known = dladdr(out.functions[0], &info) != 0 && info.dli_fname;
  const std::string path = known ? info.dli_fname : where;
  const int version = kind.version(out.functions[0]);
  if (version < kind.floor) {
    out.words = path + " is version " + number(version) + ", and " + number(kind.floor) +
                " is the oldest that can be used: pip install --upgrade " + kind.package;
    return true;
  }
  out.version = version;
  out.words = path;
  return true;
}

std::string own_folder() {
  Dl_info self;
  if (!dladdr(reinterpret_cast<const void*>(&own_folder), &self) || !self.dli_fname) return ".";
  const std::string path = self.dli_fname;
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

Library search(const LibraryKind& kind) {
  Library out;
  const char* named = std::getenv(kind.variable);
  if (named && std::string(named) == "none") {
    out.words = std::string("switched off by ") + kind.variable + "=none";
    return out;
  }
  const auto open = [&](const std::string& path, int more) {
    return take(kind, dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | more), path, out);
  };
  if (named && *named) {
    if (!open(named, 0)) out.words = std::string(kind.variable) + ": " + dlerror();
    return out;
  }
  if (open(kind.soname, RTLD_NOLOAD)) return out;
  std::string pathfinder = "not called";
  if (host && host->find_library) {
    char words[2048] = "";
    for (const char* other : kind.needs)  // cuda-pathfinder loads what it finds
      if (other) host->find_library(other, words, sizeof words);
    if (host->find_library(kind.name, words, sizeof words)) {
      if (open(words, 0)) return out;
      pathfinder = std::string(words) + " cannot be loaded: " + dlerror();
    } else {
      pathfinder = words;
    }
  }
  const std::string beside = own_folder() + "/" + kind.soname;
  if (open(beside, 0) || open(kind.soname, 0)) return out;
  out.words = std::string(kind.soname) + " was looked for in this process, by cuda-pathfinder (" +
              pathfinder + "), as " + beside +
              ", and by the system's loader\nto install it: pip install cuda-pathfinder " +
              kind.package + "; or name the file in " + kind.variable;
  return out;
}

LibraryState state(int which) {
  const LibraryKind& kind = *kind_at(which);
  const Library& found = library(kind);
  return {kind.title, found.version, found.words.c_str()};
}

}  // namespace

void set_host(const ProviderHost* given) { host = given; }

const MathSwitches& switches() {
  static const MathSwitches defaults;
  return host ? *host->switches : defaults;
}

void fail_call(const LibraryKind& kind, const char* errors, const char* status, const char* call) {
  const std::string words = std::string(errors) + " error: " + status + " when calling `" + call +
                            "`\n" + kind.variable + "=none goes without " + kind.title;
  throw DeviceError(DeviceError::Kind::fault, words.c_str());
}

const Library& library(const LibraryKind& kind) {
  int at = 0;
  while (kind_at(at) != &kind) ++at;
  std::atomic<const Library*>& slot = found_libraries[at];
  if (const Library* known = slot.load(std::memory_order_acquire)) return *known;
  auto* mine = new Library(search(kind));  // kept as long as the process
  const Library* before = nullptr;
  if (slot.compare_exchange_strong(before, mine)) return *mine;
  delete mine;  // another thread was quicker
  return *before;
}

const ProviderLibraries provider_libraries = {kKinds, state};

}  // namespace rushlight::gpu
