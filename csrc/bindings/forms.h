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

// The result written to the first parameter, through which its history then goes.
inline Tensor written_to_self(const Tensor& self, const Tensor& result, const std::string& name) {
  if (!same(result.sizes(), self.sizes()))
    fail<RuntimeError>("output with shape ", self.sizes(), " doesn't match the broadcast shape ",
                       result.sizes(), "\n", name, "(): ", describe("self", self));
  if (!can_cast(result.dtype(), self.dtype()))
    fail<RuntimeError>("result type ", scalar_name(result.dtype()),
                       " can't be cast to the desired output type ", scalar_name(self.dtype()),
                       "\n", name, "(): ", describe("self", self));
  copy_(self, result);
  return self;
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
