// The C++ tests' one assertion: prints what failed and makes main() return 1.
#pragma once
#include <cstdio>

namespace check {
inline int failures = 0;
inline void that(bool ok, const char* claim) {
  if (ok) return;
  std::printf("FAILED: %s\n", claim);
  ++failures;
}
}  // namespace check
