"""Function: an operation whose gradient is written in Python."""

from rushlight import _C


class FunctionCtx:
    """What forward() leaves for backward(): saved tensors, and any attribute."""

    def __init__(self):
        self._to_save = self._dirty = self._non_differentiable = self._node = None
        self._materialize_grads = True
        self.needs_input_grad = ()

    def save_for_backward(self, *tensors):
        """Saves `tensors` for backward(), which reads them as `ctx.saved_tensors`."""
        self._to_save = tensors

    def save_for_forward(self, *tensors):
        """Has no effect on `tensors`: functions here have no forward-mode gradient of their own."""

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

    saved_variables = saved_tensors


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
    def apply(cls, *args):
        """Runs forward() and records the operation."""
        if _C._is_torch_function_mode_enabled():
            from rushlight._func.custom import applied

            result = applied(Function, cls, args)
            if result is not NotImplemented:
                return result
        ctx = FunctionCtx()
        ctx.needs_input_grad, records = _C._needs_grad(args)
        recording = _C.is_grad_enabled()
        _C._set_grad_enabled(False)
        try:
            if cls.setup_context is not Function.setup_context:
                result = cls.forward(*args)
                cls.setup_context(ctx, args, result)
            else:
                result = cls.forward(ctx, *args)
        finally:
            _C._set_grad_enabled(recording)
        return _C._finish_function(cls, ctx, args, result, records)

    @classmethod
    def _run_backward(cls, ctx, grads):
        if cls.backward is Function.backward and cls.vjp is not Function.vjp:
            return cls.vjp(ctx, *grads)
        return cls.backward(ctx, *grads)


def once_differentiable(function):
    """Marks a backward() whose own gradient is not defined: it runs without recording."""
    import functools

    @functools.wraps(function)
    def inside(ctx, *grads):
        recording = _C.is_grad_enabled()
        _C._set_grad_enabled(False)
        try:
            return function(ctx, *grads)
        finally:
            _C._set_grad_enabled(recording)

    return inside
