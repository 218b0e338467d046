// The loops of complex numbers: of pairs that lie dense, in vectors. Whatever lies otherwise is
// brought into that form as the operands of every pointwise op are (pointwise.cpp).
#include "complex.h"

#include <bit>

#include "job.h"
#include "kernels/complex_formulas.h"

namespace rushlight {
namespace {

// By ComplexFormula: of two numbers and a parameter, or of one.
struct Sum {
  template <class T>
  static ComplexParts<T> of(ComplexParts<T> a, ComplexParts<T> b, T alpha) {
    return {a.re + alpha * b.re, a.im + alpha * b.im};
  }
};
// -x by its bits: of a difference beside a sum gcc makes one instruction that multiplies as well,
// where nothing may be fused too.
template <class T>
T negated(T x) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  return std::bit_cast<T>(std::bit_cast<Bits>(x) ^ Bits(1) << (8 * sizeof(T) - 1));
}
struct Product {
  template <class T>
  static ComplexParts<T> of(ComplexParts<T> a, ComplexParts<T> b) {
    return {a.re * b.re + a.im * negated(b.im), a.re * b.im + a.im * b.re};
  }
};
struct Quotient {
  template <class T>
  static ComplexParts<T> of(ComplexParts<T> a, ComplexParts<T> b) {
    return quotient(a, b);
  }
};
template <class F>
struct ByConjugate {
  template <class T>
  static ComplexParts<T> of(ComplexParts<T> a, ComplexParts<T> b) {
    return F::of(a, ComplexParts<T>{b.re, negated(b.im)});
  }
};
struct Size {
  template <class T>
  static T of(ComplexParts<T> z) {
    return hypot(z.re, z.im);
  }
};
struct Conjugate {
  template <class T>
  static ComplexParts<T> of(ComplexParts<T> z) {
    return {z.re, -z.im};
  }
};
struct Unit {
  template <class T>
  static ComplexParts<T> of(ComplexParts<T> z) {
    const T size = hypot(z.re, z.im), scale = where(size == T(0), T(0), T(1) / size);
    return {z.re * scale, z.im * scale};
  }
};

// Nothing is fused: the imaginary part of z times its conjugate is 0.
template <class F, class T>
[[gnu::optimize("fp-contract=off")]] CLONES_512 __attribute__((flatten)) void complex_loop(
    std::int64_t n, void* const* out, const void* const* in, const Scalar* parameters) {
  T* const y = static_cast<T*>(out[0]);
  const T* const a = static_cast<const T*>(in[0]);
  const auto at = [](const T* pairs, std::int64_t i) {
    return ComplexParts<T>{pairs[2 * i], pairs[2 * i + 1]};
  };
  const auto put = [y](std::int64_t i, ComplexParts<T> z) { y[2 * i] = z.re, y[2 * i + 1] = z.im; };
  if constexpr (requires { F::of(ComplexParts<T>{}, ComplexParts<T>{}, T(1)); }) {
    const T* const b = static_cast<const T*>(in[1]);
    const T p = parameters->to<T>();
#pragma GCC ivdep
    for (std::int64_t i = 0; i < n; ++i) put(i, F::of(at(a, i), at(b, i), p));
  } else if constexpr (requires { F::of(ComplexParts<T>{}, ComplexParts<T>{}); }) {
    const T* const b = static_cast<const T*>(in[1]);
#pragma GCC ivdep
    for (std::int64_t i = 0; i < n; ++i) put(i, F::of(at(a, i), at(b, i)));
  } else if constexpr (std::is_same_v<F, Size>) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < n; ++i) y[i] = F::of(at(a, i));
  } else {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < n; ++i) put(i, F::of(at(a, i)));
  }
}

struct ComplexLoop {
  PointwiseLoop of[2];  // by Computes
  int inputs;
};
template <class F>
constexpr ComplexLoop loops_of(int inputs) {
  return {{&complex_loop<F, float>, &complex_loop<F, double>}, inputs};
}
constexpr ComplexLoop kLoops[kComplexFormulas] = {loops_of<Sum>(2),
                                                  loops_of<Product>(2),
                                                  loops_of<Quotient>(2),
                                                  loops_of<ByConjugate<Product>>(2),
                                                  loops_of<ByConjugate<Quotient>>(2),
                                                  loops_of<Size>(1),
                                                  loops_of<Conjugate>(1),
                                                  loops_of<Unit>(1)};

}  // namespace

void run_complex(ComplexFormula f, const PointwiseCall& c) {
  if (c.numel == 0) return;
  const ComplexLoop& loop = kLoops[int(f)];
  const bool wide = c.computes == Computes::real64;
  const BlockType type = wide ? BlockType::complex128 : BlockType::complex64;
  Job job{c, loop.of[wide], nullptr, 1, 1 + loop.inputs, false, {}};
  for (int i = 0; i < job.operands; ++i) job.types[i] = type;
  if (f == ComplexFormula::size) job.types[0] = BlockType(c.computes);
  run(job);
}

}  // namespace rushlight
