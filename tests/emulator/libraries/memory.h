// What the libraries of this folder share: whether what they were told to read and write lies in
// the emulator's device memory, and a word on what is wrong. Each is a library of its own, found by
// the variable that names it, so that the search and the calls are those of a real one.
#pragma once
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

namespace emulated {

inline std::size_t bytes_from(const void* p, int device) {
  using Ask = std::size_t (*)(const void*, int);
  static const auto ask = [] {
    void* provider = dlopen(std::getenv("RUSHLIGHT_CUDA_LIBRARY"), RTLD_NOW | RTLD_NOLOAD);
    return reinterpret_cast<Ask>(provider ? dlsym(provider, "emulated_bytes_from") : nullptr);
  }();
  return ask ? ask(p, device) : 0;
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
