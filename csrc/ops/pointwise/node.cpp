// Backward of pointwise ops. A changer must know: slots hold nothing for inputs that no wanted
// gradient reads, and a number 0 stands in for them; the gradients they spoil are dropped.
#include "node.h"

#include "core/backend.h"
#include "core/work.h"
#include "geometry.h"
#include "ops/value.h"

namespace rushlight {

PointwiseNode::PointwiseNode(const PointwiseOp& op, const Scalar* parameters, const Shape& shape,
                             DType common)
    : Node(op.node), op_(op), common_(common), shape_(shape) {
  std::copy_n(parameters, op.parameters, parameters_);
}

void PointwiseNode::choose_saved(unsigned wanted) {
  for (int i = 0, k = 0; i < op_.inputs; ++i) {
    if (op_.bool_inputs >> i & 1) continue;
    if (wanted >> i & 1) needed_ |= op_.save.of[k];
    ++k;
  }
}

void PointwiseNode::add(const Input& original, const Tensor* kept, const Shape& shape) {
  const int i = inputs;
  if (!original.tensor) {
    add_edge({});
    if (saves(i)) slots_[i].number = original.number;
    return;
  }
  const Tensor& t = *original.tensor;
  add_input(t);
  origins_[i] = {t.dtype(), t.device().is_cpu()};
  if (saves(i)) slots_[i].tensor = Saved(kept ? *kept : t);
  if (!(t.shape() == shape)) {
    if (!shapes_) {
      shapes_ = std::make_unique<std::array<Shape, kMaxInputs>>();
      shapes_->fill(shape);
    }
    (*shapes_)[std::size_t(i)] = t.shape();
  }
}

void PointwiseNode::release_saved() {
  if (!op_.save.all()) return;  // as in torch: nothing saved, nothing lost
  released = true;
  for (Slot& s : slots_) s = {};
  output_ = {};
}

// What backward() takes after g, in its order: tensors, or numbers where there is none.
int PointwiseNode::collect(Tensor* tensors, const Scalar** numbers) {
  static const Scalar zero(0.0);
  const unsigned all = op_.save.all();
  int n = 0;
  for (int i = 0; i < op_.inputs; ++i) {
    if (!(all >> i & 1)) continue;
    tensors[n] = slots_[i].tensor.get();
    numbers[n++] = saves(i) ? &slots_[i].number : &zero;
  }
  if (all & Save::output) {
    if (saves_output()) tensors[n] = output_.get(*this);
    numbers[n++] = &zero;
  }
  return n;
}

Gradients PointwiseNode::finish(Tensor* results) {
  Gradients out;
  for (int i = 0, k = 0; i < op_.inputs; ++i) {
    if (op_.bool_inputs >> i & 1) continue;
    Tensor& r = results[k++];
    if (!needs_input(std::size_t(i)) || !r) continue;
    if (shapes_) r = sum_to(r, (*shapes_)[std::size_t(i)]);
    if (r.dtype() != origins_[i].dtype) r = to(r, origins_[i].dtype);
    if (origins_[i].to_cpu && !r.device().is_cpu()) r = to(r, kCpu);
    out[std::size_t(i)] = std::move(r);
  }
  return out;
}

// Of a sum, each gradient is the incoming one itself, as in torch.
bool PointwiseNode::passes_gradient() const {
  static const int add = pointwise_op<Add>().index;
  return op_.index == add && parameters_[0].as_double() == 1;
}

Gradients PointwiseNode::backward(std::span<Tensor> grads) {
  if (released) fail_second_backward();
  if (!op_.differentiable) return {};
  if (op_.no_gradient && needs_input(0))
    fail<NotImplementedError>("the derivative for '", op_.no_gradient, "' is not implemented.");
  const Tensor& g = grads[0];
  if (passes_gradient()) {
    Tensor both[kMaxInputs] = {g, g};
    return finish(both);
  }
  Tensor saved[kMaxSaved], results[kMaxInputs];
  const Scalar* numbers[kMaxSaved];
  const int n = collect(saved, numbers);
  if (grad_enabled()) {
    Value arguments[kMaxSaved + 1] = {g}, values[kMaxInputs];
    for (int i = 0; i < n; ++i)
      arguments[i + 1] = saved[i] ? Value(saved[i]) : Value(numbers[i]->as_double());
    op_.backward_of_values(arguments, parameters_, values);
    for (int k = 0; k < op_.gradients; ++k)
      results[k] = values[k].is_number() ? full(shape_, values[k].number(), g.dtype(), g.device())
                                         : values[k].tensor();
    return finish(results);
  }
  bool dense = g.is_contiguous();
  for (int i = 0; i < n; ++i)
    dense &= !saved[i] || (saved[i].is_contiguous() && saved[i].shape() == shape_);
  CallGeometry geometry(shape_, g.numel(), dense);
  PointwiseCall call;
  Scalar items[kMaxSaved];
  call.computes = computes(common_, op_.in_double);
  call.parameters = parameters_;
  geometry.bind(call.in[0], g);
  for (int i = 0; i < n; ++i) {
    // a 0-d CPU tensor among tensors of a GPU is a number
    if (saved[i] && saved[i].device() != g.device()) {
      items[i] = item(saved[i]);
      geometry.bind(call.in[i + 1], items[i]);
    } else if (saved[i]) {
      geometry.bind(call.in[i + 1], saved[i]);
    } else {
      geometry.bind(call.in[i + 1], *numbers[i]);
    }
  }
  for (int i = 0, k = 0; i < op_.inputs; ++i) {
    if (op_.bool_inputs >> i & 1) continue;
    call.out[k] = {};
    if (needs_input(std::size_t(i)))
      results[k] = geometry.make(call.out[k], origins_[i].dtype, g.device());
    ++k;
  }
  geometry.finish(call);
  if (call.numel) {
    const Backend& b = backend(g.device());
    Unlocked free(double(call.numel) * (op_.in_double ? 30 : 0.3),
                  {&g, &saved[0], &saved[1], &saved[2], &saved[3]});
    b.pointwise->backward(op_.index, call);
  }
  return finish(results);
}

}  // namespace rushlight
