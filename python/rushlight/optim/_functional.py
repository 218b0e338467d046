"""The steps of optimizers as functions of lists, for optimizers that others write:
adam(params, grads, exp_avgs, exp_avg_sqs, ...). Tensors are changed in place, as by step().
"""

import inspect

from rushlight import _C

# Of each: the kernel, its lists after params and gradients with their names in a state, the
# options with their defaults, and the settings, which are keywords.
_STEPS = {
    "adam": (
        "Adam", "exp_avgs exp_avg_sqs max_exp_avg_sqs state_steps",
        "foreach capturable differentiable fused grad_scale found_inf has_complex "
        "decoupled_weight_decay",
        "amsgrad beta1 beta2 lr weight_decay eps maximize",
    ),
    "adamw": (
        "Adam", "exp_avgs exp_avg_sqs max_exp_avg_sqs state_steps",
        "foreach capturable differentiable fused grad_scale found_inf has_complex",
        "amsgrad beta1 beta2 lr weight_decay eps maximize",
    ),
    "sgd": (
        "SGD", "momentum_buffer_list",
        "has_sparse_grad foreach fused grad_scale found_inf",
        "weight_decay momentum lr dampening nesterov maximize",
    ),
    "rmsprop": (
        "RMSprop", "square_avgs grad_avgs momentum_buffer_list state_steps",
        "foreach maximize differentiable capturable has_complex",
        "lr alpha eps weight_decay momentum centered",
    ),
    "adagrad": (
        "Adagrad", "state_sums state_steps",
        "fused grad_scale found_inf has_sparse_grad foreach differentiable has_complex",
        "lr weight_decay lr_decay eps maximize",
    ),
    "adadelta": (
        "Adadelta", "square_avgs acc_deltas state_steps",
        "capturable foreach differentiable has_complex",
        "lr rho eps weight_decay maximize",
    ),
    "adamax": (
        "Adamax", "exp_avgs exp_infs state_steps",
        "foreach maximize differentiable capturable has_complex",
        "eps beta1 beta2 lr weight_decay",
    ),
    "nadam": (
        "NAdam", "exp_avgs exp_avg_sqs mu_products state_steps",
        "decoupled_weight_decay foreach capturable differentiable has_complex maximize",
        "beta1 beta2 lr weight_decay momentum_decay eps",
    ),
    "radam": (
        "RAdam", "exp_avgs exp_avg_sqs state_steps",
        "decoupled_weight_decay foreach differentiable capturable has_complex maximize",
        "beta1 beta2 lr weight_decay eps",
    ),
    "rprop": (
        "Rprop", "prevs step_sizes state_steps",
        "foreach capturable maximize differentiable has_complex",
        "step_size_min step_size_max etaminus etaplus",
    ),
    "asgd": (
        "ASGD", "axs mus etas state_steps",
        "foreach maximize differentiable capturable has_complex",
        "lambd lr t0 alpha weight_decay",
    ),
}  # fmt: skip
_IN_STATE = {
    "exp_avgs": "exp_avg", "exp_avg_sqs": "exp_avg_sq", "max_exp_avg_sqs": "max_exp_avg_sq",
    "exp_infs": "exp_inf", "state_steps": "step", "momentum_buffer_list": "momentum_buffer",
    "square_avgs": "square_avg", "grad_avgs": "grad_avg", "state_sums": "sum",
    "acc_deltas": "acc_delta", "mu_products": "mu_product", "prevs": "prev",
    "step_sizes": "step_size", "axs": "ax", "mus": "mu", "etas": "eta",
}  # fmt: skip
_UNSET = {"foreach", "fused", "grad_scale", "found_inf"}  # None; other options are False


def _signature(gradients, lists, options, settings):
    kind = inspect.Parameter
    made = [kind(n, kind.POSITIONAL_OR_KEYWORD) for n in ("params", gradients, *lists)]
    made += [
        kind(n, kind.POSITIONAL_OR_KEYWORD, default=None if n in _UNSET else False) for n in options
    ]
    return inspect.Signature(made + [kind(n, kind.KEYWORD_ONLY) for n in settings])


def _group(name, given):
    """The settings, as those of a parameter group."""
    group = {"differentiable": False, "lr": 0.0, **given}
    if name == "adamw":
        group["decoupled_weight_decay"] = True
    for made, first, second in (
        ("betas", "beta1", "beta2"),
        ("etas", "etaminus", "etaplus"),
        ("step_sizes", "step_size_min", "step_size_max"),
    ):
        if first in given:
            group[made] = given[first], given[second]
    return group


def _function(name, kernel, lists, options, settings):
    gradients = "d_p_list" if name == "sgd" else "grads"
    signature = _signature(gradients, lists, options, settings)

    def step(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = bound.arguments
        if given.get("grad_scale") is not None or given.get("found_inf") is not None:
            raise AssertionError(
                "grad_scale and found_inf must be None\nGradScaler.step() unscales"
            )
        params, states = list(given["params"]), []
        for i in range(len(params)):
            # Lists of what a setting turns off may be empty.
            kept = {_IN_STATE[n]: given[n][i] for n in lists if i < len(given[n])}
            states.append({n: t for n, t in kept.items() if t is not None})
        rest = {n: v for n, v in given.items() if n in options or n in settings}
        _C._optimizer_step(kernel, params, list(given[gradients]), states, _group(name, rest))
        for n in lists:
            for i, state in enumerate(states[: len(given[n])]):
                if given[n][i] is not state.get(_IN_STATE[n]):  # the first momentum of SGD
                    given[n][i] = state.get(_IN_STATE[n])

    step.__name__ = step.__qualname__ = name
    step.__signature__ = signature
    step.__doc__ = f"A step of {kernel} over lists of parameters, gradients and states."
    return step


adam, adamw, sgd, rmsprop, adagrad, adadelta, adamax, nadam, radam, rprop, asgd = (
    _function(name, kernel, *(part.split() for part in parts))
    for name, (kernel, *parts) in _STEPS.items()
)
