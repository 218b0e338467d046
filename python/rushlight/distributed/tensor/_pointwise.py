"""The methods of DTensor that work element by element: each rank does its part.

What an operation needs of other ranks' elements has no method here; DTensor refuses it.
"""

from __future__ import annotations

from rushlight import _C

_NEW = (
    "abs", "add", "addcdiv", "addcmul", "bfloat16", "ceil", "clamp", "clip", "clone", "contiguous",
    "cos", "cpu", "cuda", "div", "double", "exp", "expm1", "float", "floor", "half", "isfinite",
    "isinf", "isnan", "lerp", "log", "log1p", "maximum", "minimum", "mul", "nan_to_num", "neg",
    "pow", "reciprocal", "relu", "round", "rsqrt", "rsub", "sigmoid", "sign", "sin", "sqrt",
    "square", "sub", "tanh", "to", "true_divide", "type", "__add__", "__radd__", "__sub__",
    "__rsub__", "__mul__", "__rmul__", "__truediv__", "__rtruediv__", "__pow__", "__neg__",
    "__abs__", "__lt__", "__le__", "__gt__", "__ge__", "lt", "le", "gt", "ge",
)  # fmt: skip
_IN_PLACE = (
    "abs_", "add_", "addcdiv_", "addcmul_", "clamp_", "clamp_min_", "clamp_max_", "clip_", "div_",
    "exp_", "fill_", "lerp_", "log_", "mul_", "nan_to_num_", "neg_", "pow_", "reciprocal_",
    "round_", "rsqrt_", "sign_", "sqrt_", "square_", "sub_", "zero_", "copy_",
)  # fmt: skip
_IN_PLACE_OPERATORS = {"__iadd__": "add_", "__isub__": "sub_", "__imul__": "mul_",
                       "__itruediv__": "div_"}  # fmt: skip
_RANDOM = (
    "bernoulli_", "cauchy_", "exponential_", "geometric_", "log_normal_", "normal_", "random_",
    "uniform_",
)  # fmt: skip
_LINEAR = {"__neg__", "neg", "clone", "contiguous", "detach", "zero_", "copy_", "to", "cpu", "cuda",
           "float", "double", "half", "bfloat16"}  # fmt: skip


def _shard(self, value, name):
    """An argument as the call on this rank's shard takes it: the local tensor of a DTensor."""
    if hasattr(value, "_local_tensor"):
        if value.device_mesh != self.device_mesh or value.placements != self.placements:
            raise NotImplementedError(
                f"DTensor.{name}: one is {self.placements} on {self.device_mesh}, another "
                f"{value.placements} on {value.device_mesh}\nmake them alike by redistribute()"
            )
        if value.shape != self.shape:
            raise NotImplementedError(
                f"DTensor.{name}: the shapes {tuple(self.shape)} and {tuple(value.shape)} differ, "
                "and DTensor does not broadcast\ncompute with .full_tensor()"
            )
        return value._local_tensor
    if isinstance(value, _C.Tensor) and value.dim():
        raise RuntimeError(
            f"aten.{name}: got mixed torch.Tensor and DTensor, need to convert all torch.Tensor to "
            "DTensor before calling distributed operators!\nuse distribute_tensor(tensor, "
            "dtensor.device_mesh, dtensor.placements), or set_model_state_dict() with "
            "StateDictOptions(full_state_dict=True) to load a state dictionary"
        )
    return value


def _on_shards(name, in_place):
    method = getattr(_C.Tensor, name, None)
    if method is None:
        return None

    def call(self, *args, **kwargs):
        if name not in _LINEAR and any(p.is_partial() for p in self.placements):
            raise NotImplementedError(
                f"DTensor.{name}: its parts are not summed yet; redistribute() it first"
            )
        given = [_shard(self, a, name) for a in args]
        named = {k: _shard(self, v, name) for k, v in kwargs.items()}
        result = method(self._local_tensor.detach(), *given, **named)
        return self if in_place else self._like(result)

    call.__name__, call.__doc__ = name, f"As Tensor.{name}, on each rank's part."
    return call


def _random(name):
    method = getattr(_C.Tensor, name)

    def call(self, *args, **kwargs):
        from rushlight.distributed.tensor._redistribute import cut

        drawn = self._local_tensor.new_empty(self.shape)
        if drawn.device.type != "meta":
            method(drawn, *args, **kwargs)
            self._local_tensor.detach().copy_(cut(drawn, self.device_mesh, self.placements))
        return self

    call.__name__ = name
    call.__doc__ = f"As Tensor.{name}: ranks of the same seed draw what one process would draw."
    return call


def add_methods(cls):
    """Gives DTensor its methods."""
    for name in dir(_C.Tensor):  # in place, on a body without data, nothing would happen
        if name.endswith("_") and not name.startswith("_") and name not in vars(cls):
            setattr(cls, name, cls._refused)
    for name in _NEW:
        if call := _on_shards(name, in_place=False):
            setattr(cls, name, call)
    for name in _IN_PLACE:
        if call := _on_shards(name, in_place=True):
            setattr(cls, name, call)
    for operator, name in _IN_PLACE_OPERATORS.items():
        setattr(cls, operator, getattr(cls, name))
    for name in _RANDOM:
        setattr(cls, name, _random(name))
