// The one loop of every pointwise op: dense, in the type it computes in. Everything else (strides,
// broadcasting, scalars, 16-bit floats, narrow integers, mixed dtypes) is brought into that form a
// block at a time by pointwise.cpp, so an op compiles to one loop for each of float, double and
// int64 and no more; some have one for each narrower integer too (small.h), and light ones one that
// reads and writes bfloat16 (bfloat16_bits.h).
#pragma once
#include <algorithm>
#include <vector>

#include "bfloat16_bits.h"
#include "bfloat16_loop.h"
#include "quotient.h"
#include "ramp.h"
#include "small.h"
#include "square_root.h"
#include "usual.h"

namespace rushlight {

struct PointwiseLoops {
  PointwiseLoop forward[3], backward[2];  // by Computes; null where the op does not take that type
  // bool_saved: as Backward::bools
  std::uint8_t inputs, saved, gradients;
  std::uint8_t parameters;  // that a small loop reads
  std::uint8_t bool_inputs, bool_saved;
  bool bool_result, divides, in_double = false;
  // With its inputs swapped the op is itself or another one, while its parameter, if it has one,
  // is 1.
  bool commutes = false;
  const PointwiseLoops* reversed = nullptr;
  bool constant = false, constant_value = false;  // of integers: all have this answer
  PointwiseLoop small[kSmall] = {};  // of kSmallTypes
  bool changes_sign = false;  // and nothing else
  bool rounds_bfloat16 = false;  // small[kBfloat16] computes in float: any number and parameter
  PointwiseLoop bfloat16_backward = nullptr;
  PointwiseLoop by_scalar[kBlockTypes] = {};  // by BlockType: the last inputs are one element each
  std::uint8_t scalars = 1;  // how many; where they are several, all are scalars
  // The backward of a call with those, which have no gradient; also in float32 and float64 alone.
  PointwiseLoop first_gradients[kBlockTypes] = {};
};

template <class T>
struct Memory {
  using type = T;
};
template <>
struct Memory<Integer> {
  using type = std::int64_t;
};
template <class T>
struct Memory<Near<T>> {
  using type = T;
};
template <class M, bool kTruth>
struct Memory<Small<M, kTruth>> {
  using type = M;
};
template <>
struct Memory<Bfloat16Bits> {
  using type = std::uint16_t;
};
template <>
struct Memory<NearWhole> {
  using type = std::int64_t;
};

// ivdep, not __restrict: in place, out and in are the same memory, element by element, and that is
// the only overlap csrc lets through. flatten: a formula left as a call would be 16 times slower.
// kScalars: so many of the last inputs are the same element for all.
template <class Op, class K, class T, class M = typename Memory<T>::type, int kScalars = 0>
CLONES_512 __attribute__((flatten)) void dense_loop(std::int64_t n, void* const* out,
                                                    const void* const* in,
                                                    const Scalar* parameters) {
  using Byte = std::uint8_t;  // of a bool itself, read or written, gcc makes a branch
  using R = std::conditional_t<K::bool_result, Byte, M>;
  [&]<std::size_t... I, std::size_t... O, std::size_t... P>(
      std::index_sequence<I...>, std::index_sequence<O...>, std::index_sequence<P...>) {
    auto pointer = [&]<std::size_t i>(std::integral_constant<std::size_t, i>) {
      return static_cast<const std::conditional_t<bool(K::bools >> i & 1), Byte, M>*>(in[i]);
    };
    M scalars[] = {(I + kScalars >= K::kIn ? *static_cast<const M*>(in[I]) : M{})...};
    auto run = [&](auto... x) {
      R* const y[] = {static_cast<R*>(out[O])...};
      using Number = std::conditional_t<std::is_same_v<T, Bfloat16Bits>, float, Compute<M>>;
      const T p[] = {T(parameters[P].template to<Number>())..., T(0)};
      (void)p;
      auto element = [&]<std::size_t i>(std::integral_constant<std::size_t, i>, auto* e) {
        if constexpr (K::bools >> i & 1)
          return *e != 0;
        else if constexpr (i + kScalars >= K::kIn)
          return T(load(&scalars[i]));
        else
          return T(load(e));
      };
      auto stored = [](auto v) {
        if constexpr (std::is_arithmetic_v<decltype(v)>)
          return v;
        else if constexpr (std::is_same_v<decltype(v), NearWhole>)
          return v.whole();
        else
          return v.v;
      };
#pragma GCC ivdep
      for (std::int64_t i = 0; i < n; ++i) {
        if constexpr (K::bool_result) {  // an array of a bool would stay in memory
          y[0][i] = K::result(element(std::integral_constant<std::size_t, I>{}, x + i)..., p[P]...);
        } else {
          const auto results =
              K::apply(element(std::integral_constant<std::size_t, I>{}, x + i)..., p[P]...);
          (store(y[O] + i, stored(results.of[O])), ...);
        }
      }
    };
    run(pointer(std::integral_constant<std::size_t, I>{})...);
  }(std::make_index_sequence<K::kIn>{}, std::make_index_sequence<K::kOut>{},
    std::make_index_sequence<Traits<Op>::parameters>{});
}

template <class T>  // those of infinite angles are NaN by any formula
CLONES_512 bool any_far(const T* x, std::int64_t n) {
  int far = 0;
  for (std::int64_t i = 0; i < n; ++i)
    far |= int(abs(x[i]) > Layout<T>::near_angle) & int(abs(x[i]) < kInfinity<T>);
  return far;
}

// sin, cos and tan of a block some of whose angles lie so far out that the fast reduction fails: in
// double, where it reaches further, and beyond that of an equivalent angle, one by one.
template <class Op, class K, class T, std::int64_t kBlock, class Wide = double>
void far_angles(std::int64_t n, T* y, const T* const* x, const Scalar* parameters) {
  constexpr int last = K::kIn - 1;
  alignas(64) Wide wide[K::kIn][kBlock], results[kBlock];
  const void* in[K::kIn];
  for (int i = 0; i < last; ++i) std::copy_n(x[i], n, wide[i]);
  for (int i = 0; i < K::kIn; ++i) in[i] = wide[i];
  for (std::int64_t i = 0; i < n; ++i) {
    const Wide angle = x[last][i];
    wide[last][i] = abs(angle) > Layout<Wide>::near_angle ? equivalent_angle(angle) : angle;
  }
  void* const out[] = {results};
  dense_loop<Op, K, Wide>(n, out, in, parameters);
  for (std::int64_t i = 0; i < n; ++i) y[i] = static_cast<T>(results[i]);
}
// The angle is the last input, of forward and backward.
template <class Op, class K, class T>
void angle_loop(std::int64_t n, void* const* out, const void* const* in, const Scalar* parameters) {
  constexpr std::int64_t kBlock = kBlockBytes / sizeof(T);
  for (std::int64_t begin = 0; begin < n; begin += kBlock) {
    const std::int64_t count = n - begin < kBlock ? n - begin : kBlock;
    T* const y = static_cast<T*>(out[0]) + begin;
    const T* x[K::kIn];
    for (int i = 0; i < K::kIn; ++i) x[i] = static_cast<const T*>(in[i]) + begin;
    if (any_far(x[K::kIn - 1], count)) {
      far_angles<Op, K, T, kBlock>(count, y, x, parameters);
      continue;
    }
    const void* moved_in[K::kIn];
    std::copy_n(x, K::kIn, moved_in);
    void* const moved_out[] = {y};
    dense_loop<Op, K, T>(count, moved_out, moved_in, parameters);
  }
}

// fmod and its kin: blocks whose quotients are all near are computed in vectors.
using QuotientOps = OpList<DivTrunc, DivFloor, FloorDivide, Remainder, Fmod>;
template <class Op, class K, class T>
void quotient_loop(std::int64_t n, void* const* out, const void* const* in,
                   const Scalar* parameters) {
  using M = typename Memory<T>::type;
  constexpr std::int64_t kBlock = kBlockBytes / sizeof(M);
  for (std::int64_t begin = 0; begin < n; begin += kBlock) {
    const std::int64_t count = n - begin < kBlock ? n - begin : kBlock;
    const void* moved_in[K::kIn];
    for (int i = 0; i < K::kIn; ++i) moved_in[i] = static_cast<const M*>(in[i]) + begin;
    void* moved_out[K::kOut];
    for (int i = 0; i < K::kOut; ++i) moved_out[i] = static_cast<M*>(out[i]) + begin;
    const M *a = static_cast<const M*>(moved_in[K::kIn - 2]),
            *b = static_cast<const M*>(moved_in[K::kIn - 1]);
    (all_near(a, b, count) ? dense_loop<Op, K, NearOf<T>>
                           : dense_loop<Op, K, T>)(count, moved_out, moved_in, parameters);
  }
}

// Functions of one argument without their special cases, for blocks that have none.
using UsualOps = OpList<Exp, Log, Log2, Log10>;
template <class Op, class K, class T>
void usual_loop(std::int64_t n, void* const* out, const void* const* in, const Scalar* parameters) {
  constexpr std::int64_t kBlock = kBlockBytes / sizeof(T), kFew = 64;  // checking these costs more
  for (std::int64_t begin = 0; begin < n; begin += kBlock) {
    const std::int64_t count = n - begin < kBlock ? n - begin : kBlock;
    const T* const x = static_cast<const T*>(in[0]) + begin;
    T* const y = static_cast<T*>(out[0]) + begin;
    if (count >= kFew && (x != y || all_usual(x, count, kUsualRange<Op, T>)) &&
        usual_values<Op>(x, y, count))
      continue;
    const void* const moved_in[] = {x};
    void* const moved_out[] = {y};
    dense_loop<Op, K, T>(count, moved_out, moved_in, parameters);
  }
}

template <class Op, class K, class T>
void square_root_loop(std::int64_t n, void* const* out, const void* const* in,
                      const Scalar* parameters) {
  if (!square_roots(n, static_cast<const T*>(in[0]), static_cast<T*>(out[0])))
    dense_loop<Op, K, T>(n, out, in, parameters);
}

// Of ops that are computed in double: one element after the other, compiled once, as no vector unit
// helps formulas with branches and loops.
template <class Op, class K>
void double_loop(std::int64_t n, void* const* out, const void* const* in,
                 const Scalar* parameters) {
  [&]<std::size_t... I, std::size_t... P>(std::index_sequence<I...>, std::index_sequence<P...>) {
    const double p[] = {parameters[P].as_double()..., 0};
    (void)p;
    for (std::int64_t i = 0; i < n; ++i) {
      const auto results = K::apply(static_cast<const double*>(in[I])[i]..., p[P]...);
      for (int k = 0; k < K::kOut; ++k) static_cast<double*>(out[k])[i] = results.of[k];
    }
  }(std::make_index_sequence<K::kIn>{}, std::make_index_sequence<Traits<Op>::parameters>{});
}

// Of lgamma and digamma: blocks without negative numbers need no reflection.
template <class Op, class K, bool reflects>
CLONES_512 __attribute__((flatten)) void gamma_loop(std::int64_t n, double* y, const double* g,
                                                    const double* x) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) {
    const bool below = reflects && x[i] < 0;
    const double at = below ? 1 - x[i] : x[i];
    if constexpr (K::kIn == 1) {
      const double value = Op::forward_not_negative(at);
      y[i] = below ? Op::forward_reflected(x[i], value) : value;
    } else {
      const double value = Op::slope_not_negative(at);
      y[i] = g[i] * (below ? Op::slope_reflected(x[i], value) : value);
    }
  }
}
template <class Op, class K>
void split_loop(std::int64_t n, void* const* out, const void* const* in, const Scalar*) {
  constexpr std::int64_t kBlock = kBlockBytes / sizeof(double);
  for (std::int64_t begin = 0; begin < n; begin += kBlock) {
    const std::int64_t count = n - begin < kBlock ? n - begin : kBlock;
    const double* x = static_cast<const double*>(in[K::kIn - 1]) + begin;
    const double* g = static_cast<const double*>(in[0]) + begin;
    double* const y = static_cast<double*>(out[0]) + begin;
    int below = 0;
    for (std::int64_t i = 0; i < count; ++i) below |= x[i] < 0;
    if (!below) {
      gamma_loop<Op, K, false>(count, y, g, x);
    } else if constexpr (K::kIn == 1 && requires { Op::has_lost_digits(1.0, 1.0); }) {
      alignas(64) double copy[kBlock];  // y may be x
      std::copy_n(x, count, copy);
      gamma_loop<Op, K, true>(count, y, g, x);
      for (std::int64_t i = 0; i < count; ++i)
        if (copy[i] < 0 && Op::has_lost_digits(copy[i], y[i])) y[i] = Op::forward(copy[i]);
    } else {
      gamma_loop<Op, K, true>(count, y, g, x);
    }
  }
}

// Of erfinv and its kin: blocks in which elements far out are rare are computed by the formula for
// the others, and those again, one by one.
template <class Op, class T, class... P>
CLONES_512 std::int64_t count_far(const T* x, std::int64_t n, P... p) {
  std::int64_t far = 0;
  for (std::int64_t i = 0; i < n; ++i) far += !Op::is_near(x[i], p...);
  return far;
}
template <class Op, class T, class... P>
CLONES_512 __attribute__((flatten)) void near_loop(std::int64_t n, T* y, const T* x, P... p) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) y[i] = Op::forward_near(x[i], p...);
}
template <class Op, class T, PointwiseLoop all, class... P>
void mostly_near_blocks(std::int64_t n, void* const* out, const void* const* in,
                        const Scalar* parameters, P... p) {
  constexpr std::int64_t kBlock = kBlockBytes / sizeof(T), kRare = 16;
  for (std::int64_t begin = 0; begin < n; begin += kBlock) {
    const std::int64_t count = n - begin < kBlock ? n - begin : kBlock;
    const T* x = static_cast<const T*>(in[0]) + begin;
    T* const y = static_cast<T*>(out[0]) + begin;
    const std::int64_t far = count_far<Op>(x, count, p...);
    if (far * kRare > count) {
      const void* const moved_in[] = {x};
      void* const moved_out[] = {y};
      all(count, moved_out, moved_in, parameters);
      continue;
    }
    alignas(64) T copy[kBlock];  // y may be x
    if (far) std::copy_n(x, count, copy);
    near_loop<Op>(count, y, x, p...);
    for (std::int64_t i = 0; far && i < count; ++i)
      if (!Op::is_near(copy[i], p...)) y[i] = Op::forward(copy[i], p...);
  }
}
template <class Op, class T, PointwiseLoop all>
void mostly_near_loop(std::int64_t n, void* const* out, const void* const* in,
                      const Scalar* parameters) {
  if constexpr (Traits<Op>::parameters == 0)
    mostly_near_blocks<Op, T, all>(n, out, in, parameters);
  else
    mostly_near_blocks<Op, T, all>(n, out, in, parameters, parameters[0].template to<T>());
}

// A float's quotient rounded towards zero needs none of that.
template <class Op, class T>
inline constexpr bool has_near_quotients =
    is_among<Op>(QuotientOps{}) && (!Real<T> || !std::is_same_v<Op, DivTrunc>);

template <class Op, class K, class T>
constexpr PointwiseLoop loop_of() {
  if constexpr (Traits<Op>::angle)
    return &angle_loop<Op, K, T>;
  else if constexpr (std::is_same_v<K, Forward<Op>> ? has_near_quotients<Op, T>
                                                    : std::is_same_v<Op, Remainder>)
    return &quotient_loop<Op, K, T>;
  else if constexpr (std::is_same_v<K, Forward<Op>> && is_among<Op>(UsualOps{}))
    return &usual_loop<Op, K, T>;
  else if constexpr (std::is_same_v<K, Forward<Op>> && std::is_same_v<Op, Sqrt> && Real<T>)
    return &square_root_loop<Op, K, T>;
  else if constexpr (std::is_same_v<K, Forward<Op>> && Real<T> &&
                     requires { Op::forward_near(T()); })
    return &mostly_near_loop<Op, T, &dense_loop<Op, K, T>>;
  else if constexpr (std::is_same_v<K, Forward<Op>> && requires { Op::is_ramp; })
    return &ramp_loop<Op, T, &dense_loop<Op, K, T>>;
  else
    return &dense_loop<Op, K, T>;
}

template <class Op, class K>
constexpr PointwiseLoop double_loop_of() {
  constexpr PointwiseLoop all = [] {
    if constexpr (requires { Op::clones; })
      return &dense_loop<Op, K, double>;
    else
      return &double_loop<Op, K>;
  }();
  if constexpr (std::is_same_v<K, Forward<Op>> &&
                (requires { Op::forward_near(1.0); } || requires { Op::forward_near(1.0, 1.0); }))
    return &mostly_near_loop<Op, double, all>;
  else
    return all;
}

template <class Op, int kFirst>
struct FirstGradients : Backward<Op> {
  static constexpr int kOut = kFirst;
};

template <class Op>
PointwiseLoops loops_of();

// With a scalar, or one element for each row of the other operand, which stays in a register.
using ScalarOps =
    OpList<Add, Sub, Rsub, Mul, Div, Lerp, Clamp, ClampMin, ClampMax>;  // all round bfloat16
template <class Op>
void set_loops_by_scalar(PointwiseLoops& l) {
  using K = Forward<Op>;
  constexpr int n = std::is_same_v<Op, Clamp> ? 2 : 1;
  l.scalars = n;
  l.by_scalar[int(BlockType::real32)] = &dense_loop<Op, K, float, float, n>;
  l.by_scalar[int(BlockType::real64)] = &dense_loop<Op, K, double, double, n>;
  l.by_scalar[int(BlockType::bfloat16)] = &bfloat16_loop<Op, K, n>;
  using First = FirstGradients<Op, Traits<Op>::gradients - n>;
  l.first_gradients[int(BlockType::real32)] = &dense_loop<Op, First, float>;
  l.first_gradients[int(BlockType::real64)] = &dense_loop<Op, First, double>;
  l.first_gradients[int(BlockType::bfloat16)] = &bfloat16_loop<Op, First>;
  if constexpr (std::is_same_v<Op, Sub>) {
    static const PointwiseLoops other = loops_of<Rsub>();
    l.reversed = &other;
  }
  l.commutes = is_among<Op>(OpList<Add, Mul>{});
  if constexpr (is_among<Op>(OpList<Add, Mul, Clamp, ClampMin, ClampMax>{})) {
    l.by_scalar[int(BlockType::int32)] = &dense_loop<Op, K, Small<std::int32_t>, std::int32_t, n>;
    l.by_scalar[int(BlockType::integer)] = &dense_loop<Op, K, Integer, std::int64_t, n>;
  }
}

template <class Op>
PointwiseLoops loops_of() {
  using T = Traits<Op>;
  PointwiseLoops l = {{},
                      {},
                      T::inputs,
                      T::saved,
                      T::gradients,
                      T::parameters,
                      T::bool_inputs,
                      0,
                      T::bool_result,
                      T::divides};
  l.in_double = T::in_double;
  if constexpr (T::in_double) {
    if constexpr (requires { Op::forward_not_negative(1.0); })
      l.forward[1] = &split_loop<Op, Forward<Op>>;
    else
      l.forward[1] = double_loop_of<Op, Forward<Op>>();
    if constexpr (requires { Op::slope_not_negative(1.0); })
      l.backward[1] = &split_loop<Op, Backward<Op>>;
    else if constexpr (T::differentiable)
      l.backward[1] = double_loop_of<Op, Backward<Op>>();
    return l;
  } else if constexpr (T::on_floats) {
    l.forward[0] = loop_of<Op, Forward<Op>, float>();
    l.forward[1] = loop_of<Op, Forward<Op>, double>();
  }
  using Whole = typename OfIntegers<Op>::type;
  if constexpr (T::on_integers) {
    l.forward[2] = loop_of<Whole, Forward<Whole>, Integer>();
    l.parameters = Traits<Whole>::parameters;
  }
  if constexpr (requires { Op::of_integers; })
    l.constant = true, l.constant_value = Op::of_integers;
  if constexpr (is_among<Whole>(SmallOps{}))
    l.small[1] = &dense_loop<Whole, Forward<Whole>, Small<std::uint8_t, true>>;
  if constexpr (is_among<Whole>(SmallOps{}) || is_among<Whole>(SmallScalarOps{})) {
    l.small[0] = &dense_loop<Whole, Forward<Whole>, Small<std::uint8_t>>;
    using Byte = std::conditional_t<is_among<Whole>(SignlessOps{}), std::uint8_t, std::int8_t>;
    l.small[2] = &dense_loop<Whole, Forward<Whole>, Small<Byte>>;
    l.small[3] = &dense_loop<Whole, Forward<Whole>, Small<std::int16_t>>;
    l.small[4] = &dense_loop<Whole, Forward<Whole>, Small<std::int32_t>>;
  }
  if constexpr (is_among<Op>(Bfloat16BitsOps{}))
    l.small[kBfloat16] = &dense_loop<Op, Forward<Op>, Bfloat16Bits>;
  l.changes_sign = is_among<Op>(SignBitOps{});
  if constexpr (requires { Op::is_ramp; })
    l.small[kBfloat16] = &bfloat16_ramp_loop<Op, &dense_loop<Op, Forward<Op>, float>>;
  if constexpr (is_among<Op>(RoundedBfloat16Ops{}))
    l.small[kBfloat16] = &bfloat16_loop<Op, Forward<Op>>, l.rounds_bfloat16 = true;
  if constexpr (is_among<Op>(ScalarOps{})) set_loops_by_scalar<Op>(l);
  if constexpr (T::differentiable && is_among<Op>(RoundedBfloat16Gradients{}))
    l.bfloat16_backward = &bfloat16_loop<Op, Backward<Op>>;
  if constexpr (T::differentiable && !T::in_double) {
    l.bool_saved = Backward<Op>::bools;
    l.backward[0] = loop_of<Op, Backward<Op>, float>();
    l.backward[1] = loop_of<Op, Backward<Op>, double>();
  }
  return l;
}

// What is compiled: ops of one formula under several names have the same loops.
template <class Op>
struct FormulaOf {
  using type = Op;
};
template <class Op>
  requires requires { typename Op::Formula; }
struct FormulaOf<Op> {
  using type = typename Op::Formula;
};

// Appends the rows of one list; each file of a family defines its own.
using PointwiseTable = std::vector<PointwiseLoops>;
template <class... Ops>
void append_loops(PointwiseTable& table, OpList<Ops...>) {
  (table.push_back(loops_of<typename FormulaOf<Ops>::type>()), ...);
}
void append_arithmetic_loops(PointwiseTable& table);
void append_selection_loops(PointwiseTable& table);
void append_comparison_loops(PointwiseTable& table);
void append_exponential_loops(PointwiseTable& table);
void append_trigonometric_loops(PointwiseTable& table);
void append_activation_loops(PointwiseTable& table);
void append_loss_loops(PointwiseTable& table);
void append_special_loops(PointwiseTable& table);
void append_bessel_loops(PointwiseTable& table);

}  // namespace rushlight
