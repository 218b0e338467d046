// What rushlight.optim calls: a step over all parameters of a group, and clearing of gradients.
#include "ops/optim.h"

#include "bindings/module.h"
#include "bindings/signature.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

// A list in which None stands for "not there yet".
Tensors optional_tensors(py::handle list) {
  Tensors out;
  for (py::handle item : py::tuple(py::reinterpret_borrow<py::object>(list))) {
    const Tensor* t = as_tensor(item.ptr());
    if (!t && !item.is_none())
      fail<TypeError>("sgd_step(): a momentum buffer must be a Tensor or None, not ",
                      Py_TYPE(item.ptr())->tp_name);
    out.push_back(t ? *t : Tensor());
  }
  return out;
}

py::object sgd(const Tensors& params, const Tensors& grads, py::handle buffers, double lr,
               double momentum, double dampening, double weight_decay, bool nesterov,
               bool maximize) {
  const auto made = sgd_step(params, grads, optional_tensors(buffers),
                             {lr, momentum, dampening, weight_decay, nesterov, maximize});
  py::list out;
  for (const auto& [i, buffer] : made)
    out.append(py::make_tuple(i, py::reinterpret_steal<py::object>(wrap(buffer))));
  return out;
}

void adam(const Tensors& params, const Tensors& grads, const Tensors& exp_avgs,
          const Tensors& exp_avg_sqs, const Tensors& max_exp_avg_sqs, const Tensors& steps,
          double lr, double beta1, double beta2, double eps, double weight_decay, bool decoupled,
          bool maximize) {
  adam_step(params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, steps,
            {lr, beta1, beta2, eps, weight_decay, decoupled, maximize});
}

}  // namespace

void bind_optim(py::module_& m) {
  op<&sgd>(m,
           "sgd_step(params, grads, momentum_buffers, lr, momentum, dampening, weight_decay, "
           "nesterov, maximize)",
           As::function,
           "One step of SGD. Returns (position, buffer) for each momentum buffer that was None.");
  op<&adam>(m,
            "adam_step(params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, steps, lr, beta1, "
            "beta2, eps, weight_decay, decoupled, maximize)",
            As::function, "One step of Adam or, decoupled, of AdamW.");
  op<&zero_grad>(m, "zero_grad(params, set_to_none=True)", As::function,
                 "Clears the gradients of all parameters.");
}

}  // namespace rushlight::python
