"""torch.ops: operations by qualified name, those of torch.library and torch's own.

A custom operation is a schema and a Python function for each device ("cpu", "cuda", "meta", or
"default" for all). torch.ops.aten names torch's own: a call goes to the public function or method
of that name, whatever the overload.
"""

import inspect
import types

from rushlight import _C
from rushlight._grad_mode import no_grad
from rushlight.autograd.function import Function

__all__ = ["OpOverload", "OpOverloadPacket", "ops"]
OWN = ("aten", "prims", "prim")
# torch.ops.profiler: the marks that record_function makes.
MARKS = ("_record_function_enter", "_record_function_enter_new", "_record_function_exit")
operators: "dict[str, Operator]" = {}  # by "namespace::name"


def tensors(values):
    """The tensors among arguments, in lists and tuples too."""
    for value in values:
        if isinstance(value, _C.Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from tensors(value)


class Operator:
    """A custom operation: its schema, its kernels, and how gradients pass through it."""

    def __init__(self, name, schema, signature):
        self.name, self.schema, self.signature = name, f"{name}{schema}", signature
        self.kernels, self.composite, self.missing_fake = {}, False, None
        self.backward = self.setup_context = None
        self.dotted = name.replace("::", ".")

    def bind(self, args, kwargs):
        """The values of the parameters by position, and of those that are keyword-only."""
        declaration = f"Declaration: {self.schema}"
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError:
            names = self.signature.parameters
            for key in kwargs:
                if key not in names:
                    raise RuntimeError(
                        f"Unknown keyword argument '{key}' for operator '{self.name}'. "
                        f"Schema: {self.schema}"
                    ) from None
            for name in list(names)[len(args) :]:
                if name not in kwargs and names[name].default is inspect.Parameter.empty:
                    raise RuntimeError(
                        f"{self.name}() is missing value for argument '{name}'. {declaration}"
                    ) from None
            raise RuntimeError(
                f"{self.name}() Expected at most {len(names)} argument(s) but received "
                f"{len(args) + len(kwargs)} argument(s). {declaration}"
            ) from None
        bound.apply_defaults()
        for at, (name, value) in enumerate(bound.arguments.items()):
            kind = self.signature.parameters[name].annotation
            if kind in ("Tensor", _C.Tensor) and not isinstance(value, _C.Tensor):
                raise RuntimeError(
                    f"{self.name}() Expected a value of type 'Tensor' for argument '{name}' but "
                    f"instead found type '{type(value).__name__}'.\nPosition: {at}\n{declaration}"
                )
        return bound.args, bound.kwargs

    def kernel(self, args):
        """The function that computes it, by the device of the first tensor."""
        device = next((t.device.type for t in tensors(args)), "cpu")
        found = self.kernels.get(device)
        if found is None and device == "meta" and not self.composite:
            raise RuntimeError(
                self.missing_fake
                or f"{self.name}: there is no fake impl; register one with "
                "torch.library.register_fake"
            )
        found = found or self.kernels.get("default")
        if found is None:
            raise NotImplementedError(
                f"Could not run '{self.name}' with arguments from the '{device.upper()}' backend.\n"
                f"it has kernels for: {', '.join(self.kernels) or 'no device'}"
            )
        return found

    def __call__(self, *args, **kwargs):
        args, kwargs = self.bind(args, kwargs)
        kernel = self.kernel((*args, *kwargs.values()))
        needs = _C.is_grad_enabled() and any(t.requires_grad for t in tensors(args))
        if self.composite or not needs:
            return kernel(*args, **kwargs)
        return Recorded.apply(self, kernel, kwargs, *args)


class Recorded(Function):
    """A call whose gradients the operation's own formula gives."""

    _is_operation = True

    @staticmethod
    def forward(ctx, operator, kernel, kwargs, *args):
        with no_grad():
            output = kernel(*args, **kwargs)
        ctx.operator = operator
        if operator.setup_context is not None:
            given = {"keyword_only_inputs": kwargs} if kwargs else {}
            operator.setup_context(ctx=ctx, inputs=args, output=output, **given)
        return tuple(output) if isinstance(output, list) else output

    @staticmethod
    def backward(ctx, *gradients):
        if ctx.operator.backward is None:
            raise RuntimeError(
                f"Trying to backward through {ctx.operator.dotted}.default but no autograd formula "
                "was registered. Please use register_autograd to add one."
            )
        result = ctx.operator.backward(ctx, *gradients)
        return None, None, None, *(result if isinstance(result, tuple) else (result,))


class OpOverload:
    """One form of an operation, such as torch.ops.aten.add.Tensor."""

    def __init__(self, packet, name):
        self._overloadpacket, self._overloadname = packet, name
        self._opname, self.namespace = packet._name, packet._qualified.partition("::")[0]

    def __call__(self, *args, **kwargs):
        return self._overloadpacket(*args, **kwargs)

    @property
    def overloadpacket(self):
        """The operation with all its forms."""
        return self._overloadpacket

    @property
    def _schema(self):
        return operators[self.name()].schema

    def name(self):
        """Its qualified name."""
        suffix = "" if self._overloadname == "default" else f".{self._overloadname}"
        return self._overloadpacket._qualified + suffix

    def __str__(self):
        return f"{self._overloadpacket}.{self._overloadname}"

    def __repr__(self):
        dotted = str(self._overloadpacket)
        return f"<OpOverload(op='{dotted}', overload='{self._overloadname}')>"


class OpOverloadPacket:
    """An operation with all its forms, which are attributes: `default`, `Tensor`, ..."""

    def __init__(self, qualified):
        self._qualified, self._name = qualified, qualified.partition("::")[2]
        self.__name__ = self._name

    def __getattr__(self, name):
        if name.startswith("_") or (name != "default" and self._qualified in operators):
            raise AttributeError(f"The underlying op of '{self}' has no overload name '{name}'")
        made = vars(self)[name] = OpOverload(self, name)
        return made

    def overloads(self):
        """The names of its forms."""
        return ["default"]

    def __call__(self, *args, **kwargs):
        if self._qualified in operators:
            return operators[self._qualified](*args, **kwargs)
        return own_function(self._name)(*args, **kwargs)

    def __deepcopy__(self, memo):
        return self

    def __str__(self):
        return self._qualified.replace("::", ".")

    def __repr__(self):
        return f"<OpOverloadPacket(op='{self}')>"


def own_function(name):
    """The public function or method that an operation of torch.ops.aten is."""
    import rushlight

    for home in (rushlight, rushlight.nn.functional, rushlight.Tensor):
        function = getattr(home, name, None)
        if callable(function) and not isinstance(function, type):
            return function
    raise NotImplementedError(
        f"torch.ops.aten.{name} is not in rushlight: it is a kernel of torch's own\n"
        "call the public operation of the same purpose"
    )


class _OpNamespace(types.ModuleType):
    def __getattr__(self, name):
        space = self.__name__.rpartition(".")[2]
        qualified = f"{space}::{name}"
        if space == "profiler" and name in MARKS:
            from rushlight.autograd import profiler

            return getattr(profiler, name)
        if name.startswith("__") or (space not in OWN and qualified not in operators):
            raise AttributeError(
                f"'_OpNamespace' '{space}' object has no attribute '{name}'", name=name
            )
        made = vars(self)[name] = OpOverloadPacket(qualified)
        return made


class _Ops(types.ModuleType):
    loaded_libraries: "set[str]" = set()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        made = vars(self)[name] = _OpNamespace(f"torch.ops.{name}")
        return made

    def load_library(self, path):
        """Raises: libraries of torch's operations in C++ are made for torch itself."""
        raise OSError(
            f"Could not load this library: {path}\n"
            "it is compiled against torch; torch.library makes operations of Python functions"
        )


ops = _Ops("torch.ops", __doc__)


def __getattr__(name):
    from rushlight._importable import find

    return find(__name__, name)
