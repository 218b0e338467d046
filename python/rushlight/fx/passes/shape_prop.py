"""ShapeProp: runs a graph and notes the shape and dtype of every value in `node.meta`."""

from typing import Any, NamedTuple

from rushlight import _C
from rushlight.fx.interpreter import Interpreter
from rushlight.fx.node import map_aggregate

__all__ = ["ShapeProp", "TensorMetadata"]


class TensorMetadata(NamedTuple):
    """What a tensor is, without its values."""

    shape: Any
    dtype: Any
    requires_grad: bool
    stride: tuple[int, ...]
    memory_format: Any
    is_quantized: bool
    qparams: dict[str, Any]


def _extract_tensor_metadata(result, include_contiguity=True):
    """The metadata of a tensor."""
    memory_format = None
    if include_contiguity:
        last = {4: _C.channels_last, 5: _C.channels_last_3d}.get(result.dim())
        for each in (_C.contiguous_format, last):
            if each is not None and result.is_contiguous(memory_format=each):
                memory_format = each
                break
    return TensorMetadata(
        result.shape, result.dtype, result.requires_grad, result.stride(), memory_format, False, {}
    )


class ShapeProp(Interpreter):
    """Runs a GraphModule and keeps in `node.meta["tensor_meta"]` what each tensor is.

    Args:
        gm: the module.
        fake_mode: accepted; tensors on the device "meta" cost no memory.

    >>> traced = torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.Linear(3, 5)))
    >>> _ = torch.fx.passes.shape_prop.ShapeProp(traced).propagate(torch.ones(2, 3))
    >>> [tuple(node.meta["tensor_meta"].shape) for node in traced.graph.nodes]
    [(2, 3), (2, 5), (2, 5)]
    """

    def __init__(self, gm, fake_mode=None):
        super().__init__(gm)

    def run_node(self, n):
        """Runs a node and notes its value's shape.

        Args:
            n: the node.
        """
        result = super().run_node(n)
        found = False

        def describe(value):
            nonlocal found
            if isinstance(value, _C.Tensor):
                found = True
                return _extract_tensor_metadata(value)
            return value

        meta = map_aggregate(result, describe)
        if found:
            n.meta["tensor_meta"] = meta
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args):
        """Runs the module.

        Args:
            *args: its arguments.

        Returns: what it returns.
        """
        return self.run(*args)
