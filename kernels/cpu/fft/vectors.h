// Vectors of neighbours, and how several are mixed. They are inlined into loops of several
// instruction sets.
#pragma once
#include <cstring>
#include <utility>

namespace rushlight::fft {

template <class T, int n>
struct VectorOf {
  typedef T type __attribute__((vector_size(n * sizeof(T))));
};
template <class T>
struct VectorOf<T, 1> {
  using type = T;
};

template <class V, class T>
[[gnu::always_inline]] inline V load_vector(const T* from) {
  V v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
template <class V, class T>
[[gnu::always_inline]] inline void store_vector(T* to, const V& v) {
  std::memcpy(to, &v, sizeof v);
}

// a[0] b[0] a[1] b[1] ..., in two vectors, of elements of w numbers each.
template <int w = 1, class V, int... k>
[[gnu::always_inline]] inline void zip(V& a, V& b, std::integer_sequence<int, k...>) {
  constexpr int n = sizeof...(k);
  const V low = __builtin_shufflevector(a, b, (k / w / 2 * w + k % w + k / w % 2 * n)...);
  b = __builtin_shufflevector(a, b, (n / 2 + k / w / 2 * w + k % w + k / w % 2 * n)...);
  a = low;
}
// The way back: what is even, and what is odd.
template <class V, int... k>
[[gnu::always_inline]] inline void unzip(V& a, V& b, std::integer_sequence<int, k...>) {
  const V even = __builtin_shufflevector(a, b, (2 * k)...);
  b = __builtin_shufflevector(a, b, (2 * k + 1)...);
  a = even;
}

// `rows` vectors of n: the columns of them one after another, of elements of w numbers. rows is a
// power of two.
template <int rows, int n, int w = 1, class V>
[[gnu::always_inline]] inline void by_columns(V (&t)[rows]) {
#pragma GCC unroll 4
  for (int round = 1; round < rows; round *= 2) {
    V mixed[rows];
#pragma GCC unroll 16
    for (int i = 0; i < rows / 2; ++i) {
      mixed[2 * i] = t[i], mixed[2 * i + 1] = t[i + rows / 2];
      zip<w>(mixed[2 * i], mixed[2 * i + 1], std::make_integer_sequence<int, n>());
    }
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) t[i] = mixed[i];
  }
}

}  // namespace rushlight::fft
