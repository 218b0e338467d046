"""Hooks of a module: how they are registered, and the call that runs them.

Module.__call__ tests `_hooked` once and comes here only when it is set. Each hook dictionary is
made when first looked at, which sets `_hooked`: code that holds one may put a hook into it.
"""

import itertools
import warnings
import weakref
from collections import OrderedDict

from rushlight import _C

CALL_HOOKS = (  # of a call; the rest of NAMES are of state dictionaries
    "_backward_pre_hooks",
    "_backward_hooks",
    "_forward_hooks",
    "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called",
    "_forward_pre_hooks",
    "_forward_pre_hooks_with_kwargs",
)
NAMES = (
    *CALL_HOOKS,
    "_state_dict_hooks",
    "_state_dict_pre_hooks",
    "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)


class GlobalHooks:
    """Hooks for every module in the process.

    `active`, what Module.__call__ tests, is a list that is empty or not: the fastest test there is.
    """

    def __init__(self):
        self.active = []
        self.forward = OrderedDict()
        self.forward_with_kwargs = OrderedDict()
        self.forward_always_called = OrderedDict()
        self.forward_pre = OrderedDict()
        self.backward = OrderedDict()
        self.is_full = None  # of `backward`: False where they are of register_module_backward_hook
        self.backward_pre = OrderedDict()
        self.buffer_registration = OrderedDict()
        self.module_registration = OrderedDict()
        self.parameter_registration = OrderedDict()


everywhere = GlobalHooks()


class RemovableHandle:
    """What registering a hook returns: `remove()`, or leaving a `with` block, removes the hook."""

    __module__ = "rushlight.utils.hooks"  # torch's path
    _ids = itertools.count()

    def __init__(self, hooks, *, extra_dict=None):
        self.id = next(RemovableHandle._ids)
        extra = extra_dict if isinstance(extra_dict, list) else [extra_dict] if extra_dict else []
        self._dicts = [weakref.ref(hooks), *(weakref.ref(d) for d in extra)]

    @property
    def hooks_dict_ref(self):
        return self._dicts[0]

    def remove(self):
        for reference in self._dicts:
            hooks = reference()
            if hooks is not None:
                hooks.pop(self.id, None)

    def __getstate__(self):
        return [d() for d in self._dicts], self.id

    def __setstate__(self, state):
        dicts, self.id = state
        self._dicts = [weakref.ref(OrderedDict() if d is None else d) for d in dicts]
        RemovableHandle._ids = itertools.count(max(self.id + 1, next(RemovableHandle._ids)))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()


class _OnFirstUse:
    """A hook dictionary that appears in the instance when it is first looked at."""

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, module, owner=None):
        if module is None:
            return self
        module.__dict__["_hooked"] = True
        return module.__dict__.setdefault(self.name, OrderedDict())


def _register(hooks, hook, prepend=False, *flagged):
    """Adds `hook`; `flagged` are the (dictionary, wanted) pairs that mark it."""
    marks = [marked for marked, wanted in flagged if wanted]
    handle = RemovableHandle(hooks, extra_dict=marks)
    hooks[handle.id] = hook
    for marked in marks:
        marked[handle.id] = True
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


class Hooks:
    """The register_* methods of Module that take hooks."""

    _hooked = False
    _backward_pre_hooks = _OnFirstUse()
    _backward_hooks = _OnFirstUse()
    _forward_hooks = _OnFirstUse()
    _forward_hooks_with_kwargs = _OnFirstUse()
    _forward_hooks_always_called = _OnFirstUse()
    _forward_pre_hooks = _OnFirstUse()
    _forward_pre_hooks_with_kwargs = _OnFirstUse()
    _state_dict_hooks = _OnFirstUse()
    _state_dict_pre_hooks = _OnFirstUse()
    _load_state_dict_pre_hooks = _OnFirstUse()
    _load_state_dict_post_hooks = _OnFirstUse()
    _is_full_backward_hook = None

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        """Calls `hook(module, args)` before `forward`; what it returns replaces the arguments.

        Args:
            hook: the function.
            prepend: run before the hooks that are there.
            with_kwargs: call as `hook(module, args, kwargs)`; it returns both or None.

        Returns: a handle whose `remove()` removes the hook.
        """
        with_kwargs = (self._forward_pre_hooks_with_kwargs, with_kwargs)
        return _register(self._forward_pre_hooks, hook, prepend, with_kwargs)

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        """Calls `hook(module, args, output)` after `forward`; a result replaces the output.

        Args:
            hook: the function.
            prepend: run before the hooks that are there.
            with_kwargs: call as `hook(module, args, kwargs, output)`.
            always_call: call it even when `forward` raised.

        >>> layer = torch.nn.Identity()
        >>> handle = layer.register_forward_hook(lambda module, args, output: output + 1)
        >>> layer(torch.zeros(2))
        tensor([1., 1.])
        >>> handle.remove()
        """
        return _register(
            self._forward_hooks,
            hook,
            prepend,
            (self._forward_hooks_with_kwargs, with_kwargs),
            (self._forward_hooks_always_called, always_call),
        )

    def register_full_backward_pre_hook(self, hook, prepend=False):
        """Calls `hook(module, grad_output)` before the gradients of the inputs are computed; what
        it returns replaces grad_output. With `prepend` it runs before the hooks that are there.
        """
        return _register(self._backward_pre_hooks, hook, prepend)

    def register_full_backward_hook(self, hook, prepend=False):
        """Calls `hook(module, grad_input, grad_output)` after the gradients of the inputs.

        What it returns, a tuple with an entry for each positional input, replaces `grad_input`.
        With `prepend` it runs before the hooks that are there.
        """
        if self._is_full_backward_hook is False:
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a "
                "single Module. Please use only one of them."
            )
        self._is_full_backward_hook = True
        return _register(self._backward_hooks, hook, prepend)

    def register_backward_hook(self, hook):
        """Calls `hook(module, grad_input, grad_output)` with the gradients of the last operation.

        Where forward() is several operations, these are not those of the module's inputs: use
        register_full_backward_hook().
        """
        if self._is_full_backward_hook is True:
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a "
                "single Module. Please use only one of them."
            )
        self._is_full_backward_hook = False
        return _register(self._backward_hooks, hook)

    def register_state_dict_pre_hook(self, hook):
        """Calls `hook(module, prefix, keep_vars)` before `state_dict` collects."""
        return _register(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook):
        """Calls `hook(module, state_dict, prefix, local_metadata)`, which edits `state_dict`."""
        hook._from_public_api = True
        return _register(self._state_dict_hooks, hook)

    def _register_state_dict_hook(self, hook):
        """As the public one, but a result replaces the dictionary."""
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "Cannot register the same function as the state dict post hook that was "
                "previously registered via register_state_dict_post_hook"
            )
        return _register(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook):
        """Calls `hook(module, state_dict, prefix, local_metadata, strict, missing_keys,
        unexpected_keys, error_msgs)` before this module takes its entries."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(self, hook, with_module=False):
        if with_module:
            hook = _WithModule(hook, self)
        return _register(self._load_state_dict_pre_hooks, hook)

    def register_load_state_dict_post_hook(self, hook):
        """Calls `hook(module, incompatible_keys)` after loading; it may edit the two lists."""
        return _register(self._load_state_dict_post_hooks, hook)


class _WithModule:
    """A hook that is given its module first: no local function, so that it can be pickled."""

    def __init__(self, hook, module):
        self.hook, self.module = hook, weakref.ref(module)

    def __call__(self, *args):
        module = self.module()
        if module is None:
            raise RuntimeError("You are trying to call the hook of a dead Module!")
        return self.hook(module, *args)

    def __reduce__(self):
        return _WithModule, (self.hook, self.module())


def _warn_failed(kind, error):
    warnings.warn(
        f"{kind} with ``always_call=True`` raised an exception that was silenced as another "
        f"error was raised in forward: {error}",
        stacklevel=4,
    )


def call_with_hooks(module, args, kwargs):
    """Module.__call__ when this module, or the process, has hooks."""
    call = _Call(module, args, kwargs)
    try:
        return call.run()
    except Exception:
        call.run_always_called()
        raise


class _Call:
    """One call of one module: what it has come to is what hooks with always_call are given."""

    def __init__(self, module, args, kwargs):
        self.module, self.args, self.kwargs, self.result = module, args, kwargs, None
        self.of_module = module.__dict__.get
        self.called = set()

    def run(self):
        module = self.module
        full, of_node = self._backward_hooks()
        pre = [
            *everywhere.backward_pre.values(),
            *self.of_module("_backward_pre_hooks", {}).values(),
        ]
        self._run_pre_hooks()
        tap = None
        if pre or full:
            from rushlight.nn.modules._backward_hooks import BackwardHook

            tap = BackwardHook(module, full, pre)
            self.args = tap.watch_inputs(self.args)
        self.result = module.forward(*self.args, **self.kwargs)
        for hooks, _, keyed, _ in self._forward_hooks():
            for key, hook in list(hooks.items()):
                self.called.add(key)
                self._run_forward_hook(hook, key in keyed)
        if tap is not None:
            self.result = tap.watch_outputs(self.result)
        if of_node:
            from rushlight.nn.modules._backward_hooks import watch_node

            watch_node(module, of_node, self.args, self.result)
        return self.result

    def run_always_called(self):
        """After a failure: the hooks with always_call that have not run."""
        for hooks, always, keyed, kind in self._forward_hooks():
            for key, hook in list(hooks.items()):
                if key in always and key not in self.called:
                    try:
                        self._run_forward_hook(hook, key in keyed)
                    except Exception as error:
                        _warn_failed(kind, error)

    def _backward_hooks(self):
        """Those of the gradients of the module, and those of its last operation's node."""
        full, of_node = [], []
        kinds = (
            (everywhere.is_full, everywhere.backward),
            (
                self.module._is_full_backward_hook,
                self.of_module("_backward_hooks", {}),
            ),
        )
        for is_full, hooks in kinds:
            (of_node if is_full is False else full).extend(hooks.values())
        return full, of_node

    def _forward_hooks(self):
        """(hooks, those always called, those called with kwargs, what warnings call them)"""
        names = "_forward_hooks", "_forward_hooks_always_called", "_forward_hooks_with_kwargs"
        return (
            (
                everywhere.forward,
                everywhere.forward_always_called,
                everywhere.forward_with_kwargs,
                "global module forward hook",
            ),
            (*(self.of_module(name, {}) for name in names), "module forward hook"),
        )

    def _run_forward_hook(self, hook, with_kwargs):
        if with_kwargs:
            changed = hook(self.module, self.args, self.kwargs, self.result)
        else:
            changed = hook(self.module, self.args, self.result)
        if changed is not None:
            self.result = changed

    def _run_pre_hooks(self):
        keyed = self.of_module("_forward_pre_hooks_with_kwargs", {})
        own = self.of_module("_forward_pre_hooks", {})
        for key, hook in [*everywhere.forward_pre.items(), *own.items()]:
            if key in keyed:
                changed = hook(self.module, self.args, self.kwargs)
                if changed is None:
                    continue
                if not (isinstance(changed, tuple) and len(changed) == 2):
                    raise RuntimeError(
                        "forward pre-hook must return None or a tuple of (new_args, new_kwargs), "
                        f"but got {changed}."
                    )
                self.args, self.kwargs = changed
            else:
                changed = hook(self.module, self.args)
                if changed is not None:
                    self.args = changed if isinstance(changed, tuple) else (changed,)


def is_tensor(value):
    return isinstance(value, _C.Tensor)
