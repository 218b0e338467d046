// Optimizer steps: checks, layouts, then one kernel call per run of parameters on one device. Note:
// kernels need all tensors of a parameter in one dense layout; where a tensor
// differs a copy is used instead, and is copied back if it was to be written.
#include "ops/optim.h"

#include "autograd/node.h"
#include "core/backend.h"
#include "core/dense_view.h"
#include "core/unlocked.h"
#include "ops/ops.h"
#include "ops/value.h"

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

double nanoseconds_of(const OptimTensors& tensors) {
  double elements = 0;
  for (const Tensor& p : tensors.params) elements += double(p.numel());
  return elements * kElementNs * double(2 + tensors.states.size());
}

// The tensors of one call in the layout that the kernel needs, and what is copied back afterwards.
// Where a copy is needed, making it may let another thread give a tensor other data, as a long step
// may and one that waits for a GPU: then the storages that were seen are held, and what is seen
// later is checked again.
class Layouts {
 public:
  Layouts(const OptimTensors& tensors, double nanoseconds)
      : holds_(nanoseconds >= interpreter.least) {
    const auto see = [&](const Tensors& list) {
      for (const Tensor& t : list)
        if (t) holds_ |= !t.is_contiguous() || !t.device().is_cpu();
    };
    see(tensors.params);
    see(tensors.grads);
    for (const Tensors& list : tensors.states) see(list);
  }
  View view(const Tensor& leader, const Tensor& t) {
    const View v = view_of(t);
    if (holds_) {
      if (v.numel != leader.numel() || v.dtype != leader.dtype()) fail_changed(t);
      storages_.emplace_back(t->storage);
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
  bool holds_;
  std::vector<StorageInUse> storages_;
};

// Calls run(first, count) for each run of parameters on one device.
template <class F>
void by_device(const std::vector<Device>& devices, F run) {
  for (std::size_t begin = 0, end; begin < devices.size(); begin = end) {
    for (end = begin + 1; end < devices.size() && devices[end] == devices[begin];) ++end;
    run(begin, end - begin);
  }
}

template <class F>
void check_all(const char* op, const OptimTensors& t) {
  const std::size_t n = t.params.size();
  check_count(op, "gradients", n, t.grads);
  if (F::kCountsSteps) check_count(op, "step", n, t.steps);
  for (std::size_t k = 0; k < t.states.size(); ++k) check_count(op, t.names[k], n, t.states[k]);
  for (std::size_t i = 0; i < n; ++i) {
    check_param(op, i, t.params[i]);
    check(op, i, t.params[i], "grad", t.grads[i]);
    for (std::size_t k = 0; k < t.states.size(); ++k)
      if (t.states[k][i]) check(op, i, t.params[i], t.names[k], t.states[k][i]);
    const auto check_number = [&](const char* role, const Tensor& number) {
      if (number.numel() != 1)
        fail<RuntimeError>(op, "(): ", role, " must hold one number\n", describe(role, number));
    };
    if (F::kCountsSteps) check_number("step", t.steps[i]);
    for (const Tensors& scalars : t.scalars) check_number("a scalar of the state", scalars[i]);
  }
}

// What the formula reads of each parameter's step; counts the steps up.
template <class F>
std::vector<typename F::Coefficients> numbers_of(const F& settings, const OptimTensors& t) {
  std::vector<typename F::Coefficients> numbers(t.params.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    double count = 0, scalars[F::kScalars + 1];
    if constexpr (F::kCountsSteps) {
      count = item(t.steps[i]).as_double() + 1;
      fill_(t.steps[i], count);
    }
    for (int k = 0; k < F::kScalars; ++k)
      scalars[k] = item(t.scalars[std::size_t(k)][i]).as_double();
    numbers[i] = settings.coefficients(count, scalars);
    for (int k = 0; k < F::kScalars; ++k) fill_(t.scalars[std::size_t(k)][i], scalars[k]);
    if constexpr (requires { numbers[i].fresh; })
      numbers[i].fresh = !t.states.empty() && !t.states[0][i];
  }
  return numbers;
}

}  // namespace

// For the formulas, which find it by its argument.
static Value constant(const Value& v) { return Value(detach(v.tensor())); }

template <class F>
void optim_step(const char* op, const F& settings, OptimTensors& t) {
  check_all<F>(op, t);
  const std::size_t n = t.params.size();
  const double nanoseconds = nanoseconds_of(t);
  Layouts layouts(t, nanoseconds);
  std::vector<OptimItem<F>> items(n);
  std::vector<bool> made(n);
  std::vector<Device> devices;
  for (std::size_t i = 0; i < n; ++i) {
    const Tensor p = layouts.lead(t.params[i]);
    devices.push_back(p.device());
    OptimItem<F>& item = items[i];
    item.param = layouts.view(p, p);
    item.grad = layouts.view(p, layouts.follow(p, t.grads[i], false));
    for (std::size_t k = 0; k < t.states.size(); ++k) {
      Tensor& state = t.states[k][i];
      made[i] = made[i] || !state;
      if (!state) state = empty_strided(p.sizes(), p->strides.data(), p.dtype(), p.device());
      item.state[k] = layouts.view(p, layouts.follow(p, state, true));
    }
  }
  const auto numbers = numbers_of(settings, t);
  for (std::size_t i = 0; i < n; ++i) {
    items[i].now = numbers[i];
    if constexpr (requires { items[i].now.fresh; }) items[i].now.fresh = made[i];
  }
  {
    const Unlocked unlocked(nanoseconds, {});
    by_device(devices, [&](std::size_t first, std::size_t count) {
      const OptimKernel<F>& kernel = *backend(devices[first]).optim;
      kernel.step(items.data() + first, std::int64_t(count), settings);
    });
  }
  layouts.finish();
  for (std::size_t i = 0; i < n; ++i) {
    finish_inplace(t.params[i]);
    for (const Tensors& list : t.states)
      if (!made[i]) finish_inplace(list[i]);
  }
}

template <class F>
void optim_step_recorded(const char* op, const F& settings, OptimTensors& t) {
  check_all<F>(op, t);
  const GradMode on(true);
  const auto numbers = numbers_of(settings, t);
  optim::with_states(settings, [&]<int N>(std::integral_constant<int, N>) {
    for (std::size_t i = 0; i < t.params.size(); ++i) {
      Value p(clone(t.params[i])), s[N + 1];
      for (std::size_t k = 0; k < N; ++k)
        if (t.states[k][i]) s[k] = Value(clone(t.states[k][i]));
      settings.template step<N>(p, settings.descent(Value(t.grads[i]), p), s, numbers[i]);
      copy_(t.params[i], p.tensor());
      for (std::size_t k = 0; k < N; ++k) {
        if (t.states[k][i])
          copy_(t.states[k][i], s[k].tensor());
        else
          t.states[k][i] = clone(s[k].tensor());
      }
    }
  });
}

void zero_grad(const Tensors& params, bool set_to_none) {
  for (const Tensor& p : params) {
    const Tensor grad = grad_of(p);
    if (!grad) continue;
    if (set_to_none) {
      set_grad(p, {});
    } else if (grad->sparse) {
      clear_sparse(grad);
    } else {
      const Tensor plain = grad.requires_grad() ? detach(grad) : grad;
      zero_(plain);
      if (grad.requires_grad()) set_grad(p, plain);
    }
  }
}

template void optim_step(const char*, const optim::Sgd&, OptimTensors&);
template void optim_step_recorded(const char*, const optim::Sgd&, OptimTensors&);
template void optim_step(const char*, const optim::Adam&, OptimTensors&);
template void optim_step_recorded(const char*, const optim::Adam&, OptimTensors&);
template void optim_step(const char*, const optim::Adadelta&, OptimTensors&);
template void optim_step_recorded(const char*, const optim::Adadelta&, OptimTensors&);
template void optim_step(const char*, const optim::Adagrad&, OptimTensors&);
template void optim_step_recorded(const char*, const optim::Adagrad&, OptimTensors&);
template void optim_step(const char*, const optim::Adamax&, OptimTensors&);
template void optim_step_recorded(const char*, const optim::Adamax&, OptimTensors&);
template void optim_step(const char*, const optim::Asgd&, OptimTensors&);
template void optim_step_recorded(const char*, const optim::Asgd&, OptimTensors&);
template void optim_step(const char*, const optim::NAdam&, OptimTensors&);
template void optim_step_recorded(const char*, const optim::NAdam&, OptimTensors&);
template void optim_step(const char*, const optim::RAdam&, OptimTensors&);
template void optim_step_recorded(const char*, const optim::RAdam&, OptimTensors&);
template void optim_step(const char*, const optim::RmsProp&, OptimTensors&);
template void optim_step_recorded(const char*, const optim::RmsProp&, OptimTensors&);
template void optim_step(const char*, const optim::Rprop&, OptimTensors&);
template void optim_step_recorded(const char*, const optim::Rprop&, OptimTensors&);

}  // namespace rushlight
