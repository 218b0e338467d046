"""Parameter and Buffer: what a module registers when it is assigned as an attribute."""

from rushlight import _C

Tensor = _C.Tensor


class _ParameterType(type(Tensor)):  # type: ignore[misc]
    """A tensor of a class of the program's own is a parameter by a mark."""

    def __instancecheck__(cls, instance):
        return super().__instancecheck__(instance) or (
            cls is Parameter
            and isinstance(instance, Tensor)
            and getattr(instance, "_is_param", False)
        )


def _marked(data, requires_grad):
    """The parameter made of a tensor of the program's own class: one of that class."""
    made = data.detach().requires_grad_(requires_grad)
    if type(made) is not type(data):
        raise RuntimeError(
            f"Creating a Parameter from an instance of type {type(data).__name__} requires that "
            "detach() returns an instance of the same type, but return type "
            f"{type(made).__name__} was found instead.\nlet the class's __torch_function__ return "
            f"a {type(data).__name__} for detach, or pass data.as_subclass(torch.Tensor)"
        )
    made._is_param = True
    return made


class Parameter(Tensor, metaclass=_ParameterType):
    """A tensor that a module trains.

    It shares memory with `data` and has no history. Of a tensor of a subclass it is a tensor of
    that class, which isinstance(p, torch.nn.Parameter) knows as a parameter.

    Args:
        data: the values; without them, an empty tensor.
        requires_grad: whether gradients are collected.

    >>> torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    Parameter containing:
    tensor([1., 2.], requires_grad=True)
    """

    def __new__(cls, data=None, requires_grad=True):
        if data is None:
            data = _C.empty(0)
        elif not isinstance(data, Tensor):
            data.detach()  # a list or number has no such method: torch's AttributeError
        if requires_grad and not (data.is_floating_point() or data.is_complex()):
            raise RuntimeError(
                "Only Tensors of floating point and complex dtype can require gradients"
            )
        if type(data) is not Tensor and hasattr(data, "_parameter"):  # a DTensor stays one
            return data._parameter(requires_grad)
        if type(data) is not Tensor and not issubclass(type(data), Parameter):
            return _marked(data, requires_grad)
        self = Tensor.__new__(cls, data)
        if requires_grad:
            self.requires_grad = True
        return self

    __torch_function__ = _C._disabled_torch_function_impl

    def __deepcopy__(self, memo):
        if id(self) in memo:
            return memo[id(self)]
        result = type(self)(self.data.clone(memory_format=_C.preserve_format), self.requires_grad)
        memo[id(self)] = result
        return result

    def __repr__(self):
        return "Parameter containing:\n" + super().__repr__()

    def __reduce_ex__(self, protocol):
        from rushlight._tensor import reduce_parameter

        return reduce_parameter(self, protocol)


class _BufferType(type(Tensor)):  # type: ignore[misc]
    """A buffer is a plain tensor with a mark."""

    def __instancecheck__(cls, instance):
        return super().__instancecheck__(instance) or (
            isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False)
        )


class Buffer(Tensor, metaclass=_BufferType):
    """A tensor that belongs to a module's state but is not trained.

    Args:
        data: the values; without them, an empty tensor.
        persistent: whether `state_dict` has it.

    >>> module = torch.nn.Module()
    >>> module.mean = torch.nn.Buffer(torch.zeros(2))
    >>> module.state_dict()
    OrderedDict([('mean', tensor([0., 0.]))])
    """

    def __new__(cls, data=None, *, persistent=True):
        if data is None:
            data = _C.empty(0)
        buffer = data.detach().requires_grad_(data.requires_grad)
        buffer.persistent = persistent
        buffer._is_buffer = True
        return buffer


class UninitializedTensorMixin:
    """What a parameter or buffer does while its shape is unknown."""

    _allowed_methods = (
        *(
            getattr(Tensor, name)
            for name in (
                "__hash__", "size", "copy_", "is_complex", "is_floating_point", "half", "float",
                "double", "char", "short", "int", "long", "cuda", "cpu", "to", "get_device",
            )
        ),
        _C._zero_grad,
    )  # fmt: skip

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        """Only what needs no shape: the methods that move and cast, and attributes."""
        if func in cls._allowed_methods or type(func).__name__ == "method-wrapper":
            return super().__torch_function__(func, types, args, kwargs or {})
        raise ValueError(
            f"Attempted to use an uninitialized parameter in {func}. This error happens when you "
            "are using a `LazyModule` or explicitly manipulating "
            f"`torch.nn.parameter.{cls.__name__}` objects. When using LazyModules Call `forward` "
            "with a dummy batch to initialize the parameters before calling torch functions"
        )

    def materialize(self, shape, device=None, dtype=None):
        """Gives it a `shape` and new memory, of a `device` and `dtype` if they are given, and makes
        it an ordinary one; the values are undefined.
        """
        data = self.data
        self.data = _C.empty(shape, device=device or data.device, dtype=dtype or data.dtype)
        self.__class__ = self.cls_to_become

    def share_memory_(self):
        """Refused: there is no memory yet."""
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to "
            "initialize the parameters before calling `module.share_memory()`."
        )

    @property
    def shape(self):
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually "
            "happens in `load_state_dict` when trying to load an uninitialized parameter into an "
            "initialized one. Call `forward` to initialize the parameters before accessing their "
            "attributes."
        )

    def __repr__(self):
        return f"<{type(self).__name__}>"

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            data = self.data
            memo[id(self)] = type(self)(self.requires_grad, data.device, data.dtype)
        return memo[id(self)]

    def __reduce_ex__(self, protocol):
        data = self.data
        return type(self), (self.requires_grad, data.device, data.dtype)


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter whose shape is not known yet: that of a lazy module before its first input.

    Args:
        requires_grad: whether gradients are collected.
        device, dtype: of the parameter.

    >>> weight = torch.nn.UninitializedParameter()
    >>> weight.materialize((2, 3))
    >>> weight.shape
    torch.Size([2, 3])
    """

    cls_to_become = Parameter

    def __new__(cls, requires_grad=True, device=None, dtype=None):
        data = _C.empty(0, device=device, dtype=dtype)
        return Parameter.__new__(cls, data, requires_grad)


class UninitializedBuffer(UninitializedTensorMixin, Tensor):
    """A buffer whose shape is not known yet: that of a lazy module before its first input.

    Args:
        requires_grad: whether gradients are collected.
        device, dtype: of the buffer.
        persistent: whether `state_dict` has it.

    >>> mean = torch.nn.UninitializedBuffer()
    >>> mean.materialize((3,))
    >>> mean.shape
    torch.Size([3])
    """

    cls_to_become = Tensor

    def __new__(cls, requires_grad=False, device=None, dtype=None, persistent=True):
        self = Tensor.__new__(cls, _C.empty(0, device=device, dtype=dtype))
        self.requires_grad = requires_grad
        self.persistent = persistent
        self._is_buffer = True
        return self


def is_lazy(value):
    """Whether a parameter or buffer has no shape yet."""
    return isinstance(value, UninitializedTensorMixin)


_C._register_parameter_type(Parameter)
