// How much is left of a thread's stack. What recurses through Python and back gets a RecursionError
// while there is room for one: sys.setrecursionlimit() lets a program go deeper than any stack.
#pragma once
#include <cstdint>

namespace rushlight::python {

// Below this address a thread is refused further calls; not known before its first one.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local std::uintptr_t stack_floor =
    UINTPTR_MAX;

// Whether the call that asks may go on; false with a RecursionError. The lock is held.
bool look_at_stack();
[[gnu::always_inline]] inline bool has_stack() {
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) >= stack_floor ||
         look_at_stack();
}
// The same, which throws.
void check_stack();

}  // namespace rushlight::python
