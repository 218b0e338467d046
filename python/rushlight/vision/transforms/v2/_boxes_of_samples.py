"""Transforms of the boxes of a sample: their format, their edges, and those that are none."""

import rushlight
from rushlight.utils import _pytree

from ... import tv_tensors
from . import functional
from ._queries import get_keypoints
from ._transform import Transform, boxes_of


class ConvertBoundingBoxFormat(Transform):
    """Boxes in another format.

    Args:
        format: a BoundingBoxFormat or its name.
    """

    _transformed_types = (tv_tensors.BoundingBoxes,)

    def __init__(self, format):
        super().__init__()
        self.format = format

    def _chosen(self, parts):
        return [isinstance(part, self._transformed_types) for part in parts]

    def transform(self, inpt, params):
        """Converted."""
        return functional.convert_bounding_box_format(inpt, new_format=self.format)


class ClampBoundingBoxes(ConvertBoundingBoxFormat):
    """Boxes cut at the edges of their image.

    Args:
        clamping_mode: as of functional.clamp_bounding_boxes().
    """

    def __init__(self, clamping_mode="auto"):
        Transform.__init__(self)
        self.clamping_mode = clamping_mode

    def transform(self, inpt, params):
        """Cut."""
        return functional.clamp_bounding_boxes(inpt, clamping_mode=self.clamping_mode)


class ClampKeyPoints(ConvertBoundingBoxFormat):
    """Key points moved into their image."""

    _transformed_types = (tv_tensors.KeyPoints,)  # type: ignore[assignment]

    def __init__(self):
        Transform.__init__(self)

    def transform(self, inpt, params):
        """Moved."""
        return functional.clamp_keypoints(inpt)


class SetClampingMode(ConvertBoundingBoxFormat):
    """Boxes with another clamping_mode.

    Args:
        clamping_mode: "soft", "hard" or None.
    """

    def __init__(self, clamping_mode):
        Transform.__init__(self)
        if clamping_mode not in ("soft", "hard", None):
            raise ValueError(f"clamping_mode must be soft, hard or None, got {clamping_mode}")
        self.clamping_mode = clamping_mode

    def transform(self, inpt, params):
        """A copy with it."""
        return tv_tensors.wrap(inpt.clone(), like=inpt, clamping_mode=self.clamping_mode)


class SanitizeKeyPoints(Transform):
    """Takes away key points outside of their image, with their labels.

    Args:
        labels_getter: "default", None, or a function of the sample that gives its labels, one
            tensor or a tuple of some.
    """

    def __init__(self, labels_getter=None):
        super().__init__()
        if not (labels_getter in ("default", None) or callable(labels_getter)):
            raise ValueError(
                "labels_getter should either be 'default', a callable, or None, but got "
                f"{labels_getter}."
            )
        self.labels_getter = labels_getter

    def forward(self, *inputs):
        """The sample without them."""
        sample = inputs if len(inputs) > 1 else inputs[0]
        parts, spec = _pytree.tree_flatten(sample)
        labels = SanitizeBoundingBoxes._labels(self, sample)
        points = get_keypoints(parts)
        for each in labels:
            if len(each) != len(points):
                raise ValueError(
                    f"Number of kepyoints (shape={tuple(points.shape)}) must match the number of "
                    f"labels. Found labels with shape={tuple(each.shape)})."
                )
        found, valid = functional.sanitize_keypoints(points)
        names = {id(each) for each in labels}
        done = [
            found if part is points else part[valid] if id(part) in names else part
            for part in parts
        ]
        return _pytree.tree_unflatten(done, spec)


def labels_of(sample):
    """What a sample holds under a key with "label" in it, in its second part or in itself."""
    if isinstance(sample, tuple | list):
        sample = sample[1] if len(sample) > 1 else sample[0]
    if isinstance(sample, rushlight.Tensor):
        return sample
    if isinstance(sample, dict):
        named = [key for key in sample if isinstance(key, str) and key.lower() == "labels"]
        named += [key for key in sample if isinstance(key, str) and "label" in key.lower()]
        if named:
            return sample[named[0]]
    raise ValueError(
        "Could not infer where the labels are in the sample. Try passing a callable as the "
        "labels_getter parameter?"
    )


class SanitizeBoundingBoxes(Transform):
    """Takes away boxes that are too small or outside of their image, with their labels and masks.

    Args:
        min_size: the least length of a side.
        min_area: the least area.
        labels_getter: "default", a key, None, or a function of the sample that gives its labels,
            one tensor or a tuple of some.
    """

    def __init__(self, min_size=1.0, min_area=1.0, labels_getter="default"):
        super().__init__()
        if min_size < 1 or min_area < 1:
            raise ValueError(f"min_size and min_area must be >= 1, got {min_size} and {min_area}.")
        self.min_size, self.min_area, self.labels_getter = min_size, min_area, labels_getter

    def _labels(self, sample):
        getter = self.labels_getter
        if getter is None:
            return ()
        if getter == "default":
            found = labels_of(sample)
        elif isinstance(getter, str):
            holder = sample[1] if isinstance(sample, tuple | list) else sample
            found = holder[getter]
        else:
            found = getter(sample)
        found = found if isinstance(found, tuple | list) else (found,)
        for labels in found:
            if labels is not None and not isinstance(labels, rushlight.Tensor):
                raise ValueError(f"The labels must be a tensor, or None, got {type(labels)}")
        return [labels for labels in found if labels is not None]

    def forward(self, *inputs):
        """The sample without them."""
        sample = inputs if len(inputs) > 1 else inputs[0]
        parts, spec = _pytree.tree_flatten(sample)
        labels = self._labels(sample)
        boxes = boxes_of(parts)
        for each in labels:
            if len(each) != len(boxes):
                raise ValueError(
                    f"Number of boxes (shape={tuple(boxes.shape)}) and must match the number of "
                    f"labels. Found labels with shape={tuple(each.shape)})."
                )
        _, valid = functional.sanitize_bounding_boxes(
            boxes, min_size=self.min_size, min_area=self.min_area
        )
        names = {id(each) for each in labels}
        done = []
        for part in parts:
            masks = isinstance(part, tv_tensors.Mask) and part.ndim > 2 and len(part) == len(valid)
            if part is boxes or masks:
                part = tv_tensors.wrap(part[valid], like=part)
            elif id(part) in names:
                part = part[valid]
            done.append(part)
        return _pytree.tree_unflatten(done, spec)
