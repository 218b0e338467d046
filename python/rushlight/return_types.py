"""The named results of ops with two tensors: torch.return_types.max and its like.

>>> torch.return_types.sort is type(torch.tensor([2, 1]).sort())
True
"""

from rushlight import _C

globals().update(_C._return_types)
__all__ = sorted(_C._return_types)
