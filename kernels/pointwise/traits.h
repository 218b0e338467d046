// What the struct of an op says, as constants; and its formulas as functions of elements, for the
// loops of any device. Both sides read this file: csrc/ops (what to save, how to promote) and the
// kernels.
#pragma once
#include <array>
#include <string_view>
#include <utility>

#include "../pointwise.h"
#include "declare.h"

namespace rushlight {

template <class R, class... A>
constexpr int argument_count(R (*)(A...)) {
  return sizeof...(A);
}
template <class R, class... A>
constexpr unsigned bool_arguments(R (*)(A...)) {
  unsigned mask = 0, bit = 1;
  ((mask |= std::is_same_v<A, bool> ? bit : 0, bit <<= 1), ...);
  return mask;
}
template <class R, class... A>
constexpr bool returns_bool(R (*)(A...)) {
  return std::is_same_v<R, bool>;
}
constexpr int count_of_bits(unsigned mask) {
  return mask ? int(mask & 1) + count_of_bits(mask >> 1) : 0;
}

template <class Op>
struct Traits {
  static constexpr std::string_view signature = Op::signature;
  static constexpr std::string_view name = signature.substr(0, signature.find('('));
  static constexpr int parameters = [] {
    int n = 0;
    for (char c : signature) n += c == '=';
    return n;
  }();
  static constexpr Takes takes = [] {
    if constexpr (requires { Op::takes; })
      return Op::takes;
    else
      return Takes::converted;
  }();
  static constexpr bool on_integers = takes >= Takes::numeric;
  static constexpr bool on_floats = takes < Takes::integers;
  static constexpr bool in_double = requires { Op::in_double; };
  // The type that the constants below read the struct's functions with.
  using Real = std::conditional_t<in_double, double, float>;
  using Any = std::conditional_t<on_floats, Real, Integer>;
  static constexpr auto f = &Op::template forward<Any>;
  static constexpr int inputs = argument_count(f) - parameters;
  static constexpr unsigned bool_inputs = bool_arguments(f);
  static constexpr bool bool_result = returns_bool(f);
  static constexpr bool differentiable = requires { &Op::template backward<Real>; };
  static constexpr bool divides = requires { Op::divides; };  // an integer divisor may not be zero
  static constexpr bool angle = requires { Op::angle; };  // see math/trigonometric.h
  static constexpr unsigned save = Op::save.all();
  static constexpr unsigned saved_inputs = save & ~Save::output;
  static constexpr int saved = count_of_bits(save);
  static constexpr int gradients = inputs - count_of_bits(bool_inputs);
  static constexpr bool well_formed = [] {  // so that a slip in a struct is one line, not a page
    static_assert(inputs >= 1 && inputs <= kMaxInputs,
                  "signature: one name per argument of forward");
    static_assert(parameters <= kMaxParameters, "at most kMaxParameters parameters");
    static_assert(saved <= kMaxSaved && saved_inputs >> inputs == 0,
                  "save names an input that forward does not have");
    if constexpr (differentiable)
      static_assert(argument_count(&Op::template backward<Real>) == 1 + saved + parameters,
                    "backward takes g, what `save` names in order, then the parameters");
    return true;
  }();
  static_assert(well_formed);
  static constexpr Domain domain = [] {
    if constexpr (requires { Op::domain; })
      return Op::domain;
    else
      return Domain{-3, 3};
  }();
  static constexpr unsigned visible = [] {
    if constexpr (requires { Op::visible; })
      return Op::visible;
    else
      return Visible::function | Visible::method;
  }();
  static constexpr unsigned in_place = [] {
    if constexpr (visible == Visible::nowhere)
      return Visible::nowhere;
    else if constexpr (requires { Op::in_place; })
      return Op::in_place;
    else if constexpr (visible == Visible::functional)
      return Visible::functional;
    else if constexpr (visible == Visible::special)
      return Visible::nowhere;
    else
      return inputs == 1 ? Visible::function | Visible::method : Visible::method;
  }();
  // "leaky_relu" -> "LeakyReluBackward0"
  static constexpr auto derived_node = [] {
    std::array<char, name.size() + 10> s{};
    std::size_t n = 0;
    bool up = true;
    for (char c : name) {
      if (c != '_') s[n++] = up && c >= 'a' && c <= 'z' ? char(c - 32) : c;
      up = c == '_';
    }
    for (char c : std::string_view("Backward0")) s[n++] = c;
    return s;
  }();
  static constexpr const char* node = [] {
    if constexpr (requires { Op::node; })
      return Op::node;
    else
      return derived_node.data();
  }();
};

// A struct's forward or backward as a function of kIn elements and the parameters with kOut
// results, for kernels of any device.
template <class Op>
struct Forward {
  static constexpr int kIn = Traits<Op>::inputs, kOut = 1;
  static constexpr unsigned bools = Traits<Op>::bool_inputs;
  static constexpr bool bool_result = Traits<Op>::bool_result;
  template <class... X>
  HOST_DEVICE static auto result(X... x) {
    return Op::forward(x...);
  }
  template <class... X>
  HOST_DEVICE static auto apply(X... x) {
    struct {
      decltype(result(x...)) of[1];
    } r = {{result(x...)}};
    return r;
  }
};
template <class Op>
struct Backward {
  static constexpr int kIn = 1 + Traits<Op>::saved, kOut = Traits<Op>::gradients;
  static constexpr bool bool_result = false;
  static constexpr unsigned bools = [] {  // the saved conditions, after g
    unsigned mask = 0, position = 2;
    for (unsigned i = 0; i < kMaxInputs; ++i)
      if (Traits<Op>::save >> i & 1) {
        if (Traits<Op>::bool_inputs >> i & 1) mask |= position;
        position <<= 1;
      }
    return mask;
  }();
  template <class T, class... X>
  HOST_DEVICE static Grads<T, kOut> apply(T g, X... x) {
    if constexpr (kOut == 1)
      return {{Op::backward(g, x...)}};
    else
      return Op::backward(g, x...);
  }
};

}  // namespace rushlight
