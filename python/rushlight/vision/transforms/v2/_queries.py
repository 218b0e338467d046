"""Helpers for a program's own transforms: query_size, has_any and others about a sample."""

from ... import tv_tensors
from . import functional
from ._transform import boxes_of, is_image, size_of

__all__ = [
    "check_type", "get_bounding_boxes", "get_keypoints", "has_all", "has_any", "query_chw",
    "query_size",
]  # fmt: skip

query_size, get_bounding_boxes = size_of, boxes_of


def query_chw(flat_inputs):
    """(channels, height, width) of the images and videos of a sample, which must agree.

    Args:
        flat_inputs: the parts of a sample.
    """
    found = {tuple(functional.get_dimensions(part)) for part in flat_inputs if is_image(part)}
    if not found:
        raise TypeError("No image or video was found in the sample")
    if len(found) > 1:
        shown = ", ".join(repr(str(each)) for each in sorted(found))
        raise ValueError(f"Found multiple CxHxW dimensions in the sample: {shown}")
    return found.pop()


def check_type(obj, types_or_checks):
    """Whether an object is of one of the types, or passes one of the checks.

    Args:
        obj: anything.
        types_or_checks: classes, and functions of an object.
    """
    return any(
        isinstance(obj, each) if isinstance(each, type) else bool(each(obj))
        for each in types_or_checks
    )


def has_any(flat_inputs, *types_or_checks):
    """Whether one part of a sample is of one of the types, or passes one of the checks.

    Args:
        flat_inputs: the parts.
        types_or_checks: classes, and functions of a part.
    """
    return any(check_type(part, types_or_checks) for part in flat_inputs)


def has_all(flat_inputs, *types_or_checks):
    """Whether for each type or check a part of a sample passes it.

    Args:
        flat_inputs: the parts.
        types_or_checks: classes, and functions of a part.
    """
    return all(any(check_type(p, (each,)) for p in flat_inputs) for each in types_or_checks)


def get_keypoints(flat_inputs):
    """The first key points of a sample.

    Args:
        flat_inputs: the parts.
    """
    for part in flat_inputs:
        if isinstance(part, tv_tensors.KeyPoints):
            return part
    raise ValueError("No keypoints were found in the sample")
