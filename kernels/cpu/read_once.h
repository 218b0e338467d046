// Reading indices that another thread may be writing: the compiler must not read a value again
// between its check and its use.
#pragma once
#include <cstdint>

namespace rushlight {

template <class T>
[[gnu::always_inline]] inline T read_once(const T* at) {
  return __atomic_load_n(at, __ATOMIC_RELAXED);
}

// The index at `at` if it lies in [0, size), else -1.
template <class T>
[[gnu::always_inline]] inline std::int64_t checked_index(const T* at, std::int64_t size) {
  const std::int64_t value = read_once(at);
  return value >= 0 && value < size ? value : -1;
}

}  // namespace rushlight
