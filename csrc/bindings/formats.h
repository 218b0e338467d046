// torch.layout and torch.memory_format as arguments of ops. The objects themselves are made in
// types.cpp; rushlight.strided is the only layout.
#pragma once
#include "bindings/table/arguments.h"
#include "ops/memory_format.h"

namespace rushlight::python {

struct StridedLayout {};
using AnyLayout = const std::optional<StridedLayout>&;
inline PyObject* strided_object;
template <>
struct Argument<StridedLayout> : ByValue<StridedLayout> {
  static constexpr const char *expected = "torch.layout", *stub = "Any";
  static bool read(PyObject* o, StridedLayout&) { return o == strided_object; }
};

inline PyObject* memory_format_objects[4];  // in the order of MemoryFormat
template <>
struct Argument<MemoryFormat> : ByValue<MemoryFormat> {
  static constexpr const char *expected = "torch.memory_format", *stub = "memory_format";
  static bool read(PyObject* o, MemoryFormat& s) {
    for (int i = 0; i < 4; ++i)
      if (o == memory_format_objects[i]) {
        s = MemoryFormat(i);
        return true;
      }
    return false;
  }
};

}  // namespace rushlight::python
