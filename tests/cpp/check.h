// The C++ tests' assertions: they print what failed and make main() return 1.
#pragma once
#include <cstdio>

namespace check {
inline int failures = 0;
inline void that(bool ok, const char* claim) {
  if (ok) return;
  std::printf("FAILED: %s\n", claim);
  ++failures;
}
// f() throws an E.
template <class E, class F>
void throws(F f, const char* claim) {
  try {
    f();
  } catch (const E&) {
    return;
  }
  that(false, claim);
}
}  // namespace check
