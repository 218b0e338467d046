// What the libraries of this folder share: how work comes into a stream, whether what they were
// told to read and write lies in the emulator's device memory, and a word on what is wrong. Each is
// a library of its own, found by the variable that names it, so that the search and the calls are
// those of a real one.
#pragma once
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <utility>
#include <vector>

#include "cuda_runtime.h"

namespace emulated {

// A function of the emulator.
template <class F>
F* function_named(const char* name) {
  void* provider = dlopen(std::getenv("RUSHLIGHT_CUDA_LIBRARY"), RTLD_NOW | RTLD_NOLOAD);
  void* found = provider ? dlsym(provider, name) : nullptr;
  if (!found) std::abort();
  return reinterpret_cast<F*>(found);
}

inline std::size_t bytes_from(const void* p, int device) {
  static const auto ask = function_named<std::size_t(const void*, int)>("emulated_bytes_from");
  return ask(p, device);
}

template <class F>
void run_and_delete(void* work) {
  (*static_cast<F*>(work))();
  delete static_cast<F*>(work);
}
// Does the work when the stream comes to it.
template <class F>
void give(cudaStream_t stream, F work) {
  static const auto ask =
      function_named<void(cudaStream_t, void (*)(void*), void*)>("emulated_give");
  ask(stream, run_and_delete<F>, new F(std::move(work)));
}
// Once, when the first of several streams comes to it, after what each of them was given before.
template <class F>
void meet(const std::vector<cudaStream_t>& streams, const std::vector<int>& devices, F work) {
  static const auto ask =
      function_named<void(const cudaStream_t*, const int*, int, void (*)(void*), void*)>(
          "emulated_meet");
  ask(streams.data(), devices.data(), int(streams.size()), run_and_delete<F>,
      new F(std::move(work)));
}

// Says what is wrong on stderr; false, for `return wrong(...)` in a check.
[[gnu::format(printf, 1, 2)]] inline bool wrong(const char* format, ...) {
  std::va_list list;
  va_start(list, format);
  std::fputs("emulated library: ", stderr);
  std::vfprintf(stderr, format, list);
  std::fputs("\n", stderr);
  va_end(list);
  return false;
}

// On a device, or on the current one.
inline bool holds(const char* what, const void* p, std::uint64_t bytes, int device = -1) {
  if (bytes == 0) return true;
  const std::size_t there = bytes_from(p, device);
  return bytes <= there || wrong("%s: %llu bytes are needed and %zu are there", what,
                                 static_cast<unsigned long long>(bytes), there);
}

}  // namespace emulated
