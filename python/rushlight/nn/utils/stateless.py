"""functional_call: a module run with other tensors than its own."""

import contextlib

from rushlight._C import Tensor

__all__ = ["functional_call"]


def functional_call(
    module, parameters_and_buffers, args=None, kwargs=None, *, tie_weights=True, strict=False
):
    """Calls a module with the given tensors instead of its parameters and buffers, so that
    gradients flow to these; the module's own are as before afterwards.

    Args:
        module: what is called.
        parameters_and_buffers: tensors by name; those that are left out stay the module's own.
        args: the arguments of the call, a tuple or one argument.
        kwargs: the keyword arguments of the call.
        tie_weights: a tensor given for one name of a shared parameter serves its other names too.
        strict: refuse missing and unexpected names.

    Shape: each tensor has the shape of the parameter or buffer that it replaces.

    >>> weight = torch.tensor([[2.0]], requires_grad=True)
    >>> layer = torch.nn.Linear(1, 1, bias=False)
    >>> torch.nn.utils.stateless.functional_call(layer, {"weight": weight}, torch.tensor([3.0]))
    tensor([6.], grad_fn=<SqueezeBackward4>)
    """
    if args is None:
        args = ()
    elif not isinstance(args, tuple):
        args = (args,)
    with _reparametrize_module(module, parameters_and_buffers, tie_weights, strict):
        return module(*args, **(kwargs or {}))


@contextlib.contextmanager
def _reparametrize_module(module, parameters_and_buffers, tie_weights=False, strict=False):
    """The module with the given tensors; those that it assigns meanwhile go into the dict."""
    own = dict(module.named_parameters(remove_duplicate=False))
    own.update(module.named_buffers(remove_duplicate=False))
    given = dict(parameters_and_buffers)
    if tie_weights:
        given = {**_tied(own, given), **given}
    if strict:
        _check_names(module, own, given)
    slots = {name: _slot(module, name, value) for name, value in given.items()}
    before = [(table, last, last in table, table.get(last)) for table, last in slots.values()]
    try:
        for name, (table, last) in slots.items():
            table[last] = given[name]
        yield
    finally:
        for name in parameters_and_buffers:
            table, last = slots[name]
            if last in table and table[last] is not parameters_and_buffers[name]:
                parameters_and_buffers[name] = table[last]
        for table, last, was_there, value in reversed(before):
            if was_there:
                table[last] = value
            else:
                table.pop(last, None)


def _tied(own, given):
    """The other names of the tensors that are replaced."""
    for_tensor: dict[int, Tensor] = {}
    for name, value in given.items():
        if name in own and for_tensor.setdefault(id(own[name]), value) is not value:
            names = sorted(other for other, t in own.items() if t is own[name])
            raise ValueError(
                f"functional_call got multiple values for keys {names}, which are tied\n"
                "give one of them, or tie_weights=False"
            )
    return {name: for_tensor[id(t)] for name, t in own.items() if id(t) in for_tensor}


def _check_names(module, own, given):
    lines = [
        f"\n\t{kind} key(s): {', '.join(repr(name) for name in sorted(names))}."
        for kind, names in (("Unexpected", given.keys() - own), ("Missing", own.keys() - given))
        if names
    ]
    if lines:
        name = type(module).__name__
        raise RuntimeError(f"Error(s) in reparametrizing for {name}:" + "".join(lines))


def _slot(module, name, value):
    """The table of a module that holds `name`, and the last part of the name."""
    *path, last = name.split(".")
    for part in path:
        inner = module._modules.get(part)
        if inner is None:
            raise AttributeError(f"{type(module).__name__} has no attribute `{part}`")
        module = inner
    if last in module._modules:
        raise TypeError(f"attribute `{name}`: {module._modules[last]} is not an instance of Tensor")
    if not isinstance(value, Tensor):
        raise TypeError(f"{value} is not an instance of torch.Tensor\nit is given for {name!r}")
    table = module._parameters if last in module._parameters else module._buffers
    return table, last
