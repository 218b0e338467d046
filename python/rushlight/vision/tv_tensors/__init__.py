"""torchvision.tv_tensors: tensors that know whether they are an image, a video, a mask or boxes.

Operations on them give plain tensors; clone, to, detach and requires_grad_ keep what they are.
set_return_type("TVTensor") lets all operations keep it.
"""

from enum import Enum

import rushlight
from rushlight import _C

__all__ = [
    "BoundingBoxFormat", "BoundingBoxes", "Image", "KeyPoints", "Mask", "TVTensor", "Video",
    "set_return_type", "wrap",
]  # fmt: skip


_keeps_all = False


class set_return_type:
    """Whether operations on these tensors keep what they are: a call, or a `with` statement.

    Args:
        return_type: "Tensor", as it is by default, or "TVTensor".

    >>> from rushlight.vision import tv_tensors
    >>> image = tv_tensors.Image([[1.0]])
    >>> with tv_tensors.set_return_type("TVTensor"):
    ...     type(image + 1).__name__
    'Image'
    >>> type(image + 1).__name__
    'Tensor'
    """

    def __init__(self, return_type):
        global _keeps_all
        kinds = {"tensor": False, "tvtensor": True}
        if return_type.lower() not in kinds:
            raise ValueError(
                f"return_type must be one of 'TVTensor' or 'Tensor', got {return_type}"
            )
        self.before, _keeps_all = _keeps_all, kinds[return_type.lower()]

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        global _keeps_all
        _keeps_all = self.before


class TVTensor(rushlight.Tensor):
    """What all of them are."""

    _KEEPING = frozenset(("clone", "to", "detach", "requires_grad_"))

    @classmethod
    def _made(cls, data, dtype=None, device=None, requires_grad=None):
        if requires_grad is None:
            requires_grad = isinstance(data, rushlight.Tensor) and data.requires_grad
        plain = rushlight.as_tensor(data, dtype=dtype, device=device)
        with _C.DisableTorchFunctionSubclass():  # boxes do not know their format yet
            return plain.detach().as_subclass(cls).requires_grad_(requires_grad)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        with _C.DisableTorchFunctionSubclass():
            result = func(*args, **(kwargs or {}))
        name = getattr(func, "__name__", "")
        if name in cls._KEEPING and isinstance(args[0], cls):
            return wrap(result, like=args[0])
        if _keeps_all and isinstance(result, rushlight.Tensor) and not isinstance(result, cls):
            like = next((each for each in args if isinstance(each, cls)), None)
            return result if like is None else wrap(result, like=like)
        if _keeps_all or not isinstance(result, cls):
            return result
        return result.as_subclass(rushlight.Tensor)

    def __deepcopy__(self, memo):
        return wrap(self.detach().clone(), like=self).requires_grad_(self.requires_grad)


class Image(TVTensor):
    """An image (..., channels, height, width).

    Args:
        data: a tensor, an array, a list or a PIL image; one without channels gets one.
        dtype: of the result.
        device: of the result.
        requires_grad: whether gradients are wanted; by default as in data.

    >>> import rushlight as torch
    >>> from rushlight.vision import tv_tensors
    >>> tv_tensors.Image(torch.zeros(2, 3)).shape
    torch.Size([1, 2, 3])
    """

    def __new__(cls, data, *, dtype=None, device=None, requires_grad=None):
        from rushlight.vision._pillow import is_pil_image

        if is_pil_image(data):
            from rushlight.vision.transforms.functional import pil_to_tensor

            data = pil_to_tensor(data)
        made = cls._made(data, dtype, device, requires_grad)
        if made.ndim < 2:
            raise ValueError("an image has at least two dimensions: height and width")
        if made.ndim == 2:
            made = made.unsqueeze(0).as_subclass(cls)
        return made


class Video(TVTensor):
    """A video (..., time, channels, height, width).

    Args:
        data: a tensor, an array or a list.
        dtype: of the result.
        device: of the result.
        requires_grad: whether gradients are wanted; by default as in data.

    >>> import rushlight as torch
    >>> from rushlight.vision import tv_tensors
    >>> type(tv_tensors.Video(torch.zeros(2, 3, 4, 4))).__name__
    'Video'
    """

    def __new__(cls, data, *, dtype=None, device=None, requires_grad=None):
        made = cls._made(data, dtype, device, requires_grad)
        if made.ndim < 4:
            raise ValueError("a video has at least four dimensions: time, channels, height, width")
        return made


class Mask(TVTensor):
    """Masks of segmentation or detection (..., height, width).

    Args:
        data: a tensor, an array, a list or a PIL image.
        dtype: of the result.
        device: of the result.
        requires_grad: whether gradients are wanted; by default as in data.

    >>> from rushlight.vision import tv_tensors
    >>> tv_tensors.Mask([[0, 1]]).tolist()
    [[0, 1]]
    """

    def __new__(cls, data, *, dtype=None, device=None, requires_grad=None):
        from rushlight.vision._pillow import is_pil_image

        if is_pil_image(data):
            from rushlight.vision.transforms.functional import pil_to_tensor

            data = pil_to_tensor(data)
        return cls._made(data, dtype, device, requires_grad)


class BoundingBoxFormat(Enum):
    """How boxes are written: two corners, a corner and the size, or the centre and the size."""

    XYXY = "XYXY"
    XYWH = "XYWH"
    CXCYWH = "CXCYWH"


def is_rotated_bounding_format(format):
    """Whether boxes of that format may be rotated: False of all that there are.

    Args:
        format: a BoundingBoxFormat or its name.
    """
    name = format if isinstance(format, str) else format.name
    return name.upper() in ("XYWHR", "CXCYWHR", "XYXYXYXY")


class BoundingBoxes(TVTensor):
    """Boxes (n, 4) in an image.

    Args:
        data: a tensor, an array or a list; one box (4) becomes (1, 4).
        format: a BoundingBoxFormat or its name.
        canvas_size: (height, width) of the image.
        dtype: of the result.
        device: of the result.
        requires_grad: whether gradients are wanted; by default as in data.

    >>> from rushlight.vision import tv_tensors
    >>> boxes = tv_tensors.BoundingBoxes([0, 0, 2, 3], format="XYWH", canvas_size=(8, 8))
    >>> boxes.shape, boxes.format.name, boxes.canvas_size
    (torch.Size([1, 4]), 'XYWH', (8, 8))
    """

    def __new__(
        cls, data, *, format, canvas_size, clamping_mode="soft", dtype=None, device=None,
        requires_grad=None,
    ):  # fmt: skip
        made = cls._made(data, dtype, device, requires_grad)
        if made.ndim == 1:
            made = made.unsqueeze(0).as_subclass(cls)
        elif made.ndim != 2:
            raise ValueError(f"Expected a 1D or 2D tensor, got {made.ndim}D")
        if isinstance(format, str):
            format = BoundingBoxFormat[format.upper()]
        made.format, made.canvas_size = format, tuple(canvas_size)
        made.clamping_mode = clamping_mode
        return made

    def __repr__(self, *, tensor_contents=None):
        return _shown(self, "format", "canvas_size", "clamping_mode")


class KeyPoints(TVTensor):
    """Points (..., 2) in an image: x and y.

    Args:
        data: a tensor, an array or a list; one point (2) becomes (1, 2).
        canvas_size: (height, width) of the image.
        dtype: of the result.
        device: of the result.
        requires_grad: whether gradients are wanted; by default as in data.

    >>> from rushlight.vision import tv_tensors
    >>> tv_tensors.KeyPoints([[1, 2]], canvas_size=(8, 8)).canvas_size
    (8, 8)
    """

    def __new__(cls, data, *, canvas_size, dtype=None, device=None, requires_grad=None):
        made = cls._made(data, dtype, device, requires_grad)
        if made.ndim == 1:
            made = made.unsqueeze(0).as_subclass(cls)
        elif made.shape[-1] != 2:
            raise ValueError(f"Expected a tensor of shape (..., 2), not {tuple(made.shape)}")
        made.canvas_size = tuple(canvas_size)
        return made

    def __repr__(self, *, tensor_contents=None):
        return _shown(self, "canvas_size")


def _shown(tensor, *names):
    plain = repr(tensor.as_subclass(rushlight.Tensor))
    values = ", ".join(f"{name}={getattr(tensor, name)}" for name in names)
    return f"{type(tensor).__name__}({plain.removeprefix('tensor(').removesuffix(')')}, {values})"


def wrap(wrappee, *, like, **kwargs):
    """A tensor as what another one is.

    Args:
        wrappee: the tensor.
        like: an image, a video, a mask or boxes.
        kwargs: for boxes and key points, a format, canvas_size or clamping_mode of their own.

    >>> import rushlight as torch
    >>> from rushlight.vision import tv_tensors
    >>> type(tv_tensors.wrap(torch.zeros(1, 2), like=tv_tensors.Mask([[1]]))).__name__
    'Mask'
    """
    with _C.DisableTorchFunctionSubclass():
        made = wrappee.as_subclass(type(like))
    for name in ("format", "canvas_size", "clamping_mode"):
        if hasattr(like, name):
            setattr(made, name, kwargs.get(name, getattr(like, name)))
    return made
