"""What transforms of samples share: a sample is an image, or anything that holds some."""

import functools
import inspect

import rushlight
from rushlight import nn
from rushlight.utils import _pytree

from ... import tv_tensors
from ..._pillow import is_pil_image
from . import functional


def is_image(inpt):
    """Whether it is an image or a video: PIL, Image, Video or a tensor without a kind."""
    if isinstance(inpt, tv_tensors.TVTensor):
        return isinstance(inpt, tv_tensors.Image | tv_tensors.Video)
    return is_pil_image(inpt) or isinstance(inpt, rushlight.Tensor)


def takes_fills(cls):
    """A class whose `fill` may also be a dict: values by kinds of parts, "others" for the rest."""
    plain = cls.__init__

    @functools.wraps(plain)
    def __init__(self, *args, **kwargs):
        if not any(isinstance(given, dict) for given in (*args, *kwargs.values())):
            plain(self, *args, **kwargs)
            return
        bound = inspect.signature(plain).bind(self, *args, **kwargs)
        fill = bound.arguments.get("fill")
        if isinstance(fill, dict):
            bound.arguments["fill"] = 0
        plain(*bound.args, **bound.kwargs)
        if isinstance(fill, dict):
            self.fill = fill

    cls.__init__ = __init__
    return cls


def fill_of(inpt, fill):
    """What comes into view of one part of a sample."""
    if isinstance(fill, dict):
        for kind in (*type(inpt).__mro__, "others"):
            if kind in fill:
                return fill[kind]
        made = getattr(fill, "default_factory", None)  # of a defaultdict
        return 0 if made is None else made()
    return 0 if isinstance(inpt, tv_tensors.Mask) else fill


class Transform(nn.Module):
    """A transform of samples: lists, tuples and dicts that hold images, boxes, masks and others.

    A subclass defines transform(inpt, params), and make_params(flat_inputs) where something is
    drawn once for all parts of a sample. Of tensors without a kind, the first is an image if the
    sample has no other; the others pass through, as labels do.
    """

    _transformed_types: tuple = (tv_tensors.TVTensor,)
    __repr__ = nn.Module.__repr__  # not that of v1, where a class is derived from it

    def check_inputs(self, flat_inputs):
        """Raises for a sample that cannot be transformed."""

    def make_params(self, flat_inputs):
        """What is drawn once for the sample, a dict."""
        return {}

    def transform(self, inpt, params):
        """One part of the sample, transformed."""
        raise NotImplementedError(f"{type(self).__name__}.transform(): a subclass defines it")

    def _chosen(self, parts):
        # Which parts are transformed.
        known = any(
            isinstance(part, tv_tensors.Image | tv_tensors.Video) or is_pil_image(part)
            for part in parts
        )
        chosen = []
        for part in parts:
            plain = isinstance(part, rushlight.Tensor) and not isinstance(part, tv_tensors.TVTensor)
            if plain:
                chosen.append(not known)
                known = True
            else:
                chosen.append(is_pil_image(part) or isinstance(part, self._transformed_types))
        return chosen

    def forward(self, *inputs):
        """The sample, transformed."""
        sample = inputs if len(inputs) > 1 else inputs[0]
        parts, spec = _pytree.tree_flatten(sample)
        self.check_inputs(parts)
        chosen = self._chosen(parts)
        params = self.make_params([part for part, used in zip(parts, chosen, strict=True) if used])
        done = [
            self.transform(part, params) if used else part
            for part, used in zip(parts, chosen, strict=True)
        ]
        return _pytree.tree_unflatten(done, spec)

    def extra_repr(self):
        """The arguments."""
        shown = []
        for name, value in vars(self).items():
            if name.startswith("_") or name == "training":
                continue
            if isinstance(
                value, bool | int | float | str | tuple | list | functional.InterpolationMode
            ):
                shown.append(f"{name}={value}")
        return ", ".join(shown)


class ImageTransform(Transform):
    """A transform of images and videos alone, by the one of v1 that it is derived from too."""

    _transformed_types = (tv_tensors.Image, tv_tensors.Video)

    def make_params(self, flat_inputs):
        """Where the draws begin, so that all images of a sample get the same."""
        return {"state": rushlight.get_rng_state()} if len(flat_inputs) > 1 else {}

    def transform(self, inpt, params):
        """As v1 does it."""
        if params:
            rushlight.set_rng_state(params["state"])
        made = self._of_image(inpt)
        return tv_tensors.wrap(made, like=inpt) if isinstance(inpt, tv_tensors.TVTensor) else made


def size_of(flat_inputs):
    """(height, width) of the images, boxes and masks of a sample, which must agree."""
    sizes = {
        tuple(functional.get_size(part))
        for part in flat_inputs
        if is_image(part) or isinstance(part, tv_tensors.TVTensor)
    }
    if not sizes:
        raise TypeError("No image, video, mask, bounding box of keypoint was found in the sample")
    if len(sizes) > 1:
        shown = ", ".join(repr(str(size)) for size in sorted(sizes))
        raise ValueError(f"Found multiple HxW dimensions in the sample: {shown}")
    return sizes.pop()


def boxes_of(flat_inputs):
    """The first boxes of a sample."""
    for part in flat_inputs:
        if isinstance(part, tv_tensors.BoundingBoxes):
            return part
    raise ValueError("No bounding boxes were found in the sample")


class RandomApplyTransform(Transform):
    """A transform that is done with probability p, and otherwise leaves the sample as it is."""

    def __init__(self, p=0.5):
        super().__init__()
        if not 0.0 <= p <= 1.0:
            raise ValueError("`p` should be a floating point value in the interval [0.0, 1.0].")
        self.p = p

    def forward(self, *inputs):
        """The sample, transformed or not."""
        parts, _ = _pytree.tree_flatten(inputs if len(inputs) > 1 else inputs[0])
        self.check_inputs(parts)
        if rushlight.rand(1).item() >= self.p:
            return inputs if len(inputs) > 1 else inputs[0]
        return super().forward(*inputs)
