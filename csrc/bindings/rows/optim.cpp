// What rushlight.optim calls: a step over all parameters of a group, and clearing of gradients. The
// settings are read from the group itself and the tensors from the parameters' states, by torch's
// names.
#include "ops/optim.h"

#include <unordered_map>

#include "bindings/module.h"
#include "bindings/table/signature.h"
#include "ops/ops.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

// The same str for the same literal: made once.
PyObject* key(const char* name) {
  static std::unordered_map<const void*, PyObject*> keys;
  PyObject*& made = keys[name];
  if (!made) made = PyUnicode_InternFromString(name);
  return made;
}

// Complex numbers as pairs of real ones, of which each is a parameter.
void show_parts(Tensors& list) {
  const GradMode off(false);
  for (Tensor& t : list)
    if (t && is_complex(t.dtype())) t = view_as_real(t);
}

struct StepArguments {
  const char* op;
  Tensors params, grads;
  py::handle states, group;

  py::handle find(const char* name) const {  // none: there is no such setting
    if (!PyDict_Check(group.ptr())) throw TypeError("a parameter group must be a dict");
    return PyDict_GetItemWithError(group.ptr(), key(name));
  }
  py::handle setting(const char* name) const {
    const py::handle value = find(name);
    if (!value) throw py::key_error(name);
    return value;
  }
  static double number_of(py::handle value) {
    const double number = PyFloat_AsDouble(value.ptr());
    if (number == -1 && PyErr_Occurred()) throw py::error_already_set();
    return number;
  }
  double number(const char* name) const { return number_of(setting(name)); }
  double number(const char* name, Py_ssize_t index) const {
    return number_of(setting(name)[py::int_(index)]);
  }
  bool flag(const char* name) const {
    const int truth = PyObject_IsTrue(setting(name).ptr());
    if (truth < 0) throw py::error_already_set();
    return truth;
  }
  void read(optim::Settings& to) const {
    to.lr = number("lr");
    to.maximize = flag("maximize");
    if (find("eps")) to.eps = number("eps");
    if (find("weight_decay")) to.weight_decay = number("weight_decay");
    if (find("decoupled_weight_decay")) to.decoupled = flag("decoupled_weight_decay");
  }

  template <class F>
  void read_betas(F& f) const {
    f.beta1 = number("betas", 0);
    f.beta2 = number("betas", 1);
  }
  // The tensor of that name in each state; undefined where there is none.
  Tensors tensors(const char* name, bool may_lack) const {
    Tensors out;
    for (const py::handle state : py::reinterpret_borrow<py::list>(states)) {
      PyObject* const value =
          PyDict_Check(state.ptr()) ? PyDict_GetItemWithError(state.ptr(), key(name)) : nullptr;
      const Tensor* const t = value ? as_tensor(value) : nullptr;
      if (!t && !may_lack && !value) throw py::key_error(name);
      if (!t && !(may_lack && (!value || value == Py_None)))
        fail<TypeError>(op, "(): the ", name, " of a state must be a Tensor, not ",
                        Py_TYPE(value)->tp_name);
      out.push_back(t ? *t : Tensor());
    }
    return out;
  }

  template <class F>
  void run(const F& settings, std::initializer_list<const char*> states_used,
           std::initializer_list<const char*> scalars = {}) {
    OptimTensors t;
    t.params = std::move(params);
    t.grads = std::move(grads);
    constexpr bool kMade = !F::kCountsSteps;  // SGD's momentum begins as the gradient
    for (const char* name : states_used) {
      if (!name) continue;
      t.names.push_back(name);
      t.states.push_back(tensors(name, kMade));
    }
    if (F::kCountsSteps) t.steps = tensors("step", false);
    for (const char* name : scalars) t.scalars.push_back(tensors(name, false));
    std::vector<bool> complex;
    for (const Tensor& p : t.params) complex.push_back(is_complex(p.dtype()));
    show_parts(t.params);
    show_parts(t.grads);
    for (Tensors& list : t.states) show_parts(list);
    if (flag("differentiable"))
      optim_step_recorded(op, settings, t);
    else
      optim_step(op, settings, t);
    if (!kMade) return;
    for (std::size_t k = 0; k < t.states.size(); ++k)
      for (std::size_t i = 0; i < t.params.size(); ++i) {
        const Tensor& kept = t.states[k][i];
        const auto made = py::reinterpret_steal<py::object>(
            wrap(complex[i] && kept ? view_as_complex(kept) : kept));
        PyObject* const state = PyList_GetItem(states.ptr(), Py_ssize_t(i));
        if (!state || PyDict_SetItem(state, key(t.names[k]), made.ptr()))
          throw py::error_already_set();
      }
  }
};

void sgd(StepArguments& call) {
  optim::Sgd f;
  call.read(f);
  f.momentum = call.number("momentum");
  f.dampening = call.number("dampening");
  f.nesterov = call.flag("nesterov");
  call.run(f, {f.momentum != 0 ? "momentum_buffer" : nullptr});
}
void adam(StepArguments& call) {
  optim::Adam f;
  call.read(f);
  call.read_betas(f);
  f.amsgrad = call.flag("amsgrad");
  call.run(f, {"exp_avg", "exp_avg_sq", f.amsgrad ? "max_exp_avg_sq" : nullptr});
}
void adadelta(StepArguments& call) {
  optim::Adadelta f;
  call.read(f);
  f.rho = call.number("rho");
  call.run(f, {"square_avg", "acc_delta"});
}
void adagrad(StepArguments& call) {
  optim::Adagrad f;
  call.read(f);
  f.lr_decay = call.number("lr_decay");
  call.run(f, {"sum"});
}
void adamax(StepArguments& call) {
  optim::Adamax f;
  call.read(f);
  call.read_betas(f);
  call.run(f, {"exp_avg", "exp_inf"});
}
void asgd(StepArguments& call) {
  optim::Asgd f;
  call.read(f);
  f.lambd = call.number("lambd");
  f.alpha = call.number("alpha");
  f.t0 = call.number("t0");
  call.run(f, {"ax"}, {"eta", "mu"});
}
void nadam(StepArguments& call) {
  optim::NAdam f;
  call.read(f);
  call.read_betas(f);
  f.momentum_decay = call.number("momentum_decay");
  call.run(f, {"exp_avg", "exp_avg_sq"}, {"mu_product"});
}
void radam(StepArguments& call) {
  optim::RAdam f;
  call.read(f);
  call.read_betas(f);
  call.run(f, {"exp_avg", "exp_avg_sq"});
}
void rmsprop(StepArguments& call) {
  optim::RmsProp f;
  call.read(f);
  f.alpha = call.number("alpha");
  f.momentum = call.number("momentum");
  f.centered = call.flag("centered");
  call.run(f, {"square_avg", f.centered ? "grad_avg" : nullptr,
               f.momentum > 0 ? "momentum_buffer" : nullptr});
}
void rprop(StepArguments& call) {
  optim::Rprop f;
  call.read(f);
  f.shrink = call.number("etas", 0);
  f.grow = call.number("etas", 1);
  f.least = call.number("step_sizes", 0);
  f.most = call.number("step_sizes", 1);
  call.run(f, {"prev", "step_size"});
}

constexpr std::pair<const char*, void (*)(StepArguments&)> kOptimizers[] = {
    {"SGD", sgd},         {"Adam", adam},   {"Adadelta", adadelta}, {"Adagrad", adagrad},
    {"Adamax", adamax},   {"ASGD", asgd},   {"NAdam", nadam},       {"RAdam", radam},
    {"RMSprop", rmsprop}, {"Rprop", rprop},
};

void optimizer_step(std::string_view name, const Tensors& params, const Tensors& grads,
                    py::handle states, py::handle group) {
  if (!PyList_Check(states.ptr())) throw TypeError("optimizer_step(): states must be a list");
  for (const auto& [known, step] : kOptimizers)
    if (name == known) {
      StepArguments call{known, params, grads, states, group};
      return step(call);
    }
  fail<ValueError>("optimizer_step(): there is no optimizer ", name);
}

}  // namespace

void bind_optim(py::module_& m) {
  op<&optimizer_step>(m, "_optimizer_step(name, params, grads, states, group)",
                      with_complex(As::function),
                      R"(One step of an optimizer over parameters of one group.

Args:
    name: of the class in torch.optim.
    params, grads: lists of equal length.
    states: a list of dicts, the state of each parameter; empty where there is none.
    group: the dict of the settings.
)");
  op<&zero_grad>(m, "_zero_grad(params, set_to_none=True)", with_complex(As::function),
                 "Clears the gradients of all parameters.");
}

}  // namespace rushlight::python
