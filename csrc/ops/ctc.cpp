// ctc_loss: the checks in torch's words, one call of the kernel each way, and the reduction.
#include "ops/ctc.h"

#include <algorithm>

#include "core/backend.h"
#include "core/dense_view.h"
#include "core/unlocked.h"
#include "kernels/ctc.h"
#include "ops/pointwise/pointwise.h"

namespace rushlight {
namespace {

constexpr const char* kWhile = " (while checking arguments for ctc_loss_allocate_outputs)";
using Lengths = std::vector<std::int64_t>;

// Note: with sizes that no other thread changes.
struct CtcOperands {
  Tensor log_probs, targets, examples, alpha;
  CtcShape shape;

  View log_probs_view() const {
    return dense_view(log_probs, log_probs.dtype(), shape.steps * shape.batch * shape.classes);
  }
  View targets_view() const { return dense_view(targets, DType::int64, targets.numel()); }
  double nanoseconds() const { return double(alpha.numel()) * 10 + double(log_probs.numel()); }
};

void check_lengths(const char* name, const Lengths& lengths, std::int64_t batch) {
  if (std::int64_t(lengths.size()) != batch)
    fail<RuntimeError>(name, " must be of size batch_size\nctc_loss(): ", lengths.size(),
                       " lengths for a batch of ", batch);
  for (std::size_t i = 0; i < lengths.size(); ++i)
    if (lengths[i] < 0)
      fail<RuntimeError>("Expected ", name, " to have value at least 0, but got value ", lengths[i],
                         kWhile, "\nat position ", i);
}

// Where each target begins.
Lengths target_starts(const Tensor& targets, const Lengths& lengths, std::int64_t longest,
                      CtcShape& shape) {
  Lengths starts;
  std::int64_t sum = 0;
  const bool is_padded = targets.dim() == 2;
  for (const std::int64_t n : lengths) {
    starts.push_back(is_padded ? std::int64_t(starts.size()) * targets->shape[1] : sum);
    sum = checked_add(sum, n);
  }
  shape.target_step = 1;
  const auto refuse = [&](const char* most, std::int64_t wanted, int dim) {
    fail<RuntimeError>("Expected tensor to have size ", most, wanted, " at dimension ", dim,
                       ", but got size ", targets->shape[dim], " for argument #2 'targets'", kWhile,
                       "\n", describe("targets", targets));
  };
  if (targets.dim() == 1) {
    if (targets->shape[0] != sum) refuse("", sum, 0);
  } else if (is_padded) {
    if (targets->shape[0] != shape.batch) refuse("", shape.batch, 0);
    if (targets->shape[1] < longest) refuse("at least ", longest, 1);
  } else {
    fail<RuntimeError>("Expected 1 to 2 dimensions, but got ", targets.dim(),
                       "-dimensional tensor for argument #2 'targets'", kWhile);
  }
  return starts;
}

CtcOperands operands(const Tensor& log_probs, const Tensor& targets, const Lengths& input_lengths,
                     const Lengths& target_lengths, std::int64_t blank) {
  if (log_probs.numel() == 0) fail<RuntimeError>("log_probs tensor must not be empty");
  if (log_probs.dim() != 3)
    fail<RuntimeError>("Expected 3-dimensional tensor, but got ", log_probs.dim(),
                       "-dimensional tensor for argument #1 'log_probs'", kWhile);
  if (log_probs.dtype() != DType::float32 && log_probs.dtype() != DType::float64)
    fail<NotImplementedError>("\"ctc_loss_", log_probs.device().is_cuda() ? "cuda" : "cpu",
                              "\" not implemented for '", scalar_name(log_probs.dtype()), "'");
  CtcOperands o;
  CtcShape& s = o.shape;
  s = {log_probs->shape[0], log_probs->shape[1], log_probs->shape[2], blank, 1, 1};
  if (blank < 0 || blank >= s.classes)
    fail<RuntimeError>("blank must be in label range\nctc_loss(): blank ", blank, " and ",
                       s.classes, " classes");
  check_lengths("input_lengths", input_lengths, s.batch);
  check_lengths("target_lengths", target_lengths, s.batch);
  const std::int64_t longest = *std::max_element(target_lengths.begin(), target_lengths.end());
  Lengths examples = target_starts(targets, target_lengths, longest, s);
  for (const std::int64_t n : input_lengths)
    if (n > s.steps)
      fail<RuntimeError>("Expected input_lengths to have value at most ", s.steps,
                         ", but got value ", n, kWhile);
  s.states = checked_add(checked_mul(2, longest), 1);
  for (const Lengths* l : {&input_lengths, &target_lengths})
    examples.insert(examples.end(), l->begin(), l->end());
  const Device device = log_probs.device();
  o.log_probs = contiguous(log_probs);
  o.targets = contiguous(to(targets, DType::int64, device));
  o.alpha = empty({s.batch, s.steps, s.states}, log_probs.dtype(), device);
  if (device.is_meta()) return o;
  const Tensor host = empty({3, s.batch}, DType::int64);
  std::copy(examples.begin(), examples.end(), view_of(host).as<std::int64_t>());
  o.examples = to(host, device);
  return o;
}

void check_label(const CtcOperands& o, std::int64_t bad) {
  if (bad < 0) return;
  fail<IndexError>("Target ", element(o.targets, o.targets.offset() + bad).as_int(),
                   " is out of bounds.\nctc_loss(): the label at flat position ", bad,
                   " must lie in [0, ", o.shape.classes, "); ", describe("log_probs", o.log_probs));
}

Tensor gradient(const CtcOperands& o, const Tensor& log_probs, const Tensor& losses,
                const Tensor& grad, bool zero_infinity) {
  Tensor out = empty(o.log_probs.sizes(), o.log_probs.dtype(), o.log_probs.device());
  if (!out.device().is_meta()) {
    const GradMode off(false);
    const Tensor g = contiguous(grad);
    const CtcKernels& kernels = *backend(out.device()).ctc;
    const View x = o.log_probs_view(), labels = o.targets_view(), r = view_of(out),
               of_losses = dense_view(g, out.dtype(), o.shape.batch), e = view_of(o.examples),
               l = dense_view(losses, out.dtype(), o.shape.batch), a = view_of(o.alpha);
    std::int64_t bad;
    {
      const Unlocked unlocked(2 * o.nanoseconds(), {&o.log_probs, &o.targets, &g, &losses, &out});
      bad = kernels.backward(o.shape, of_losses, x, labels, e, l, a, zero_infinity, r);
    }
    check_label(o, bad);
  }
  return record(
      "CtcLossBackwardBackward0", std::move(out),
      [](Tensor) -> Gradients {
        fail<RuntimeError>("derivative for aten::_ctc_loss_backward is not implemented");
      },
      grad, log_probs);
}

// The loss of each example.
Tensor losses_of(const Tensor& log_probs, const CtcOperands& o, bool zero_infinity) {
  const Tensor losses = empty({o.shape.batch}, o.log_probs.dtype(), o.log_probs.device());
  if (!losses.device().is_meta()) {
    const CtcKernels& kernels = *backend(losses.device()).ctc;
    const View x = o.log_probs_view(), labels = o.targets_view(), e = view_of(o.examples),
               l = view_of(losses), a = view_of(o.alpha);
    std::int64_t bad;
    {
      const Unlocked unlocked(o.nanoseconds(), {&o.log_probs, &o.targets});
      bad = kernels.forward(o.shape, x, labels, e, l, a);
    }
    check_label(o, bad);
  }
  return record(
      "CtcLossBackward0", losses,
      [o, zero_infinity, x = Saved(log_probs), l = SavedOutput(losses)](Tensor g, Node& self) {
        return Gradients(gradient(o, x.get(), l.get(self), g, zero_infinity));
      },
      log_probs);
}

}  // namespace

Tensor ctc_loss(const Tensor& given, const Tensor& given_targets, const Lengths& input_lengths,
                const Lengths& target_lengths, std::int64_t blank, Reduction reduction,
                bool zero_infinity) {
  const bool batched = given.dim() == 3;
  const Tensor log_probs = batched ? given : unsqueeze(given, 1);
  const Tensor targets =
      batched || given_targets.dim() != 1 ? given_targets : unsqueeze(given_targets, 0);
  CtcOperands o;
  {
    const GradMode off(false);
    o = operands(detach(log_probs), detach(targets), input_lengths, target_lengths, blank);
  }
  Tensor loss = losses_of(log_probs, o, zero_infinity);
  if (zero_infinity)
    loss = where(apply<Eq>(loss, Scalar(kInfinity<double>)), as_input(Scalar(0.0)), as_input(loss));
  if (reduction == Reduction::mean) {
    const Shape batch{o.shape.batch};
    const Tensor lengths =
        o.examples ? select(o.examples, 0, 2) : zeros(batch, DType::int64, loss.device());
    loss = apply<Div>(loss, to(clamp(lengths, as_input(Scalar(1)), {}), loss.dtype()));
  }
  if (reduction != Reduction::none) return reduced(loss, reduction);
  return batched ? loss : squeeze(loss, Shape{0});
}

}  // namespace rushlight
