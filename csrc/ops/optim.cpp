// Optimizer steps: checks, layouts, then one kernel call per run of parameters on one device. A
// changer must know: kernels want all tensors of a parameter in one dense layout; where a tensor
// differs a copy takes its place, and is copied back if it was to be written.
#include "ops/optim.h"

#include <cmath>

#include "autograd/node.h"
#include "core/backend.h"
#include "core/dense_view.h"
#include "core/work.h"
#include "ops/ops.h"

namespace rushlight {
namespace {

constexpr double kElementNs = 0.5;

// The role of each tensor of a parameter is named in errors: "exp_avg of parameter 3".
void check(const char* op, std::size_t i, const Tensor& param, const char* role, const Tensor& t) {
  if (t.dtype() == param.dtype() && t.device() == param.device() && same(t.sizes(), param.sizes()))
    return;
  fail<RuntimeError>(op, "(): the ", role, " of parameter ", i,
                     " must have the parameter's dtype, shape and device\n",
                     describe("param", param), "\n", describe(role, t),
                     "\nmove the module before making the optimizer, or load its state again");
}

void check_param(const char* op, std::size_t i, const Tensor& param) {
  if (!is_floating(param.dtype()))
    fail<RuntimeError>(op, "(): only floating-point parameters can be trained\n",
                       describe("param", param), ", parameter ", i);
  check_no_internal_overlap(param, op);
}

void check_count(const char* op, const char* role, std::size_t n, const Tensors& list) {
  if (list.size() != n)
    fail<RuntimeError>(op, "(): ", n, " parameters, but ", list.size(), " of ", role);
}

// Elements lie side by side in some order of the dimensions, the same for both.
bool same_layout(const Tensor& a, const Tensor& b) {
  if (a.is_contiguous() && b.is_contiguous()) return true;
  for (int d = 0; d < a.dim(); ++d)
    if (a->shape[d] > 1 && a->strides[std::size_t(d)] != b->strides[std::size_t(d)]) return false;
  return true;
}

// The tensors of one call in the layout that the kernel wants, and what must go back afterwards.
// Where a copy is needed, making it may let another thread give a tensor other data: then the
// storages that were seen are held, and what is seen later is checked again.
class Layouts {
 public:
  Layouts(const Tensors& params, std::initializer_list<const Tensors*> others) {
    for (std::size_t i = 0; i < params.size(); ++i) {
      plain_ &= params[i].is_contiguous();
      for (const Tensors* list : others)
        if (i < list->size() && (*list)[i]) plain_ &= (*list)[i].is_contiguous();
    }
  }
  View view(const Tensor& leader, const Tensor& t) {
    const View v = view_of(t);
    if (!plain_) {
      if (v.numel != leader.numel() || v.dtype != leader.dtype()) fail_changed(t);
      storages_.push_back(t->storage);
    }
    return v;
  }
  // The layout of parameter t from now on: its own if it is dense, else row-major.
  Tensor lead(const Tensor& t) {
    if (t.is_contiguous()) return t;
    const Tensor dense = empty_like(t);
    if (same_layout(t, dense)) return t;
    copy_bits(dense, t);
    back_.emplace_back(t, dense);
    return dense;
  }
  Tensor follow(const Tensor& leader, const Tensor& t, bool written) {
    if (same_layout(leader, t)) return t;
    Tensor moved = empty_strided(leader.sizes(), leader->strides.data(), t.dtype(), t.device());
    copy_bits(moved, t);
    if (written) back_.emplace_back(t, moved);
    held_.push_back(moved);
    return moved;
  }
  void finish() {
    for (const auto& [t, dense] : back_) copy_bits(t, dense);
  }

 private:
  std::vector<std::pair<Tensor, Tensor>> back_;
  Tensors held_;
  bool plain_ = true;  // no copies
  std::vector<Ref<Storage>> storages_;
};

// Calls run(first, count) for each run of parameters on one device.
template <class F>
void by_device(const Tensors& params, F run) {
  for (std::size_t begin = 0, end; begin < params.size(); begin = end) {
    for (end = begin + 1; end < params.size() && params[end].device() == params[begin].device();)
      ++end;
    run(begin, end - begin);
  }
}

// Runs `work` without the interpreter's lock where it is long. Then another thread may give one of
// the tensors other data, so the storages are held.
template <class F>
void unlocked_run(std::initializer_list<const Tensors*> lists, F work) {
  double elements = 0;
  for (const Tensors* list : lists)
    for (const Tensor& t : *list) elements += t ? double(t.numel()) : 0;
  const double nanoseconds = elements * kElementNs;
  std::vector<Ref<Storage>> held;
  if (nanoseconds >= 2000)
    for (const Tensors* list : lists)
      for (const Tensor& t : *list)
        if (t) held.push_back(t->storage);
  const Unlocked unlocked(nanoseconds, {});
  work();
}

}  // namespace

std::vector<std::pair<std::int64_t, Tensor>> sgd_step(const Tensors& params, const Tensors& grads,
                                                      const Tensors& buffers,
                                                      const SgdSettings& settings) {
  const std::size_t n = params.size();
  const bool momentum = settings.momentum != 0;
  check_count("sgd_step", "gradients", n, grads);
  check_count("sgd_step", "momentum buffers", momentum ? n : 0, buffers);
  for (std::size_t i = 0; i < n; ++i) {
    check_param("sgd_step", i, params[i]);
    check("sgd_step", i, params[i], "grad", grads[i]);
    if (momentum && buffers[i]) check("sgd_step", i, params[i], "momentum_buffer", buffers[i]);
  }
  Layouts layouts(params, {&grads, &buffers});
  std::vector<SgdItem> items(n);
  std::vector<std::pair<std::int64_t, Tensor>> made;
  for (std::size_t i = 0; i < n; ++i) {
    const Tensor p = layouts.lead(params[i]);
    SgdItem& item = items[i];
    item.param = layouts.view(p, p);
    item.grad = layouts.view(p, layouts.follow(p, grads[i], false));
    item.fresh = momentum && !buffers[i];
    if (item.fresh) {
      made.emplace_back(std::int64_t(i),
                        empty_strided(p.sizes(), p->strides.data(), p.dtype(), p.device()));
      item.buffer = view_of(made.back().second);
    } else if (momentum) {
      item.buffer = layouts.view(p, layouts.follow(p, buffers[i], true));
    }
  }
  unlocked_run({&params, &grads, &buffers}, [&] {
    by_device(params, [&](std::size_t first, std::size_t count) {
      backend(params[first].device())
          .optim->sgd(items.data() + first, std::int64_t(count), settings);
    });
  });
  layouts.finish();
  for (std::size_t i = 0; i < n; ++i) {
    finish_inplace(params[i]);
    if (momentum && buffers[i]) finish_inplace(buffers[i]);
  }
  return made;
}

void adam_step(const Tensors& params, const Tensors& grads, const Tensors& means,
               const Tensors& squares, const Tensors& largest, const Tensors& steps,
               const AdamRun& run) {
  const std::size_t n = params.size();
  const bool amsgrad = !largest.empty();
  check_count("adam_step", "gradients", n, grads);
  check_count("adam_step", "exp_avg", n, means);
  check_count("adam_step", "exp_avg_sq", n, squares);
  check_count("adam_step", "max_exp_avg_sq", amsgrad ? n : 0, largest);
  check_count("adam_step", "step", n, steps);
  for (std::size_t i = 0; i < n; ++i) {
    check_param("adam_step", i, params[i]);
    check("adam_step", i, params[i], "grad", grads[i]);
    check("adam_step", i, params[i], "exp_avg", means[i]);
    check("adam_step", i, params[i], "exp_avg_sq", squares[i]);
    if (amsgrad) check("adam_step", i, params[i], "max_exp_avg_sq", largest[i]);
    if (steps[i].numel() != 1)
      fail<RuntimeError>("adam_step(): step must hold one number\n", describe("step", steps[i]));
  }
  Layouts layouts(params, {&grads, &means, &squares, &largest});
  std::vector<AdamItem> items(n);
  std::vector<double> counts(n);
  for (std::size_t i = 0; i < n; ++i) {
    const Tensor p = layouts.lead(params[i]);
    AdamItem& item = items[i];
    item.param = layouts.view(p, p);
    item.grad = layouts.view(p, layouts.follow(p, grads[i], false));
    item.mean = layouts.view(p, layouts.follow(p, means[i], true));
    item.square = layouts.view(p, layouts.follow(p, squares[i], true));
    if (amsgrad) item.largest = layouts.view(p, layouts.follow(p, largest[i], true));
    const double t = counts[i] = rushlight::item(steps[i]).as_double() + 1;
    item.step_size = run.lr / (1 - std::pow(run.beta1, t));
    item.correction = std::sqrt(1 - std::pow(run.beta2, t));
  }
  const AdamSettings settings{.beta1 = run.beta1,
                              .beta2 = run.beta2,
                              .eps = run.eps,
                              .weight_decay = run.decoupled ? 0 : run.weight_decay,
                              .shrink = run.decoupled ? 1 - run.lr * run.weight_decay : 1,
                              .amsgrad = amsgrad,
                              .maximize = run.maximize};
  for (std::size_t i = 0; i < n; ++i) fill_(steps[i], counts[i]);
  unlocked_run({&params, &grads, &means, &squares, &largest}, [&] {
    by_device(params, [&](std::size_t first, std::size_t count) {
      backend(params[first].device())
          .optim->adam(items.data() + first, std::int64_t(count), settings);
    });
  });
  layouts.finish();
  for (std::size_t i = 0; i < n; ++i) {
    finish_inplace(params[i]);
    finish_inplace(means[i]);
    finish_inplace(squares[i]);
    if (amsgrad) finish_inplace(largest[i]);
  }
}

void zero_grad(const Tensors& params, bool set_to_none) {
  for (const Tensor& p : params) {
    const Tensor grad = grad_of(p);
    if (!grad) continue;
    if (set_to_none) {
      set_grad(p, {});
    } else {
      const Tensor plain = grad.requires_grad() ? detach(grad) : grad;
      zero_(plain);
      if (grad.requires_grad()) set_grad(p, plain);
    }
  }
}

}  // namespace rushlight
