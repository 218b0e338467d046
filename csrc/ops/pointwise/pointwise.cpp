// Promotion, broadcasting, saving, in place and out= of every pointwise op. Not a template.
#include "pointwise.h"

#include "autograd/waiting.h"
#include "checks.h"
#include "core/backend.h"
#include "core/unlocked.h"
#include "geometry.h"
#include "node.h"
#include "plain.h"

namespace rushlight {
namespace {

// Rows are numbered, and found by the name of an op, before anything can call one.
[[maybe_unused]] const auto rows_at_load = pointwise_ops();

constexpr double kNanosecondsPerElement = 0.3, kNanosecondsInDouble = 30;
const Scalar kNoParameters[kMaxParameters] = {};

constexpr std::int64_t kSmall = 4096;  // below, the interpreter's lock is never given up

void run_forward(const PointwiseOp& op, const PointwiseCall& call, Device device,
                 std::initializer_list<const Tensor*> held) {
  const bool waits = op.divides && call.computes == Computes::integer && !call.in[1].is_scalar();
  if (waits) report_wait(device, "division of integers");
  const Backend& b = backend(device);
  std::int64_t zero;
  {
    const double each = op.in_double ? kNanosecondsInDouble : kNanosecondsPerElement;
    const double nanoseconds = double(call.numel) * each;
    Unlocked free(waits ? time_of_wait(device, nanoseconds) : nanoseconds, held);
    zero = b.pointwise->forward(op.index, call);
  }
  if (zero >= 0) [[unlikely]]
    fail_zero_division(op, zero);
}

// The node of a call whose inputs `wanted` need a gradient; `out` is the tensor it will write to.
Ref<Node> node_of(const PointwiseOp& op, const Input* in, const Scalar* parameters,
                  const Shape& shape, DType common, unsigned wanted, const Tensor& out) {
  auto* n = new PointwiseNode(op, parameters, shape, common);
  auto node = Ref<Node>::adopt(static_cast<Node*>(n));
  if (op.node_of_number && !in[op.inputs - 1].tensor) n->name = op.node_of_number;
  n->choose_saved(wanted);
  if (out) n->set_in_place();
  for (int i = 0; i < op.inputs; ++i) {
    Tensor kept;  // a saved input that is about to be overwritten
    if (in[i].tensor && n->saves(i) && out && (*in[i].tensor)->storage.get() == out->storage.get())
      kept = clone(*in[i].tensor);  // with its history: the gradient's own gradient goes that way
    n->add(in[i], kept ? &kept : nullptr, shape);
  }
  n->offer_recompute();
  if (saved_waits && op.inputs == 2 && n->saves(0) && n->saves(1)) [[unlikely]] {
    const std::vector<std::string> names = n->saved_names();
    if (in[0].tensor && in[1].tensor && names.size() > 1 && names[1] < names[0])
      swap_last_waiting();
  }
  check_saved();
  return node;
}

bool any_tangent(const PointwiseOp& op, const Input* in) {
  for (int i = 0; i < op.inputs; ++i)
    if (in[i].tensor && carries_tangent(*in[i].tensor)) return true;
  return false;
}

// A comparison whose 0 and 1 are written over its first operand: nothing flows to either from here.
bool forgets_inputs(const PointwiseOp& op, const Tensor& target) {
  return op.index >= pointwise_op<Eq>().index && op.index <= pointwise_op<Ge>().index &&
         grad_enabled() && is_differentiable(target.dtype());
}
void record_comparison(const PointwiseOp& op, const Input* in, const Tensor& out) {
  static constexpr const char* of_tensors[] = {"EqBackward1", "NeBackward1", "LtBackward1",
                                               "LeBackward1", "GtBackward1", "GeBackward1"};
  const char* node = in[1].tensor ? of_tensors[op.index - pointwise_op<Eq>().index] : op.node;
  const Tensor other = in[1].tensor ? *in[1].tensor : Tensor();
  const Shape sizes = other ? other.shape() : Shape();
  record_inplace(
      node, out,
      [sizes](Tensor g) { return Gradients(zeros_like(g), zeros(sizes, g.dtype(), g.device())); },
      other);
}

}  // namespace

Tensor pointwise(const PointwiseOp& op, const Input* in, const Scalar* parameters, Into into) {
  if (!parameters) parameters = kNoParameters;
  PointwiseCall call;
  call.parameters = parameters;
  unsigned wanted = 0;
  RowsOfCall rows;
  FewOfCall few;
  if (const Body* b = bind_plain(op, in, parameters, into, call, rows, few, wanted)) [[likely]] {
    Tensor out;
    if (into.kind != Into::fresh) {
      out = *into.target;
      finish_inplace(out);
    } else {
      const DType result = op.bool_result ? DType::boolean : b->dtype;
      out = few.apart ? few.make(*b, result) : empty(b->shape, result);
      call.out[0] = {out->storage->data, call.out[0].strides, out.dtype()};
    }
    if (call.numel < (op.in_double ? kSmall / 64 : kSmall))
      backend(kCpu).pointwise->forward(op.index, call);
    else
      run_forward(op, call, kCpu,
                  {&out, in[0].tensor ? in[0].tensor : &out,
                   op.inputs > 1 && in[1].tensor ? in[1].tensor : &out,
                   op.inputs > 2 && in[2].tensor ? in[2].tensor : &out});
    if (wanted) {
      const Ref<Node> node = node_of(op, in, parameters, b->shape, b->dtype, wanted, {});
      attach(out, node.get());
      auto* n = static_cast<PointwiseNode*>(node.get());
      if (n->saves_output()) n->save_output(out);
      pack_saved();
    }
    return out;
  }

  // 1. One device, one dtype. Operands of another dtype are converted by the kernel.
  const Tensor* first = into.target;
  for (int i = 0; i < op.inputs && !first; ++i) first = in[i].tensor;
  if (!first) fail<TypeError>(op.name, "(): no argument is a Tensor");
  if (has_stored_dtypes) [[unlikely]]
    if (has_stored(op, in, into)) return of_stored(op, in, parameters, into);
  const Device device = common_device(op, in, into);
  const DType common = common_dtype(op, in, device.is_cuda());
  check_parameters(op, parameters, common);
  Scalar wrapped[kMaxParameters];
  if (op.parameters && is_integral(common)) {
    for (int i = 0; i < op.parameters; ++i) wrapped[i] = wrapped_to(common, parameters[i]);
    call.parameters = parameters = wrapped;
  }
  if (op.index == pointwise_op<Hardshrink>().index && is_reduced(common)) {
    // its edge is a number of the input's dtype
    wrapped[0] = item(scalar_tensor(parameters[0], common, {}));
    call.parameters = parameters = wrapped;
  }
  const DType result = op.bool_result ? DType::boolean : common;
  if (op.index == pointwise_op<BitwiseNot>().index && common == DType::boolean) {
    if (into.kind == Into::out) check_target(op, into, in[0].tensor->shape(), result, false);
    return pointwise(pointwise_op<LogicalNot>(), in, parameters, into);
  }

  // 2. One shape, and what will be recorded.
  Shape shape;
  Scalar numbers[kMaxInputs];
  Tensor copies[kMaxInputs];
  const Tensor* t[kMaxInputs] = {};
  bool dense = true, in_rows = true;
  wanted = 0;
  first = nullptr;
  for (int i = 0; i < op.inputs; ++i) {
    if (!in[i].tensor) {
      if (op.fits) check_fits(op.name, "a number", in[i].scalar, common);
      numbers[i] = wrapped_to(common, in[i].scalar);
      continue;
    }
    const Tensor& x = *in[i].tensor;
    if (!first) {
      first = &x;
      shape = x.shape();
    } else if (!(x.shape() == shape)) {
      shape = broadcast(shape, x.sizes());
    }
    if (wants_grad(x)) wanted |= 1u << i;
    // among others, a 0-d tensor of another device or a wider integer is a scalar; on a GPU, whose
    // value the host would wait for, it is converted there
    const bool narrows =
        is_integral(common) && x.dim() == 0 && x.dtype() != common && !(op.bool_inputs >> i & 1);
    if (x.device() != device || (narrows && device.is_cpu())) {
      numbers[i] = wrapped_to(common, item(x));
      continue;
    }
    if (narrows) copies[i] = to(x, common);
    t[i] = narrows ? &copies[i] : &x;
    in_rows &= x.is_contiguous();
  }
  dense = in_rows;
  const bool records = wanted && may_record() && is_floating(result) && !op.constant &&
                       (grad_enabled() || any_tangent(op, in));
  const bool forgets = wanted && into.kind == Into::self && forgets_inputs(op, *into.target);
  for (int i = 0; dense && i < op.inputs; ++i) dense = !t[i] || t[i]->shape() == shape;

  // 3. Where the result goes, and everything that could forbid writing there.
  Tensor out;
  if (into.kind != Into::fresh) {
    check_target(op, into, shape, result, records || forgets);
    out = *into.target;
    if (into.kind == Into::out) {
      if (out.device() != device)
        fail_devices(std::string(op.name).c_str(), out, "out", *first, "input");
      if (!in_rows && !(out.shape() == shape)) {  // it is laid out as a new result is
        const Tensor made = pointwise(op, in, parameters);
        resize_output(out, made);
        copy_bits(out, made);
        finish_inplace(out);
        return out;
      }
      resize_output(out, shape);
      check_no_internal_overlap(out, std::string(op.name).c_str());
    }
    for (int i = 0; i < op.inputs; ++i)
      if (t[i] && needs_copy(out, *t[i])) {
        copies[i] = clone(detach(*t[i]));
        t[i] = &copies[i];
      }
    for (int i = 0; dense && i < op.inputs; ++i) dense = !t[i] || t[i]->is_contiguous();
    dense &= out.is_contiguous();
  }
  if (into.kind == Into::out && out.dtype() != result && !op.bool_result) {
    // the arithmetic is that of the operands' dtype, and its result is converted
    copy_bits(out, pointwise(op, in, parameters));
    finish_inplace(out);
    return out;
  }
  Ref<Node> node;
  if (records) node = node_of(op, in, parameters, shape, common, wanted, out);

  // 4. Compute.
  CallGeometry geometry(shape, numel_of(shape), dense);
  call.computes = computes(common, op.in_double);
  if (device.is_meta()) {
    if (!out) out = empty(shape, result, device);
  } else {
    if (out) geometry.bind(call.out[0], out);
    for (int i = 0; i < op.inputs; ++i) {
      if (t[i])
        geometry.bind(call.in[i], *t[i]);
      else
        geometry.bind(call.in[i], numbers[i]);
    }
    if (!out) out = geometry.make(call.out[0], result, device);
    geometry.finish(call);
    if (call.numel)
      run_forward(op, call, device,
                  {&out, t[0] ? t[0] : &out, t[1] ? t[1] : &out, t[2] ? t[2] : &out});
  }

  // 5. History.
  if (forgets) {
    record_comparison(op, in, out);
    return out;
  }
  if (!node) {
    if (into.kind != Into::fresh) finish_inplace(out);
    return out;
  }
  auto* n = static_cast<PointwiseNode*>(node.get());
  if (into.kind == Into::self)
    finish_inplace(out, node);
  else
    attach(out, node.get());
  if (n->saves_output()) n->save_output(out);
  pack_saved();
  return out;
}

Tensor record_pointwise(const PointwiseOp& op, const Tensor& input, Tensor out) {
  if (!needs_grad(input)) return out;
  const Input in[] = {as_input(input)};
  const Ref<Node> node = node_of(op, in, kNoParameters, out.shape(), out.dtype(), 1, {});
  attach(out, node.get());
  auto* n = static_cast<PointwiseNode*>(node.get());
  if (n->saves_output()) n->save_output(out);
  pack_saved();
  return out;
}

// ---- what other ops use

Tensor add(const Tensor& a, const Tensor& b) { return apply<Add>(a, b); }
Tensor sub(const Tensor& a, const Tensor& b) { return apply<Sub>(a, b); }
Tensor mul(const Tensor& a, const Tensor& b) { return apply<Mul>(a, b); }
Tensor mul(const Tensor& a, Scalar b) { return apply<Mul>(a, b); }
Tensor div(const Tensor& a, const Tensor& b) { return apply<Div>(a, b); }
Tensor neg(const Tensor& a) { return apply<Neg>(a); }
void add_into(const Tensor& self, const Tensor& other) {
  const GradMode off(false);
  const Input inputs[] = {as_input(self), as_input(other)};
  const Scalar alpha(1);
  pointwise(pointwise_op<Add>(), inputs, &alpha, {Into::self, &self});
}

}  // namespace rushlight
