// The node of every pointwise op: keeps what the op's struct names, and runs its backward() either
// as a fused kernel or, when the gradient must be differentiable, as a formula on tensors.
#pragma once
#include "pointwise.h"

namespace rushlight {

class PointwiseNode final : public Node {
 public:
  PointwiseNode(const PointwiseOp& op, const Scalar* parameters, const Shape& shape, DType common);

  // In the order of the op's inputs: what it was given, whether its gradient is wanted is read from
  // the edge made here. `kept` replaces the tensor in what is saved (one that is overwritten).
  void add(const Input& original, const Tensor* kept, const Shape& shape);
  void set_in_place() { in_place_ = true; }
  void save_output(const Tensor& out) { output_ = SavedOutput(out); }
  bool saves(int input) const { return needed_ >> input & 1; }
  bool saves_output() const { return needed_ & Save::output; }
  void choose_saved(unsigned wanted);  // bits: inputs whose gradient is wanted
  void offer_recompute();  // of a large result of one input, where that is kept

  Gradients backward(std::span<Tensor> grads) override;
  Gradients backward_rows(std::span<Tensor> grads, std::int64_t rows) override;
  void release_saved() override;
  // The inputs that some gradient reads, the result if one does, the parameters.
  std::vector<std::string> saved_names() const override;
  SavedValue saved_value(std::size_t i) override;
  Saved* saved_slot(std::size_t i) override;

 private:
  struct InputOptions {  // what the gradient of an input must become
    DType dtype;
    bool to_cpu;
  };
  struct Slot {
    Saved tensor;
    Scalar scalar;
  };
  int collect(Tensor* tensors, const Scalar** numbers);
  // `shape`: of the gradient, the op's own or with rows in front.
  Gradients gradients(const Tensor& g, const Shape& shape);
  Gradients finish(Tensor* results, bool rows);
  bool passes_gradient() const;
  bool writes_over(const Tensor& g, const Shape& shape) const;
  // Of saved_value(): an input's index, or kMaxInputs for the result and more for parameters.
  int saved_number(std::size_t i) const;

  const PointwiseOp& op_;
  unsigned needed_ = 0;
  bool in_place_ = false;
  DType common_;
  Scalar parameters_[kMaxParameters];
  Slot slots_[kMaxInputs];
  SavedOutput output_;
  InputOptions inputs_[kMaxInputs];
  Shape shape_;
  std::unique_ptr<std::array<Shape, kMaxInputs>> shapes_;  // of the inputs, if one was broadcast
};

}  // namespace rushlight
