// The other forms of an op that makes its result first: with out=, and in place.
#pragma once
#include "bindings/output.h"
#include "bindings/signature.h"

namespace rushlight::python {

// F's parameters, then out.
template <auto F>
struct Written;
template <class... A, Tensor (*F)(A...)>
struct Written<F> {
  static inline std::string name;
  static Tensor call(A... a, Out out) {
    return deliver(name.c_str(), out, F(static_cast<A&&>(a)...));
  }
};
template <auto F>
void op_with_out(pybind11::module_& m, std::string_view text, As as, std::string_view doc) {
  Written<F>::name = text.substr(0, text.find('('));
  op<&Written<F>::call>(m, text, as, doc);
}

template <auto F>
struct InPlace;
template <class... A, Tensor (*F)(const Tensor&, A...)>
struct InPlace<F> {
  static inline std::string name;
  static Tensor call(const Tensor& self, A... a) {
    return written_to_self(self, F(self, static_cast<A&&>(a)...), name);
  }
};
template <auto F>
void op_in_place(pybind11::module_& m, std::string_view text) {
  InPlace<F>::name = text.substr(0, text.find('('));
  const std::string plain = InPlace<F>::name.substr(0, InPlace<F>::name.size() - 1);
  op<&InPlace<F>::call>(m, text, As::method, plain + "() in place.");
}

}  // namespace rushlight::python
