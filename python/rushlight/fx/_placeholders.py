"""The inputs of a traced function: a Proxy for each parameter, or what concrete_args fixes."""

import inspect
import types

from rushlight import _C
from rushlight.fx.node import base_types

_VARIADIC = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


class PHBase:
    """What in concrete_args remains an input."""

    def __repr__(self):
        return "PH"


class PHWithMeta(PHBase):
    """An input that gives its node attributes.

    Args:
        ph_key: a name for it.
    """

    def __init__(self, ph_key=None):
        self.ph_key = ph_key


PH = PHBase()


def all_positional(function, count):
    """The function with all its parameters, *args and **kwargs too, taken by position."""
    code = function.__code__
    code = code.replace(
        co_argcount=count,
        co_posonlyargcount=0,
        co_kwonlyargcount=0,
        co_flags=code.co_flags & ~_VARIADIC,
    )
    return types.FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )


def root_arguments(tracer, root_fn, is_module, concrete_args, checks):
    """(function, arguments, names of parameters, concrete_args): the function as it is called.

    `checks` are the functions that are recorded for a fixed argument and for None."""
    function = inspect.unwrap(root_fn)
    code = function.__code__
    names = list(code.co_varnames)
    total = code.co_argcount + code.co_kwonlyargcount
    first = 1 if is_module else 0
    if is_module and total == 0:
        raise RuntimeError("``self`` argument cannot be part of *args expansion!")
    plain, rest = names[first:total], names[total:]
    if isinstance(concrete_args, tuple):
        if len(plain) != len(concrete_args):
            raise RuntimeError(
                f"Tracing expected {len(plain)} arguments but got {len(concrete_args)} concrete "
                "arguments"
            )
        concrete_args = dict(zip(plain, concrete_args, strict=True))
    maker = _Maker(tracer, function, concrete_args or {}, checks)
    args = [tracer.root] if is_module else []
    args += [maker.make(name) for name in plain]
    if code.co_flags & inspect.CO_VARARGS:
        args.append(maker.make("*" + rest.pop(0)))
    if code.co_flags & inspect.CO_VARKEYWORDS:
        args.append(maker.make("**" + rest.pop(0)))
    if code.co_kwonlyargcount or code.co_flags & _VARIADIC:
        root_fn = all_positional(function, len(args))
    return root_fn, args, names[:total], concrete_args


class _Maker:
    def __init__(self, tracer, function, concrete, checks):
        self.tracer, self.concrete, self.checks = tracer, concrete, checks
        self.parameters = inspect.signature(function).parameters
        self.annotations = getattr(function, "__annotations__", {})

    def default(self, name):
        if name.startswith("*"):
            return ()
        value = self.parameters[name].default
        return () if value is inspect.Parameter.empty else (value,)

    def make(self, name):
        if name not in self.concrete:
            return self.tracer.create_proxy(
                "placeholder",
                name,
                self.default(name),
                {},
                type_expr=self.annotations.get(name),
            )
        from rushlight.utils._pytree import tree_map

        count = 0

        def one(value):
            nonlocal count
            count += 1
            return self.fixed(name, f"{name}_{count}", value)

        return tree_map(one, self.concrete[name])

    def fixed(self, name, label, value):
        tracer = self.tracer
        out = tracer.create_proxy("placeholder", label, self.default(name), {})
        if isinstance(value, PHBase):
            if value is not PH:
                for key, each in vars(value).items():
                    if not hasattr(out.node, key):  # a tracer's own attributes stay
                        setattr(out.node, key, each)
            return out
        text = f"{name} has been specialized to have value {value} but got another value"
        if isinstance(value, base_types) and not isinstance(value, _C.Tensor | type(None)):
            tracer.create_proxy("call_function", self.checks[0], (out == value, text), {})
        elif value is None:
            tracer.create_proxy("call_function", self.checks[1], (out, text), {})
        else:
            from warnings import warn

            warn(
                f"Was not able to add assertion to guarantee correct input {name} to specialized "
                "function. It is up to the user to make sure that your inputs match the inputs "
                "you specialized the function with.",
                stacklevel=2,
            )
        return value
