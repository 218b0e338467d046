// The common small call, bound without the work that promotion, broadcasting and ordering take:
// what pointwise() tries first.
#pragma once
#include <cmath>

#include "geometry.h"

namespace rushlight {

struct Hardshrink;  // of kernels/pointwise/activation.h; only here is it told from the others

// The two dimensions of a call where some input, as a bias, has but the last dimensions of the
// first.
struct RowsOfCall {
  static constexpr std::int64_t kRepeated[2] = {0, 1};
  std::int64_t row = 0;  // elements of such an input; 0: there is none
  std::int64_t sizes[2], whole[2];

  // Binds b if it is one. Not inline: calls of one shape shall not pay for it.
  [[gnu::noinline]] bool bind(Operand& o, const Body& b, const Body& first) {
    const int more = first.shape.rank - b.shape.rank;
    if (b.shape.rank == 0 || more <= 0 || !b.contiguous || !b.device.is_cpu() ||
        b.dtype != first.dtype || (row && row != b.numel))
      return false;
    for (int d = 0; d < b.shape.rank; ++d)
      if (b.shape[d] != first.shape[more + d]) return false;
    const auto item = std::int64_t(item_size(b.dtype));
    if (b.numel == 0 || b.numel == first.numel ||
        std::uint64_t((b.offset + b.numel) * item) > b.storage->bytes)
      return false;
    row = b.numel;
    o = {static_cast<char*>(b.storage->data) + b.offset * item, kRepeated, b.dtype};
    return true;
  }
  [[gnu::noinline]] void finish(PointwiseCall& call, int inputs) {
    sizes[0] = call.numel / row, sizes[1] = row;
    whole[0] = row, whole[1] = 1;
    call.rank = 2;
    call.sizes = sizes;
    for (int i = 0; i < inputs; ++i)
      if (call.in[i].strides == &kOne) call.in[i].strides = whole;
    call.out[0].strides = whole;
  }
};

// Some elements, of one or two dimensions, that do not all lie dense: what needs no merging, and no
// more than one comparison of strides to know in which order the result lies.
struct FewOfCall {
  static constexpr std::int64_t kMost = 64;
  enum Order : std::uint8_t { undecided, by_rows, by_columns } order = undecided;
  int dense = 0, apart = 0;  // operands
  std::int64_t sizes[2], whole[2], strides[kMaxInputs][2];

  // Not inline, as above. b may lack dimensions of the first, or have them of size 1. The first
  // operand whose strides say so decides the order, as torch has it.
  [[gnu::noinline]] bool bind(PointwiseCall& call, int i, const Body& b, const Body& first) {
    const int rank = b.shape.rank, all = first.shape.rank;
    if (all > 2 || all == 0 || rank > all || first.numel > kMost || first.numel == 0) return false;
    const std::int64_t rows = rank == 2 ? b.shape[0] : 1, columns = rank ? b.shape[rank - 1] : 1;
    const std::int64_t of_rows = all == 2 ? first.shape[0] : 1, of_columns = first.shape[all - 1];
    if ((rows != of_rows && rows != 1) || (columns != of_columns && columns != 1)) return false;
    const std::int64_t far = rows == 1 ? 0 : b.strides[0];
    const std::int64_t near = columns == 1 ? 0 : b.strides[std::size_t(rank - 1)];
    const auto item = std::int64_t(item_size(b.dtype));
    if (far < 0 || near < 0 || far > INT32_MAX || near > INT32_MAX) return false;
    const std::int64_t span = (rows - 1) * far + (columns - 1) * near;
    if (std::uint64_t((b.offset + span + 1) * item) > b.storage->bytes) return false;
    if (rows > 1 && columns > 1 && (far || near)) {
      if (far == near) return false;
      if (order == undecided && dense) order = by_rows;
      if (order == undecided && far && near) order = far > near ? by_rows : by_columns;
    }
    ++apart;
    strides[i][0] = far, strides[i][1] = near;
    call.in[i] = {static_cast<char*>(b.storage->data) + b.offset * item, strides[i], b.dtype};
    return true;
  }
  [[gnu::noinline]] void finish(PointwiseCall& call, int inputs, const Body& first) {
    const bool across = order == by_columns;
    const std::int64_t columns = first.shape[first.shape.rank - 1], rows = first.numel / columns;
    sizes[0] = across ? columns : rows, sizes[1] = across ? rows : columns;
    whole[0] = sizes[1], whole[1] = 1;
    bool flat = true;
    for (int i = 0; i < inputs; ++i) {
      const std::int64_t*& s = call.in[i].strides;
      if (s == &kOne)
        strides[i][0] = columns, strides[i][1] = 1, s = strides[i];
      else if (!s)
        continue;
      if (across) std::swap(strides[i][0], strides[i][1]);
      flat &= strides[i][1] == 1 && strides[i][0] == sizes[1];
    }
    for (int i = 0; flat && i < inputs; ++i)
      if (call.in[i].strides) call.in[i].strides = &kOne;
    if (flat) return;
    call.rank = 2;
    call.sizes = sizes;
    call.out[0].strides = whole;
  }
  // A new result, which lies so.
  [[gnu::noinline]] Tensor make(const Body& like, DType dtype) const {
    if (order != by_columns) return empty(like.shape, dtype);
    Tensor out = empty(sizes, dtype);
    out->shape = like.shape;
    out->strides[0] = 1, out->strides[1] = sizes[1];
    out->contiguous = false;
    return out;
  }
};

// Whether a call on integers means what the kernel computes: a number or parameter that not every
// dtype holds goes the long way, as does what may be refused.
[[gnu::noinline]] inline bool is_plain_integer(const PointwiseOp& op, const Input* in,
                                               const Scalar* parameters, DType dtype) {
  if (!is_integral(dtype) || is_only_stored(dtype) || op.divides) return false;
  const bool is_bool = dtype == DType::boolean;
  if (is_bool ? !op.bool_result || op.takes != Takes::anything
              : op.takes != Takes::anything && op.takes != Takes::numeric &&
                    op.takes != Takes::integers)
    return false;
  for (int i = 0; i < op.parameters; ++i)
    if (parameters[i].kind != Scalar::Kind::integer || parameters[i].i != 1) return false;
  for (int i = 0; i < op.inputs; ++i) {
    const Scalar& s = in[i].scalar;
    if (!in[i].tensor && (is_bool || s.kind != Scalar::Kind::integer || s.i < 0 || s.i > 127))
      return false;
  }
  return true;
}

// A parameter that may be refused.
inline bool is_unusual(const PointwiseOp& op, const Scalar* parameters) {
  if (op.index == pointwise_op<Celu>().index) return parameters[0].as_double() == 0;
  if (op.index != pointwise_op<Softshrink>().index) return false;
  return !(parameters[0].as_double() >= 0 && parameters[0].as_double() <= 60000);
}

// The common small call: CPU tensors of one dtype and shape, row-major, or scalars, or the first's
// shape and, without a target, rows of it or a few elements apart; a target has no gradient and
// shares nothing with an input, or all of it. Binds the inputs, marks those that need a gradient
// and returns the first tensor's body; null: the call goes the long way.
inline const Body* bind_plain(const PointwiseOp& op, const Input* in, const Scalar* parameters,
                              const Into& into, PointwiseCall& call, RowsOfCall& rows,
                              FewOfCall& few, unsigned& wanted) {
  if (op.takes == Takes::shifts || grad_mode == Recording::tangents) return nullptr;
  if (op.parameters && (parameters[0].kind == Scalar::Kind::boolean || is_unusual(op, parameters)))
    return nullptr;
  const bool fresh = into.kind == Into::fresh;
  const bool records = grad_enabled() && !op.bool_result && !op.constant;
  const Body* first = fresh ? nullptr : into.target->body();
  for (int i = 0; i < op.inputs && !first; ++i)
    if (in[i].tensor && !(op.bool_inputs >> i & 1)) first = in[i].tensor->body();
  if (!first || (op.index == pointwise_op<Hardshrink>().index && is_reduced(first->dtype)))
    return nullptr;
  const auto fits = [&](const Body& b, DType dtype) {
    return b.device.is_cpu() && b.dtype == dtype &&
           (fresh || !records || !(b.requires_grad || b.base));
  };
  const auto bind = [&](Operand& o, const Body& b) {
    const auto item = std::int64_t(item_size(b.dtype));
    if (!b.contiguous || !(b.shape == first->shape) ||
        std::uint64_t((b.offset + b.numel) * item) > b.storage->bytes)
      return false;
    ++few.dense;
    o = {static_cast<char*>(b.storage->data) + b.offset * item, &kOne, b.dtype};
    return fresh || b.storage.get() != first->storage.get() ||
           (b.offset == first->offset && b.dtype == first->dtype);
  };
  for (int i = 0; i < op.inputs; ++i) {
    if (!in[i].tensor) {
      const Scalar& s = in[i].scalar;
      if (s.kind == Scalar::Kind::boolean ||
          (op.fits && item_size(first->dtype) < 4 && !(std::abs(s.as_double()) <= 60000)))
        return nullptr;
      call.in[i] = {const_cast<Scalar*>(&s), nullptr, DType::float64};
      continue;
    }
    const Body& b = *in[i].tensor->body();
    if (!fits(b, op.bool_inputs >> i & 1 ? DType::boolean : first->dtype)) return nullptr;
    if (!bind(call.in[i], b) && !(fresh && ((!few.apart && rows.bind(call.in[i], b, *first)) ||
                                            few.bind(call, i, b, *first))))
      return nullptr;
    if (records && wants_grad(*in[i].tensor)) wanted |= 1u << i;
  }
  if (is_computed_floating(first->dtype) ? op.takes == Takes::integers
                                         : !is_plain_integer(op, in, parameters, first->dtype))
    return nullptr;
  if (op.takes == Takes::wide && item_size(first->dtype) < 4) return nullptr;
  if (!fresh && (op.bool_result || first->inference || !fits(*first, first->dtype) ||
                 !bind(call.out[0], *first)))
    return nullptr;
  call.rank = 1;
  call.out[0].strides = &kOne;
  call.numel = first->numel;
  call.sizes = &call.numel;
  call.computes = computes(first->dtype, op.in_double);
  if (few.apart) {
    if (rows.row) return nullptr;
    few.finish(call, op.inputs, *first);
  }
  if (rows.row) [[unlikely]]
    rows.finish(call, op.inputs);
  return first;
}

}  // namespace rushlight
