"""Function: an operation whose gradient is written in Python."""

import threading

from rushlight import _C

_state = threading.local()


class _Forwards:
    """While a forward-mode product is computed: by jvp() of the Functions that have one."""

    def __enter__(self):
        self.outer = getattr(_state, "forwards", False)
        _state.forwards = True

    def __exit__(self, *error):
        _state.forwards = self.outer


class FunctionCtx:
    """What forward() leaves for backward(): saved tensors, and any attribute."""

    def __init__(self):
        self._to_save = self._dirty = self._non_differentiable = self._node = None
        self._for_forward = self._forward_cls = None
        self._materialize_grads = True
        self.needs_input_grad = ()

    def save_for_backward(self, *tensors):
        """Saves `tensors` for backward(), which reads them as `ctx.saved_tensors`."""
        self._to_save = tensors

    def save_for_forward(self, *tensors):
        """Saves `tensors` for jvp(), which reads them as `ctx.saved_tensors`."""
        # An output is saved without its history, which would hold this ctx.
        self._for_forward = tuple(
            x.detach() if isinstance(x, _C.Tensor) and not x.requires_grad else x for x in tensors
        )

    def mark_dirty(self, *tensors):
        """Says that `tensors`, inputs of forward(), were written to."""
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors):
        """Says that `tensors`, outputs of forward(), have no gradient."""
        self._non_differentiable = tensors

    def set_materialize_grads(self, value):
        """With `value` False, backward() gets None, not zeros, for outputs that were not used."""
        self._materialize_grads = bool(value)

    @property
    def saved_tensors(self):
        """The tensors kept by save_for_backward()."""
        if self._node is None:
            return tuple(self._to_save or ())
        return _C._saved_of(self._node)

    @property
    def saved_variables(self):
        """The old name of saved_tensors."""
        import warnings

        warnings.warn(
            "'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2
        )
        return self.saved_tensors

    def apply(self, *grads):
        """The gradients that backward() returns for `grads`: grad_fn.apply() of a result."""
        return self._forward_cls._run_backward(self, grads)


class Function(FunctionCtx):
    """Base of operations with a gradient of their own.

    A subclass defines `forward(ctx, *args)` and `backward(ctx, *grads)` as static methods, or
    `forward(*args)` with `setup_context(ctx, inputs, output)`; it is called by `apply`.

    >>> class Double(torch.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return x * 2
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         return grad * 2
    >>> x = torch.ones(1, requires_grad=True)
    >>> Double.apply(x).backward()
    >>> x.grad
    tensor([2.])
    """

    @staticmethod
    def forward(*args, **kwargs):
        """Computes the outputs; operations inside are not recorded."""
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )

    @staticmethod
    def backward(ctx, *grad_outputs):
        """Returns a gradient, or None, for each argument of forward(), from `grad_outputs`, those
        of its results, and what forward() left in `ctx`.
        """
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom "
            "autograd.Function to use it with backward mode AD."
        )

    vjp = backward
    generate_vmap_rule = False
    _is_operation = False  # of the library's own: forward mode goes by its backward()

    @staticmethod
    def jvp(ctx, *grad_inputs):
        """Returns the tangents of the results, from `grad_inputs`, those of forward()'s arguments,
        None for what is no tensor, and what forward() left in `ctx`.
        """
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with "
            "forward mode AD."
        )

    @staticmethod
    def vmap(info, in_dims, *args):
        """Computes the whole batch: returns (outputs, out_dims).

        Args:
            info: has batch_size and randomness.
            in_dims: the batch's dimension in each of args, None for one that all share.
            *args: of forward(), with that dimension.
        """
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or "
            "set generate_vmap_rule=True."
        )

    @staticmethod
    def setup_context(ctx, inputs, output):
        """Fills `ctx` after a forward() that does not take it, from its `inputs` and `output`."""
        raise NotImplementedError("setup_context is not implemented.")

    def __call__(self, *args, **kwargs):
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use "
            "new-style autograd function with static forward method. (Example: "
            "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    @classmethod
    def apply(cls, *args, **kwargs):
        """Runs forward() and records the operation.

        With setup_context(), forward() may have defaults, and its arguments be given by name.
        """
        _C._check_stack()
        separate = cls.setup_context is not Function.setup_context
        if separate and (kwargs or getattr(cls.forward, "__defaults__", None)):
            args = _bound(cls.forward, args, kwargs)
        elif kwargs:
            raise TypeError(f"{cls.__name__}.apply() takes no keyword arguments")
        if _C._is_torch_function_mode_enabled():
            from rushlight._func.custom import applied

            result = applied(Function, cls, args)
            if result is not NotImplemented:
                return result
        ctx = FunctionCtx()
        ctx._forward_cls = cls
        ctx.needs_input_grad, records, has_tangents = _C._needs_grad(args)
        if has_tangents and cls.jvp is Function.jvp and not cls._is_operation:
            Function.jvp(ctx)
        recording = _C.is_grad_enabled()
        level = _C._set_forward_level(0)
        _C._set_grad_enabled(False)
        try:
            if separate:
                result = cls.forward(*args)
                cls.setup_context(ctx, args, result)
            else:
                result = cls.forward(ctx, *args)
        finally:
            _C._set_grad_enabled(recording)
            _C._set_forward_level(level)
        if cls.jvp is not Function.jvp and records:
            ctx._arguments = [
                (x.shape, x.dtype, x.device)
                if isinstance(x, _C.Tensor) and x.is_floating_point() else None for x in args
            ]  # fmt: skip
        return _C._finish_function(cls, ctx, args, result, records)

    @classmethod
    def _run_backward(cls, ctx, grads):
        if getattr(_state, "forwards", False) and cls.jvp is not Function.jvp:
            return _transposed(cls.jvp, ctx, grads)
        if cls.vjp is not Function.vjp:
            if cls.backward is not Function.backward:
                raise RuntimeError(
                    "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. "
                    "You should only implement one of them."
                )
            return cls.vjp(ctx, *grads)
        return cls.backward(ctx, *grads)


class InplaceFunction(Function):
    """The base of Functions that may write to their input.

    Args:
        inplace: whether it does, which a subclass may read.

    >>> issubclass(torch.autograd.function.InplaceFunction, torch.autograd.Function)
    True
    """

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace


def _bound(forward, args, kwargs):
    """All positional arguments of a call, in their order."""
    import inspect

    call = inspect.signature(forward).bind(*args, **kwargs)
    call.apply_defaults()
    return call.args


def _transposed(jvp, ctx, grads):
    """The gradients by a jvp(): it is linear in the tangents, so they are those by them."""
    import copy

    from rushlight._grad_mode import enable_grad
    from rushlight.autograd._backward import grad

    with enable_grad():
        tangents = [
            None if like is None
            else _C.zeros(like[0], dtype=like[1], device=like[2], requires_grad=True)
            for like in ctx._arguments
        ]  # fmt: skip
        own = copy.copy(ctx)  # what it deletes is there the next time
        own._node, own._to_save = None, ctx._for_forward
        results = jvp(own, *tangents)
    results = results if isinstance(results, tuple) else (results,)
    pairs = [
        (r, g) for r, g in zip(results, grads, strict=True)
        if g is not None and isinstance(r, _C.Tensor) and r.requires_grad
    ]  # fmt: skip
    wanted = [t for t in tangents if t is not None]
    if not pairs or not wanted:
        return (None,) * len(tangents)
    found = iter(
        grad(
            [r for r, _ in pairs], wanted, [g for _, g in pairs],
            create_graph=_C.is_grad_enabled(), allow_unused=True,
        )
    )  # fmt: skip
    return tuple(None if t is None else next(found) for t in tangents)


def once_differentiable(function):
    """Marks a backward() whose own gradient is not defined: it runs without recording, and a
    second derivative through it is a RuntimeError.
    """
    import functools

    @functools.wraps(function)
    def inside(ctx, *grads):
        recording = _C.is_grad_enabled()
        _C._set_grad_enabled(False)
        try:
            found = function(ctx, *grads)
        finally:
            _C._set_grad_enabled(recording)
        if not recording or not any(g is not None and g.requires_grad for g in grads):
            return found
        return _C._delayed_error(
            "trying to differentiate twice a function that was marked with @once_differentiable",
            [g if g is None else g.detach().requires_grad_()
             for g in (found if isinstance(found, tuple) else (found,))],
        )  # fmt: skip

    return inside
