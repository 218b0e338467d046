// How the operands of a call lie in memory: brings their strides to one shape, orders dimensions by
// memory, merges those that are dense, and makes results in that order (as torch does, so the sum
// of two transposed tensors is a transposed tensor).
#pragma once
#include "pointwise.h"

namespace rushlight {

inline constexpr std::int64_t kOne = 1;  // the stride of dense memory

class CallGeometry {
 public:
  // `dense`: every tensor is row-major of exactly this shape; then nothing has to be computed.
  // `complex`: so may tensors be.
  CallGeometry(const Shape& shape, std::int64_t numel, bool dense, bool complex = false)
      : shape_(shape), numel_(numel), dense_(dense), complex_(complex) {}
  void bind(Operand& o, const Tensor& t);  // checks t against its storage's end
  void bind(Operand& o, const Scalar& scalar) {
    o = {const_cast<Scalar*>(&scalar), nullptr, DType::float64};
  }
  // A result, after everything else is bound.
  Tensor make(Operand& o, DType dtype, Device device);
  // Gives the call its merged dimensions. The call points into this object.
  void finish(PointwiseCall& c);

 private:
  static constexpr int kOperands = kMaxInputs + kMaxSaved + 1;
  void order();

  const Shape& shape_;
  std::int64_t numel_;
  bool dense_, complex_, ordered_ = false;
  int count_ = 0;
  int order_[kMaxRank];  // the fastest dimension first
  Operand* operands_[kOperands];
  Strides strides_[kOperands];
  std::int64_t sizes_[kMaxRank];
};

}  // namespace rushlight
