// What a provider's functions throw when its device fails: csrc/bindings maps the kinds to Python's
// exceptions. A type of its own, as a provider may be a library loaded at run time.
#pragma once
#include <stdexcept>

namespace rushlight {

struct DeviceError : std::runtime_error {
  enum class Kind { fault, index, memory } kind;
  DeviceError(Kind k, const char* words) : std::runtime_error(words), kind(k) {}
};

}  // namespace rushlight
