"""torch.library: operations of a program's own, which are Python functions with a schema.

They are called by their name, torch.ops.namespace.name, or as what custom_op() returns.
"""

import inspect

from rushlight._library_schema import infer_schema, signature_of
from rushlight._opcheck import opcheck
from rushlight._ops import Operator, OpOverload, operators, ops

__all__ = [
    "CustomOpDef", "Library", "custom_op", "define", "fallthrough_kernel", "impl",
    "impl_abstract", "infer_schema", "opcheck", "register_autocast", "register_autograd",
    "register_fake", "register_kernel", "register_torch_dispatch", "register_vmap", "triton_op",
    "wrap_triton",
]  # fmt: skip
_KEYS = {
    "CPU": "cpu", "CUDA": "cuda", "Meta": "meta", "CompositeExplicitAutograd": "default",
    "CompositeImplicitAutograd": "default", "": "default", "default": "default",
    "cpu": "cpu", "cuda": "cuda", "meta": "meta",
}  # fmt: skip


def _declare(name, schema, signature):
    if "::" not in name or not all(p.isidentifier() for p in name.split("::")):
        raise ValueError(f"expected the name of an operation as namespace::name, got '{name}'")
    if name in operators:
        raise RuntimeError(
            f"Tried to register an operator ({name}{schema}) with the same name and overload name "
            "multiple times. Each overload's schema should only be registered with a single call "
            "to def()."
        )
    made = operators[name] = Operator(name, schema, signature)
    return made


def _name_of(op):
    if isinstance(op, CustomOpDef):
        return op._qualname
    return op.name() if isinstance(op, OpOverload) else op


def _find(op):
    name = _name_of(op)
    if name not in operators:
        raise RuntimeError(f"operator {name} does not exist")
    return operators[name]


def _set_kernel(operator, key, function):
    if key not in _KEYS:
        raise NotImplementedError(
            f"torch.library: kernels for {key} are not in rushlight\n"
            'the keys are "CPU", "CUDA", "Meta" and "CompositeImplicitAutograd"; register_autograd '
            "gives a formula of gradients"
        )
    operator.kernels[_KEYS[key]] = function
    if key == "CompositeImplicitAutograd":
        operator.composite = True


class CustomOpDef:
    """An operation that custom_op() made; calling it computes it.

    Args:
        namespace, name: of torch.ops.namespace.name.
        schema: its text.
        fn: the function.

    >>> @torch.library.custom_op("docs::thrice", mutates_args=())
    ... def thrice(x: torch.Tensor) -> torch.Tensor:
    ...     return x * 3
    >>> thrice
    <CustomOpDef(docs::thrice)>
    """

    def __init__(self, namespace, name, schema, fn, signature=None):
        self._namespace, self._name, self._schema = namespace, name, schema
        self._qualname, self._init_fn = f"{namespace}::{name}", fn
        self._operator = _declare(self._qualname, schema, signature or signature_of(schema))
        self._operator.missing_fake = (
            f"There was no fake impl registered for {self}. Please use "
            f"`{getattr(fn, '__name__', name)}.register_fake` to add an fake impl."
        )

    def __repr__(self):
        return f"<CustomOpDef({self._qualname})>"

    def __call__(self, *args, **kwargs):
        return self._operator(*args, **kwargs)

    @property
    def _opoverload(self):
        return getattr(getattr(ops, self._namespace), self._name).default

    def register_kernel(self, device_types, fn=None, /):
        """Sets the function for devices, such as "cpu"; a decorator without `fn`."""
        return register_kernel(self, device_types, fn)

    def register_fake(self, fn, /):
        """Sets the function for meta tensors: it returns empty ones of the right shape."""
        return register_fake(self, fn)

    def register_autograd(self, backward, /, *, setup_context=None):
        """Sets backward(ctx, *gradients) and setup_context(ctx, inputs, output)."""
        register_autograd(self, backward, setup_context=setup_context)

    def register_torch_dispatch(self, torch_dispatch_class, fn=None, /):
        """Raises NotImplementedError: see torch.library.register_torch_dispatch."""
        register_torch_dispatch(self, torch_dispatch_class, fn)

    def register_vmap(self, func=None):
        """Has no effect: torch.vmap calls the kernel with its batch."""
        return register_vmap(self, func)


def custom_op(name, fn=None, /, *, mutates_args, device_types=None, schema=None, tags=None):
    """Makes an operation of a function; a decorator without `fn`.

    Args:
        name: "namespace::name".
        fn: the function.
        mutates_args: the names of the arguments that it writes to.
        device_types: the devices it is for, such as "cpu"; all by default.
        schema: the schema's text; made from the annotations by default.
        tags: are for a compiler.

    >>> @torch.library.custom_op("docs::twice", mutates_args=())
    ... def twice(x: torch.Tensor) -> torch.Tensor:
    ...     return x * 2
    >>> torch.ops.docs.twice(torch.ones(1))
    tensor([2.])
    """

    def decorate(function):
        space, _, short = name.partition("::")
        text, signature = schema, None
        if text is None:
            text = infer_schema(function, mutates_args=mutates_args)
            signature = inspect.signature(function)
        made = CustomOpDef(space, short, text, function, signature)
        if device_types is None:
            made._operator.kernels["default"] = function
        else:
            register_kernel(made, device_types, function)
        return made

    return decorate if fn is None else decorate(fn)


def triton_op(name, fn=None, /, *, mutates_args, schema=None):
    """custom_op() of a function that calls Triton's kernels; a decorator without `fn`.

    Args:
        name: "namespace::name".
        fn: the function.
        mutates_args: the names of the arguments that it writes to.
        schema: the schema's text; made from the annotations by default.

    >>> @torch.library.triton_op("docs::thrice", mutates_args=())
    ... def thrice(x: torch.Tensor) -> torch.Tensor:
    ...     return x * 3
    >>> torch.ops.docs.thrice(torch.ones(1))
    tensor([3.])
    """
    return custom_op(name, fn, mutates_args=mutates_args, schema=schema)


def wrap_triton(triton_kernel, /):
    """The kernel itself: there is no compiler that would have to see its calls.

    Args:
        triton_kernel: a function of Triton.

    >>> torch.library.wrap_triton(print) is print
    True
    """
    return triton_kernel


def define(qualname, schema, *, lib=None, tags=()):
    """Declares an operation, whose kernels impl() gives.

    Args:
        qualname: "namespace::name".
        schema: such as "(Tensor x, int n=1) -> Tensor".
        lib, tags: how long it lives, and hints for a compiler: it lives as long as the process.

    >>> torch.library.define("docs::negated", "(Tensor x) -> Tensor")
    >>> torch.library.impl("docs::negated", "default", torch.neg)
    >>> torch.ops.docs.negated(torch.ones(1))
    tensor([-1.])
    """
    if not isinstance(qualname, str):
        raise ValueError(f"define(qualname, schema): expected qualname to be a str, got {qualname}")
    _declare(qualname, schema, signature_of(schema))


def impl(qualname, types, func=None, *, lib=None):
    """Gives a kernel of an operation that define() declared; a decorator without `func`.

    Args:
        qualname: "namespace::name".
        types: devices such as "cpu", or keys such as "CompositeImplicitAutograd".
        func: the function.
        lib: how long it lives: as long as the process.

    >>> torch.library.define("docs::same", "(Tensor x) -> Tensor")
    >>> torch.library.impl("docs::same", "cpu", lambda x: x)
    """

    def decorate(function):
        for key in (types,) if isinstance(types, str) else types:
            _set_kernel(_find(qualname), key, function)
        return function

    if func is None:
        return decorate
    decorate(func)
    return None


def register_kernel(op, device_types, func=None, /, *, lib=None):
    """Gives the function of an operation for devices; a decorator without `func`.

    Args:
        op: the operation or its name.
        device_types: such as "cpu" or ["cpu", "cuda"]; None for all.
        func: the function.
        lib: how long it lives: as long as the process.

    >>> @torch.library.custom_op("docs::here", mutates_args=(), device_types="cpu")
    ... def here(x: torch.Tensor) -> torch.Tensor:
    ...     return x + 1
    >>> torch.library.register_kernel(here, "cuda", lambda x: x + 1) is not None
    True
    """

    def decorate(function):
        kinds = device_types or "default"
        for key in (kinds,) if isinstance(kinds, str) else kinds:
            _set_kernel(_find(op), key, function)
        return function

    return decorate if func is None else decorate(func)


def register_fake(op, func=None, /, *, lib=None, _stacklevel=1, allow_override=False):
    """Gives the function of an operation for meta tensors; a decorator without `func`.

    Args:
        op: the operation or its name.
        func: returns empty tensors of the result's shape.
        lib, allow_override: how long it lives: as long as the process, or the next one.

    >>> torch.library.define("docs::first", "(Tensor x) -> Tensor")
    >>> fake = torch.library.register_fake("docs::first", lambda x: x.new_empty(()))
    >>> torch.ops.docs.first(torch.empty(3, device="meta")).shape
    torch.Size([])
    """

    def decorate(function):
        _set_kernel(_find(op), "meta", function)
        return function

    return decorate if func is None else decorate(func)


def impl_abstract(qualname, func=None, *, lib=None, _stacklevel=1):
    """register_fake() under its old name.

    Args: as of register_fake.
    """
    return register_fake(qualname, func)


def register_autograd(op, backward, /, *, setup_context=None, lib=None):
    """Gives the formula of an operation's gradients.

    Args:
        op: the operation or its name.
        backward: (ctx, *gradients of results) -> gradients of inputs.
        setup_context: (ctx, inputs, output), called in the forward pass to save what is needed.
        lib: how long it lives: as long as the process.

    >>> @torch.library.custom_op("docs::square", mutates_args=())
    ... def square(x: torch.Tensor) -> torch.Tensor:
    ...     return x * x
    >>> def setup(ctx, inputs, output):
    ...     ctx.save_for_backward(*inputs)
    >>> torch.library.register_autograd(
    ...     square, lambda ctx, g: 2 * g * ctx.saved_tensors[0], setup_context=setup
    ... )
    >>> x = torch.tensor([3.0], requires_grad=True)
    >>> square(x).backward()
    >>> x.grad
    tensor([6.])
    """
    operator = _find(op)
    operator.backward, operator.setup_context = backward, setup_context


def register_vmap(op, func=None, /, *, lib=None):
    """Checks the name and returns the function: torch.vmap calls the kernel itself, whose own
    operations compute with the batch.

    Args:
        op: the operation or its name.
        func: the rule; a decorator without it.
        lib: how long it lives.

    >>> torch.library.define("docs::mapped", "(Tensor x) -> Tensor")
    >>> torch.library.register_vmap("docs::mapped", abs) is abs
    True
    """
    _find(op)
    return (lambda function: function) if func is None else func


def register_autocast(op, device_type, cast_inputs, /, *, lib=None):
    """Raises NotImplementedError: autocast knows the rows of the table alone.

    Args:
        op, device_type, cast_inputs, lib: what torch takes.
    """
    raise NotImplementedError(
        "torch.library.register_autocast() is not in rushlight: autocast knows torch's own "
        f"operations alone\ncast to {cast_inputs} in the kernel of {_name_of(op)}"
    )


def register_torch_dispatch(op, torch_dispatch_class, func=None, /, *, lib=None):
    """Raises NotImplementedError: operations are not dispatched to Python one by one.

    Args:
        op, torch_dispatch_class, func, lib: what torch takes.
    """
    raise NotImplementedError(
        "torch.library.register_torch_dispatch() is not in rushlight: operations are not "
        "dispatched to Python one by one\nuse __torch_function__"
    )


def fallthrough_kernel():
    """Raises NotImplementedError, as in torch: it is a value to register, not to call."""
    raise NotImplementedError("fallthrough_kernel() should never be called.")


class Library:
    """Declares and implements operations of a namespace.

    Args:
        ns: the namespace.
        kind: "DEF", "IMPL" or "FRAGMENT".
        dispatch_key: the key of its kernels, if they have one in common.

    Raises:
        ValueError: for another kind.

    >>> library = torch.library.Library("docs", "FRAGMENT")
    >>> library.define("plus(Tensor x, int n=1) -> Tensor")
    'plus'
    >>> library.impl("plus", lambda x, n: x + n, "CPU")
    >>> torch.ops.docs.plus(torch.zeros(1), 5)
    tensor([5.])
    """

    def __init__(self, ns, kind, dispatch_key=""):
        if kind not in ("DEF", "IMPL", "FRAGMENT"):
            raise ValueError(f"Unsupported kind: {kind}")
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key

    def __repr__(self):
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})>"

    def define(self, schema, alias_analysis="", *, tags=()):
        """Declares an operation: `schema` begins with its name, which is returned."""
        name, _, rest = schema.strip().partition("(")
        _declare(f"{self.ns}::{name.strip()}", f"({rest}", signature_of(f"({rest}"))
        return name.strip()

    def impl(self, op_name, fn, dispatch_key="", *, with_keyset=False, allow_override=False):
        """Gives a kernel of an operation."""
        if not callable(fn):
            raise TypeError(
                f"Input function is required to be a callable but found type {type(fn)}"
            )
        name = op_name if isinstance(op_name, str) else _name_of(op_name)
        name = name if "::" in name else f"{self.ns}::{name}"
        key = dispatch_key or self.dispatch_key or "CompositeImplicitAutograd"
        if key.startswith("Autograd") and fn is not fallthrough_kernel:
            key = "CompositeImplicitAutograd"
        if fn is not fallthrough_kernel:
            _set_kernel(_find(name), key, fn)


def __getattr__(name):
    from rushlight._importable import find

    return find(__name__, name)
