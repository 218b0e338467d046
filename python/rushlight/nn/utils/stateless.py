"""functional_call: a module run with other tensors than its own."""

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
    own = dict(module.named_parameters(remove_duplicate=False))
    own.update(module.named_buffers(remove_duplicate=False))
    given = dict(parameters_and_buffers)
    if tie_weights:
        given = {**_tied(own, given), **given}
    if strict:
        _check_names(module, own, given)
    slots = [(*_slot(module, name, value), value) for name, value in given.items()]
    if args is None:
        args = ()
    elif not isinstance(args, tuple):
        args = (args,)
    before = [(table, name, name in table, table.get(name)) for table, name, _ in slots]
    try:
        for table, name, value in slots:
            table[name] = value
        return module(*args, **(kwargs or {}))
    finally:
        for table, name, was_there, value in reversed(before):
            if was_there:
                table[name] = value
            else:
                table.pop(name, None)


def _tied(own, given):
    """The other names of the tensors that are replaced."""
    for_tensor = {id(own[name]): value for name, value in given.items() if name in own}
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
