// Backward of pointwise ops. Note: slots hold nothing for inputs that no wanted
// gradient reads, and the scalar 0 is passed instead of them; the gradients they spoil are dropped.
#include "node.h"

#include "core/backend.h"
#include "core/unlocked.h"
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

namespace {

constexpr std::int64_t kLarge = 4096;  // elements from which on memory counts

struct RecomputedResult final : PackedValue {
  const PointwiseOp& op;
  Scalar parameters[kMaxParameters];
  Saved input;
  RecomputedResult(const PointwiseOp& o, const Scalar* p, const Saved& x) : op(o), input(x) {
    std::copy_n(p, o.parameters, parameters);
  }
  Tensor unpack() override {
    const GradMode off(false);
    const Input in[] = {as_input(input.get())};
    return pointwise(op, in, parameters);
  }
};

}  // namespace

void PointwiseNode::offer_recompute() {
  if (op_.inputs != 1 || op_.in_double || !saves(0) || saves_output() || in_place_) return;
  if (slots_[0].tensor && offers_recompute(numel_of(shape_.view()), common_))
    recompute = Ref<PackedValue>::adopt(new RecomputedResult(op_, parameters_, slots_[0].tensor));
}

void PointwiseNode::add(const Input& original, const Tensor* kept, const Shape& shape) {
  const int i = inputs;
  if (!original.tensor) {
    add_edge({});
    if (saves(i)) slots_[i].scalar = original.scalar;
    return;
  }
  const Tensor& t = *original.tensor;
  add_input(t);
  inputs_[i] = {t.dtype(), t.device().is_cpu()};
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
  bool keeps = saves_output();
  for (const Slot& s : slots_) keeps |= bool(s.tensor);
  if (!keeps) return;  // as in torch: no tensor saved, nothing lost
  released = true;
  for (Slot& s : slots_) s = {};
  output_ = {};
  recompute = {};
}

// What backward() takes after g, in its order: tensors, or scalars where there is none.
int PointwiseNode::collect(Tensor* tensors, const Scalar** numbers) {
  static const Scalar zero(0.0);
  const unsigned all = op_.save.all();
  int n = 0;
  for (int i = 0; i < op_.inputs; ++i) {
    if (!(all >> i & 1)) continue;
    tensors[n] = slots_[i].tensor.get();
    numbers[n++] = saves(i) ? &slots_[i].scalar : &zero;
  }
  if (all & Save::output) {
    if (saves_output()) tensors[n] = output_.get(*this);
    numbers[n++] = &zero;
  }
  return n;
}

Gradients PointwiseNode::finish(Tensor* results, bool rows) {
  Gradients out;
  for (int i = 0, k = 0; i < op_.inputs; ++i) {
    if (op_.bool_inputs >> i & 1) continue;
    Tensor& r = results[k++];
    if (!needs_input(std::size_t(i)) || !r) continue;
    if (shapes_) {
      const Shape& own = (*shapes_)[std::size_t(i)];
      r = rows ? sum_rows_to(r, own) : sum_to(r, own);
    }
    if (r.dtype() != inputs_[i].dtype) r = to(r, inputs_[i].dtype);
    if (inputs_[i].to_cpu && !r.device().is_cpu()) r = to(r, kCpu);
    out[std::size_t(i)] = std::move(r);
  }
  return out;
}

// Whether each wanted gradient is the incoming one itself, as in torch; of a sum, all are.
bool PointwiseNode::passes_gradient() const {
  static const int add = pointwise_op<Add>().index;
  if (op_.index == add && parameters_[0].as_double() == 1) return true;
  if (!op_.passes) return false;
  for (int i = 0; i < op_.inputs; ++i)
    if (needs_input(std::size_t(i)) && !(op_.passes >> i & 1)) return false;
  return true;
}

// Whether g's memory is free for the only gradient that is wanted: half of the time of a large one
// is that of fresh memory.
bool PointwiseNode::writes_over(const Tensor& g, const Shape& shape) const {
  if (!is_sole(g) || !(g.shape() == shape)) return false;
  int wanted = 0;
  bool fits = true;
  for (int i = 0; i < op_.inputs; ++i) {
    if (op_.bool_inputs >> i & 1 || !needs_input(std::size_t(i))) continue;
    ++wanted;
    fits &= inputs_[i].dtype == g.dtype();
  }
  return wanted == 1 && fits;
}

Gradients PointwiseNode::backward(std::span<Tensor> grads) { return gradients(grads[0], shape_); }
// What is saved broadcasts with the rows.
Gradients PointwiseNode::backward_rows(std::span<Tensor> grads, std::int64_t) {
  return gradients(grads[0], with_rows(grads[0], shape_));
}

Gradients PointwiseNode::gradients(const Tensor& g, const Shape& shape) {
  if (released) fail_second_backward();
  if (!op_.differentiable)
    fail<RuntimeError>("derivative for aten::", op_.name, in_place_ ? "_" : "",
                       " is not implemented\n", op_.name, "(): its result is constant between ",
                       "jumps; where no gradient shall flow, call it on x.detach()");
  const bool rows = &shape != &shape_;
  if (op_.no_gradient && needs_input(0))
    fail<NotImplementedError>("the derivative for '", op_.no_gradient, "' is not implemented.");
  if (passes_gradient()) {
    Tensor all[kMaxInputs] = {g, g, g};
    return finish(all, rows);
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
      results[k] = values[k].is_scalar() ? full(shape, values[k].scalar(), g.dtype(), g.device())
                                         : values[k].tensor();
    return finish(results, rows);
  }
  if (g.device().is_meta()) {  // shapes alone
    for (int i = 0, k = 0; i < op_.inputs; ++i) {
      if (op_.bool_inputs >> i & 1) continue;
      if (needs_input(std::size_t(i))) results[k] = empty(shape, inputs_[i].dtype, g.device());
      ++k;
    }
    return finish(results, rows);
  }
  bool dense = g.is_contiguous();
  for (int i = 0; i < n; ++i)
    dense &= !saved[i] || (saved[i].is_contiguous() && saved[i].shape() == shape);
  CallGeometry geometry(shape, g.numel(), dense);
  PointwiseCall call;
  Scalar items[kMaxSaved];
  call.computes = computes(common_, op_.in_double);
  call.parameters = parameters_;
  geometry.bind(call.in[0], g);
  const bool is_over = dense && g.numel() >= kLarge && writes_over(g, shape);
  for (int i = 0; i < n; ++i) {
    // a 0-d CPU tensor among tensors of a GPU is a scalar
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
    if (needs_input(std::size_t(i))) {
      if (is_over)
        geometry.bind(call.out[k], results[k] = g);
      else
        results[k] = geometry.make(call.out[k], inputs_[i].dtype, g.device());
    }
    ++k;
  }
  geometry.finish(call);
  if (call.numel) {
    const Backend& b = backend(g.device());
    Unlocked free(double(call.numel) * (op_.in_double ? 30 : 0.3),
                  {&g, &saved[0], &saved[1], &saved[2], &saved[3]});
    b.pointwise->backward(op_.index, call);
  }
  return finish(results, rows);
}

int PointwiseNode::saved_number(std::size_t i) const {
  const unsigned all = op_.save.all();
  for (int k = 0; k < op_.inputs; ++k)
    if (all >> k & 1 && i-- == 0) return k;
  return all & Save::output ? kMaxInputs + int(i) : kMaxInputs + 1 + int(i);
}

std::vector<std::string> PointwiseNode::saved_names() const {
  const std::string_view text = op_.signature;
  const unsigned all = op_.save.all();
  if (!all) return {};
  std::vector<std::string> names;
  std::size_t at = text.find('(') + 1;
  for (int k = 0; k < op_.inputs + op_.parameters; ++k) {
    if (text.substr(at).starts_with("*, ")) at += 3;
    const std::string_view name = text.substr(at, text.find_first_of(",=)", at) - at);
    at = text.find(", ", at) + 2;
    if (k == op_.inputs && all & Save::output) names.emplace_back("result");
    if (k >= op_.inputs || all >> k & 1) names.emplace_back(name == "input" ? "self" : name);
  }
  if (!op_.parameters && all & Save::output) names.emplace_back("result");
  return names;
}

SavedValue PointwiseNode::saved_value(std::size_t i) {
  if (released) fail_second_backward();
  const int k = saved_number(i);
  if (k > kMaxInputs) return parameters_[k - kMaxInputs - 1];
  if (k == kMaxInputs) return saves_output() ? output_.get(*this) : Tensor();
  const Slot& slot = slots_[k];
  if (slot.tensor || !saves(k) || next(std::size_t(k)).node) return slot.tensor.get(this);
  return slot.scalar;
}

Saved* PointwiseNode::saved_slot(std::size_t i) {
  const int k = saved_number(i);
  return k > kMaxInputs ? nullptr : k == kMaxInputs ? &output_.slot() : &slots_[k].tensor;
}

}  // namespace rushlight
