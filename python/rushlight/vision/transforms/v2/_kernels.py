"""What a function of transforms.v2 does to boxes, key points, masks, videos and other kinds.

A function has a kernel for each kind of tv_tensors; register_kernel() adds one. A kind without
a kernel passes through a function unchanged: boxes do not change when an image gets brighter.
"""

import functools

import rushlight

from ... import tv_tensors
from ..._pillow import is_pil_image

_KERNELS: dict = {}  # function's name -> {kind: kernel}


def plain(inpt):
    """A tensor without its kind."""
    return inpt.as_subclass(rushlight.Tensor)


def register_kernel(functional, tv_tensor_cls):
    """Registers a function as what `functional` does to a kind of tensor: a decorator.

    Args:
        functional: a function of transforms.v2.functional, or its name.
        tv_tensor_cls: a subclass of TVTensor, or its name, such as "Image".

    >>> import rushlight as torch
    >>> from rushlight.vision import tv_tensors
    >>> from rushlight.vision.transforms.v2 import functional as F
    >>> class Depth(tv_tensors.TVTensor):
    ...     pass
    >>> @F.register_kernel(F.horizontal_flip, Depth)
    ... def flip_depth(depth):
    ...     return tv_tensors.wrap(depth.flip(-1), like=depth)
    >>> F.horizontal_flip(torch.tensor([[1, 2]]).as_subclass(Depth)).tolist()
    [[2, 1]]
    """
    if isinstance(tv_tensor_cls, str):
        tv_tensor_cls = getattr(tv_tensors, tv_tensor_cls)
    name = functional if isinstance(functional, str) else getattr(functional, "__name__", "")
    if name not in _KERNELS:
        raise ValueError(f"Can only register kernels on functionals, but got {functional}")
    if not (isinstance(tv_tensor_cls, type) and issubclass(tv_tensor_cls, tv_tensors.TVTensor)):
        raise ValueError(
            "Kernels can only be registered for subclasses of torchvision.tv_tensors.TVTensor, but "
            f"got {tv_tensor_cls}."
        )

    def decorate(kernel):
        _KERNELS[name][tv_tensor_cls] = kernel
        return kernel

    return decorate


def dispatched(*names, **kernels):
    """For a function of images: other kinds of tensors go to their kernels.

    Args:
        names: the kinds that the function itself serves as they are: "Image", "Video", "Mask".
        kernels: kind=its kernel, a function of the tensor and the same arguments.
    """

    def decorate(function):
        name = function.__name__
        own = {getattr(tv_tensors, kind): None for kind in names}
        _KERNELS[name] = own | {getattr(tv_tensors, kind): k for kind, k in kernels.items()}

        @functools.wraps(function)
        def called(inpt, *args, **kwargs):
            if not isinstance(inpt, tv_tensors.TVTensor):
                if isinstance(inpt, rushlight.Tensor) or is_pil_image(inpt):
                    return function(inpt, *args, **kwargs)
                raise TypeError(
                    f"Functional {name} supports inputs of type Image, PIL.Image.Image, Tensor and "
                    f"the kinds of tv_tensors, but got {type(inpt)} instead."
                )
            for kind in type(inpt).__mro__:
                if kind in _KERNELS[name]:
                    kernel = _KERNELS[name][kind]
                    if kernel is not None:
                        return kernel(inpt, *args, **kwargs)
                    return tv_tensors.wrap(function(plain(inpt), *args, **kwargs), like=inpt)
            return inpt

        return called

    return decorate
