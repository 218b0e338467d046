"""Module, the base of everything that has parameters.

CPython pays 570 ns for each attribute that a __getattr__ has to find. So parameters, buffers and
submodules are plain attributes (_registry.py), and Module.__getattr__ is there to be called, by the
__getattr__ of subclasses for one, but not by Python itself. A call without hooks is one test and
`forward`. Both are in csrc/bindings/module_call.cpp.
"""

import weakref
from collections import OrderedDict

from rushlight import _C
from rushlight.nn.modules._conversion import Conversion
from rushlight.nn.modules._error_path import add_path
from rushlight.nn.modules._global_hooks import *  # noqa: F403
from rushlight.nn.modules._hooks import NAMES as HOOKS
from rushlight.nn.modules._hooks import Hooks, call_with_hooks, everywhere
from rushlight.nn.modules._registry import KINDS, Registry, Replaceable, replace, show
from rushlight.nn.modules._state_dict import EXTRA_STATE, StateDict, _IncompatibleKeys  # noqa: F401 - torch has both here
from rushlight.nn.modules._traversal import Traversal
from rushlight.nn.parameter import Buffer, Parameter

Tensor = _C.Tensor
_EXTRA_STATE_KEY_SUFFIX = EXTRA_STATE  # torch has it here
_global_parameter_registration_hooks = everywhere.parameter_registration  # torch's names for them
_global_buffer_registration_hooks = everywhere.buffer_registration
_global_module_registration_hooks = everywhere.module_registration
_global_forward_hooks, _global_forward_pre_hooks = everywhere.forward, everywhere.forward_pre
_C._module_calls(everywhere.active, call_with_hooks, add_path)


def _typename(value):
    """The type as torch's messages name it."""
    if isinstance(value, Tensor):
        return value.type()
    if hasattr(value, "__qualname__") and not isinstance(value, type):
        return value.__qualname__
    cls = value if isinstance(value, type) else type(value)
    if cls.__module__ == "builtins":
        return cls.__name__
    return f"{cls.__module__}.{cls.__qualname__}".replace("rushlight.", "torch.", 1)


def _check_name(module, kind, name, registry):
    if not isinstance(name, str):
        raise TypeError(f"{kind} name should be a string. Got {_typename(name)}")
    if "." in name:
        tail = f", got: {name}" if kind == "module" else ""
        raise KeyError(f'{kind} name can\'t contain "."{tail}')
    if name == "":
        raise KeyError(f'{kind} name can\'t be empty string ""')
    if name not in registry and hasattr(module, name):
        raise KeyError(f"attribute '{name}' already exists")


def _addindent(s_, numSpaces):
    first, *rest = s_.split("\n")
    return "\n".join([first, *(" " * numSpaces + line if line.strip() else "" for line in rest)])


class _Signature:
    """inspect.signature() of a module: the call is C++, which says nothing of its arguments."""

    def __get__(self, module, kind):
        if module is None or kind.__call__ is not Module.__call__:
            raise AttributeError("__signature__")  # of the class, or of its own __call__
        import inspect

        kinds = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
        names = zip(("args", "kwargs"), kinds, strict=True)
        return inspect.Signature([inspect.Parameter(n, k) for n, k in names])


class Module(Hooks, StateDict, Conversion, Traversal, _C._ModuleCall):
    """Base class of all layers and models.

    Assigning a Parameter, a Module or a Buffer to an attribute registers it. A subclass calls
    `super().__init__()` first and defines `forward`.

    Args:
        *args, **kwargs: none are taken.

    Attributes:
        training: True in training mode, see `train` and `eval`.

    >>> class Net(torch.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.fc = torch.nn.Linear(5, 2)
    ...
    ...     def forward(self, x):
    ...         return self.fc(x).relu()
    >>> Net()
    Net(
      (fc): Linear(in_features=5, out_features=2, bias=True)
    )
    >>> Net()(torch.ones(3, 5)).shape
    torch.Size([3, 2])
    """

    dump_patches: bool = False
    call_super_init: bool = False
    training: bool = True
    _version: int = 1
    _compiled_call_impl = None
    __signature__ = _Signature()

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if cls.__getattr__ is _getattr and cls.__getattribute__ is object.__getattribute__:
            _C._without_getattr(cls)
        if cls.__setattr__ is not _setattr:  # it may end in object.__setattr__
            for kind in KINDS:
                setattr(cls, kind, Replaceable(kind))

    def __getattr__(self, name):
        for kind in ("_parameters", "_buffers", "_modules"):
            if name in self.__dict__.get(kind, ()):
                return self.__dict__[kind][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __init__(self, *args, **kwargs):
        if not self.call_super_init:
            if kwargs:
                name = f"{type(self).__name__}.__init__()"
                raise TypeError(f"{name} got an unexpected keyword argument '{next(iter(kwargs))}'")
            if args:
                raise TypeError(
                    f"{type(self).__name__}.__init__() takes 1 positional argument but "
                    f"{len(args) + 1} were given"
                )
        self._start()
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def _start(self):
        d = self.__dict__
        owner = weakref.ref(self)
        d["training"] = True
        d["_hooked"] = False
        d["_parameters"] = Registry(owner)
        d["_buffers"] = Registry(owner)
        d["_modules"] = Registry(owner)
        d["_non_persistent_buffers_set"] = set()

    def forward(self, *input):
        """What the module computes; every subclass defines it."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def register_parameter(self, name, param):
        """Registers a parameter.

        Args:
            name: the attribute, and the key in the state dict.
            param: the parameter, or None to say that there is none under this name.

        Raises: KeyError for a name that is taken or no name; TypeError for what is no Parameter.
        """
        params = self.__dict__.get("_parameters")
        if params is None:
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        _check_name(self, "parameter", name, params)
        if param is not None:
            if not isinstance(param, Parameter):
                raise TypeError(
                    f"cannot assign '{_typename(param)}' object to parameter '{name}' "
                    "(torch.nn.Parameter or None required)"
                )
            if param.grad_fn is not None:
                raise ValueError(
                    f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must "
                    f"be created explicitly. To express '{name}' as a function of another Tensor, "
                    "compute the value in the forward() method."
                )
            for hook in everywhere.parameter_registration.values():
                changed = hook(self, name, param)
                param = param if changed is None else changed
        self._put(params, name, param)

    def register_buffer(self, name, tensor, persistent=True):
        """Registers a tensor that moves and is saved with the module but is not trained.

        Args:
            name: the attribute, and the key in the state dict.
            tensor: the values, or None.
            persistent: whether `state_dict` has it.
        """
        buffers = self.__dict__.get("_buffers")
        if buffers is None:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        _check_name(self, "buffer", name, buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{_typename(tensor)}' object to buffer '{name}' "
                "(torch Tensor or None required)"
            )
        for hook in everywhere.buffer_registration.values():
            changed = hook(self, name, tensor)
            tensor = tensor if changed is None else changed
        self._put(buffers, name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name, module):
        """Registers a submodule, then an attribute.

        Args:
            name: the attribute.
            module: the submodule, or None.
        """
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{_typename(module)} is not a Module subclass")
        modules = self.__dict__.get("_modules")
        if modules is None:
            raise AttributeError("cannot assign module before Module.__init__() call")
        _check_name(self, "module", name, modules)
        for hook in everywhere.module_registration.values():
            changed = hook(self, name, module)
            module = module if changed is None else changed
        self._put(modules, name, module)

    register_module = add_module

    def _put(self, registry, name, value):
        registry[name] = value
        show(self, name, value)

    def __setattr__(self, name, value):
        d = self.__dict__
        if isinstance(value, Tensor) and isinstance(value, Parameter):
            if "_parameters" not in d:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            self._forget(name, "_buffers", "_modules")
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            if "_modules" not in d:
                raise AttributeError("cannot assign module before Module.__init__() call")
            self._forget(name, "_parameters", "_buffers")
            for hook in everywhere.module_registration.values():
                changed = hook(self, name, value)
                value = value if changed is None else changed
            self._put(d["_modules"], name, value)
        elif name in d.get("_parameters", ()):
            if value is not None:
                raise TypeError(
                    f"cannot assign '{_typename(value)}' as parameter '{name}' "
                    "(torch.nn.Parameter or None expected)"
                )
            self.register_parameter(name, value)
        elif name in d.get("_modules", ()):
            if value is not None:
                raise TypeError(
                    f"cannot assign '{_typename(value)}' as child module '{name}' "
                    "(torch.nn.Module or None expected)"
                )
            self._put(d["_modules"], name, None)
        elif name in d.get("_buffers", ()) or (
            isinstance(value, Tensor) and isinstance(value, Buffer)
        ):
            self._set_buffer(name, value)
        elif name in KINDS:
            replace(self, name, value)
        else:
            object.__setattr__(self, name, value)

    def _set_buffer(self, name, value):
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(
                f"cannot assign '{_typename(value)}' as buffer '{name}' "
                "(torch.nn.Buffer, torch.Tensor or None expected)"
            )
        if isinstance(value, Buffer):
            self._forget(name, "_parameters", "_modules")
            self.register_buffer(name, value, value.persistent)
            return
        for hook in everywhere.buffer_registration.values():
            changed = hook(self, name, value)
            value = value if changed is None else changed
        self._put(self._buffers, name, value)

    def _forget(self, name, *kinds):
        """Before `name` is registered as one kind: it stops being another, or an attribute."""
        d = self.__dict__
        for kind in kinds:
            d[kind].pop(name, None)
        if not any(name in d[kind] for kind in KINDS):
            d.pop(name, None)
        d["_non_persistent_buffers_set"].discard(name)

    def __delattr__(self, name):
        d = self.__dict__
        for kind in KINDS:
            if name in d.get(kind, ()):
                del d[kind][name]
                d.pop(name, None)
                d["_non_persistent_buffers_set"].discard(name)
                return
        object.__delattr__(self, name)

    def __getstate__(self):
        """The state that torch's own modules pickle: no value twice, an entry for every hook."""
        d = self.__dict__
        state = dict(d)
        for kind in KINDS:
            for name, value in d.get(kind, {}).items():
                if state.get(name, self) is value:
                    del state[name]
            if kind in d:
                state[kind] = dict(d[kind])
        state.pop("_hooked", None)
        if getattr(state.get("save"), "program", None) is self:  # of torch.jit.script()
            del state["save"]
        for name in HOOKS:
            state.setdefault(name, OrderedDict())
        state.setdefault("_is_full_backward_hook", None)
        return state

    def __setstate__(self, state):
        """Takes a state of ours or of torch, of any version that had `_parameters`."""
        self._start()
        d = self.__dict__
        for name, value in state.items():
            if name in HOOKS:
                if value:
                    d[name], d["_hooked"] = OrderedDict(value), True
            elif name not in KINDS and (value, name) != (None, "_is_full_backward_hook"):
                d[name] = value
        for kind in KINDS:
            d[kind].update(state.get(kind, ()))

    def train(self, mode=True):
        """Sets training mode, or with mode=False evaluation mode, for all modules inside; returns
        the module.
        """
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self):
        """Sets evaluation mode: `train(False)`."""
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        """Sets `requires_grad` of every parameter; returns the module."""
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        """Clears the gradients of all parameters; with `set_to_none=False` fills them with 0."""
        _C._zero_grad(list(self.parameters()), set_to_none)

    def compile(self, *args, **kwargs):
        """Checks the arguments, those of torch.compile: there is no compiler here."""
        from rushlight._compile_options import _check

        _check(*args, **kwargs)

    def _get_name(self):
        return type(self).__name__

    def extra_repr(self):
        """The text between the parentheses of the repr; subclasses define it."""
        return ""

    def __repr__(self):
        _C._check_stack()
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({key}): {_addindent(repr(m), 2)}" for key, m in self._modules.items()]
        if len(lines) == 1 and not children:
            return f"{self._get_name()}({lines[0]})"
        if not lines and not children:
            return f"{self._get_name()}()"
        return f"{self._get_name()}(\n  " + "\n  ".join(lines + children) + "\n)"

    def __dir__(self):
        names = {*dir(type(self)), *self.__dict__}
        return sorted(name for name in names if not name[:1].isdigit())


_getattr, _setattr = Module.__getattr__, Module.__setattr__
_C._without_getattr(Module)
