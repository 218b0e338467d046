// NVIDIA's libraries: opened when they are first needed, never linked. Each has a header of its own
// with what is used of it; a caller takes functions<Functions>() and has another way where that is
// null.
#pragma once
#include <cstring>
#include <string>
#include <vector>

#include "kernels/libraries.h"
#include "kernels/provider.h"

namespace rushlight::gpu {

void set_host(const ProviderHost* host);
const MathSwitches& switches();

extern const ProviderLibraries provider_libraries;

// What a table of a library's functions says of the library.
struct LibraryKind {
  const char* title;  // its usual name
  const char* name;  // as cuda-pathfinder calls it
  const char* soname;  // of the interface that the table is written for
  const char* variable;  // of the environment: a file, or "none" not to use it
  const char* package;  // of the Python package index
  const char* needs[2];  // libraries that it looks for by itself, among those that are loaded
  int floor;  // the oldest version that is taken
  int (*version)(void* first_function);
  const char* const* names;  // of the functions, in the table's order
  std::size_t count;
};
struct Library {
  int version = 0;  // 0: absent
  std::string words;
  std::vector<void*> functions;
};
// Searched at the first call. No lock may be held: the search may call Python.
const Library& library(const LibraryKind& kind);

// Throws what a call of it answered, `status` in the library's words, and how to go without it.
[[noreturn]] void fail_call(const LibraryKind& kind, const char* errors, const char* status,
                            const char* call);

// The table, or null where the library is absent. A table is a struct of function pointers with
// `names` in their order, `kind()`, and the function that gives the version first.
template <class Functions>
const Functions* functions() {
  static_assert(sizeof(Functions) ==
                sizeof(void*) * (sizeof Functions::names / sizeof Functions::names[0]));
  const Library& found = library(Functions::kind());
  if (found.version == 0) return nullptr;
  static const Functions table = [&] {
    Functions t;
    std::memcpy(static_cast<void*>(&t), found.functions.data(), sizeof t);
    return t;
  }();
  return &table;
}

}  // namespace rushlight::gpu
