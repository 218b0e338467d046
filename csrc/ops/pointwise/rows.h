// Makes the constant rows of one list of structs. The files rows_*.cpp, which include
// this, are the only ones that compile formulas with T = Value.
#pragma once
#include "kernels/pointwise/traits.h"
#include "ops/value.h"

namespace rushlight {

template <class Op>
void backward_of_values(const Value* a, const Scalar* parameters, Value* gradients) {
  [&]<std::size_t... I, std::size_t... P>(std::index_sequence<I...>, std::index_sequence<P...>) {
    const auto grads = Op::backward(a[I]..., Value(parameters[P].as_double())...);
    if constexpr (Traits<Op>::gradients == 1)
      gradients[0] = grads;
    else
      for (int k = 0; k < Traits<Op>::gradients; ++k) gradients[k] = grads.of[k];
  }(std::make_index_sequence<1 + Traits<Op>::saved>{},
    std::make_index_sequence<Traits<Op>::parameters>{});
}

template <class Op>
double of_scalars(const double* x) {
  return [&]<std::size_t... I, std::size_t... P>(std::index_sequence<I...>,
                                                 std::index_sequence<P...>) {
    return double(Op::forward(x[I]..., (void(P), 1.0)...));
  }(std::make_index_sequence<Traits<Op>::inputs>{},
         std::make_index_sequence<Traits<Op>::parameters>{});
}

template <class Op>
constexpr PointwiseOp row_of() {
  using T = Traits<Op>;
  PointwiseOp row{};
  row.name = T::name;
  row.node = T::node;
  if constexpr (requires { Op::node_of_number; }) row.node_of_number = Op::node_of_number;
  row.signature = Op::signature;
  row.doc = Op::doc;
  if constexpr (requires { Op::kernel; }) row.kernel = Op::kernel;
  if constexpr (requires { Op::refusal; }) row.refusal = Op::refusal;
  row.promotes_bool = requires { Op::promotes_bool; };
  row.tensors_only = requires { Op::tensors_only; };
  row.inputs = T::inputs;
  row.parameters = T::parameters;
  row.gradients = T::gradients;
  row.save = Op::save;
  row.bool_inputs = T::bool_inputs;
  row.bool_result = T::bool_result;
  row.differentiable = T::differentiable;
  row.takes = T::takes;
  row.visible = T::visible;
  row.in_place = T::in_place;
  row.in_double = T::in_double;
  row.constant = requires { Op::constant; };
  row.fits = requires { Op::fits; };
  row.exact = requires { Op::exact; };
  row.divides = T::divides;
  row.scalars_alone = requires { Op::scalars_alone; };
  row.scalar_first = row.scalars_alone || requires { Op::scalar_first; };
  if constexpr (requires { Op::passes; }) row.passes = Op::passes;
  if constexpr (requires { Op::autocast; }) row.autocast = Op::autocast;
  if constexpr (requires { Op::aliases; }) row.aliases = Op::aliases;
  if constexpr (requires { Op::no_gradient; }) row.no_gradient = Op::no_gradient;
  row.domain = T::domain;
  if constexpr (T::on_floats && !T::bool_inputs) row.of_scalars = &of_scalars<Op>;
  if constexpr (T::differentiable) row.backward_of_values = &backward_of_values<Op>;
  return row;
}
using PointwiseRows = std::vector<PointwiseOp*>;
template <class Op>
void append_row(PointwiseRows& rows) {
  static constinit PointwiseOp row = row_of<Op>();
  pointwise_row<Op> = &row;
  rows.push_back(&row);
}
template <class... Ops>
void append_rows(PointwiseRows& rows, OpList<Ops...>) {
  (append_row<Ops>(rows), ...);
}

void append_arithmetic_rows(PointwiseRows& rows);
void append_selection_rows(PointwiseRows& rows);
void append_comparison_rows(PointwiseRows& rows);
void append_exponential_rows(PointwiseRows& rows);
void append_trigonometric_rows(PointwiseRows& rows);
void append_activation_rows(PointwiseRows& rows);
void append_loss_rows(PointwiseRows& rows);
void append_special_rows(PointwiseRows& rows);
void append_bessel_rows(PointwiseRows& rows);

}  // namespace rushlight
