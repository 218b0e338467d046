"""register_module_*: hooks that see every module of the process.

While one is there `everywhere.active` is true and every call takes the slow path.
"""

from rushlight.nn.modules._hooks import RemovableHandle, everywhere


class _GlobalHandle(RemovableHandle):
    def remove(self):
        super().remove()
        _refresh()


def _refresh():
    everywhere.active[:] = [
        *everywhere.forward, *everywhere.forward_pre, *everywhere.backward_pre,
        *everywhere.backward,
    ]  # fmt: skip


def _all_backward_hooks_are(full):
    if everywhere.is_full is (not full):
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks as a global Module "
            "hook. Please use only one of them."
        )
    everywhere.is_full = full


def _register(hooks, hook, *marks):
    handle = _GlobalHandle(hooks, extra_dict=list(marks))
    hooks[handle.id] = hook
    for marked in marks:
        marked[handle.id] = True
    _refresh()
    return handle


def register_module_forward_pre_hook(hook):
    """Calls `hook(module, args)` before the forward of every module.

    Args:
        hook: the function.

    Returns: a handle whose `remove()` removes the hook.

    >>> handle = torch.nn.modules.module.register_module_forward_pre_hook(lambda m, args: print(m))
    >>> out = torch.nn.ReLU()(torch.ones(1))
    ReLU()
    >>> handle.remove()
    """
    return _register(everywhere.forward_pre, hook)


def register_module_forward_hook(hook, *, with_kwargs=False, always_call=False):
    """Calls `hook(module, args, output)` after the forward of every module; a result replaces the
    output.

    Args:
        hook: the function.
        with_kwargs: call as `hook(module, args, kwargs, output)`.
        always_call: call it even when `forward` raised.

    >>> handle = torch.nn.modules.module.register_module_forward_hook(lambda m, args, out: out + 1)
    >>> torch.nn.Identity()(torch.ones(1))
    tensor([2.])
    >>> handle.remove()
    """
    marks = [everywhere.forward_with_kwargs] if with_kwargs else []
    marks += [everywhere.forward_always_called] if always_call else []
    return _register(everywhere.forward, hook, *marks)


def register_module_full_backward_pre_hook(hook):
    """Calls `hook(module, grad_output)` before the gradients of the inputs of every module.

    Args:
        hook: the function.

    >>> register = torch.nn.modules.module.register_module_full_backward_pre_hook
    >>> handle = register(lambda module, grad_output: print(grad_output))
    >>> torch.nn.Identity()(torch.ones(1, requires_grad=True)).backward()
    (tensor([1.]),)
    >>> handle.remove()
    """
    return _register(everywhere.backward_pre, hook)


def register_module_full_backward_hook(hook):
    """Calls `hook(module, grad_input, grad_output)` after the gradients of the inputs of every
    module.

    Args:
        hook: the function.

    >>> register = torch.nn.modules.module.register_module_full_backward_hook
    >>> handle = register(lambda module, grad_input, grad_output: print(grad_input))
    >>> torch.nn.Identity()(torch.ones(1, requires_grad=True)).backward()
    (tensor([1.]),)
    >>> handle.remove()
    """
    _all_backward_hooks_are(full=True)
    return _register(everywhere.backward, hook)


def register_module_backward_hook(hook):
    """Calls `hook(module, grad_input, grad_output)` with the gradients of the last operation of
    every module, which are not always those of its inputs: see register_module_full_backward_hook.
    """
    _all_backward_hooks_are(full=False)
    return _register(everywhere.backward, hook)


def register_module_buffer_registration_hook(hook):
    """Calls `hook(module, name, buffer)` for every buffer; a result replaces it.

    Args:
        hook: the function.

    >>> register = torch.nn.modules.module.register_module_buffer_registration_hook
    >>> handle = register(lambda module, name, buffer: print(name))
    >>> torch.nn.Module().register_buffer("mean", torch.zeros(1))
    mean
    >>> handle.remove()
    """
    return _register(everywhere.buffer_registration, hook)


def register_module_module_registration_hook(hook):
    """Calls `hook(module, name, submodule)` for every submodule; a result replaces it.

    Args:
        hook: the function.

    >>> register = torch.nn.modules.module.register_module_module_registration_hook
    >>> handle = register(lambda module, name, submodule: print(name))
    >>> torch.nn.Module().add_module("fc", torch.nn.Linear(1, 1))
    fc
    >>> handle.remove()
    """
    return _register(everywhere.module_registration, hook)


def register_module_parameter_registration_hook(hook):
    """Calls `hook(module, name, param)` for every parameter; a result replaces it.

    Args:
        hook: the function.

    >>> register = torch.nn.modules.module.register_module_parameter_registration_hook
    >>> handle = register(lambda module, name, param: print(name))
    >>> torch.nn.Module().register_parameter("scale", torch.nn.Parameter(torch.ones(1)))
    scale
    >>> handle.remove()
    """
    return _register(everywhere.parameter_registration, hook)
