"""Batches whose images are mixed with each other, and their labels with them."""

import math

import rushlight
from rushlight.nn.functional import one_hot
from rushlight.utils import _pytree

from ... import tv_tensors
from ._boxes_of_samples import labels_of
from ._transform import Transform, is_image


class MixUp(Transform):
    """Each image of a batch mixed with the one before it, and its label too.

    Args:
        alpha: of the Beta distribution that the share is drawn from.
        num_classes: of the labels, where they are numbers of classes.
        labels_getter: "default" or a function of the sample that gives its labels.

    Source: Zhang et al., mixup: Beyond Empirical Risk Minimization, 2017.
    """

    def __init__(self, *, alpha=1.0, num_classes=None, labels_getter="default"):
        super().__init__()
        self.alpha, self.num_classes = float(alpha), num_classes
        self._labels = labels_of if labels_getter == "default" else labels_getter
        self._dist = rushlight.distributions.Beta(
            rushlight.tensor([self.alpha]), rushlight.tensor([self.alpha])
        )

    def _mixed_labels(self, labels, share):
        if labels.ndim == 1:
            if self.num_classes is None:
                raise ValueError("num_classes must be passed if the labels are index-based (1D)")
            labels = one_hot(labels, self.num_classes)
        labels = labels if labels.is_floating_point() else labels.float()
        return labels.roll(1, 0) * (1.0 - share) + labels * share

    def make_params(self, flat_inputs):
        """The share of the image itself."""
        return {"share": float(self._dist.sample(()))}

    def transform(self, inpt, params):
        """Images mixed."""
        share = params["share"]
        return inpt.roll(1, 0) * (1.0 - share) + inpt * share

    def forward(self, *inputs):
        """The batch, mixed."""
        sample = inputs if len(inputs) > 1 else inputs[0]
        parts, spec = _pytree.tree_flatten(sample)
        labels = self._labels(sample)
        chosen = [is_image(part) and part is not labels for part in parts]
        for part, used in zip(parts, chosen, strict=True):
            if isinstance(part, tv_tensors.BoundingBoxes | tv_tensors.Mask | tv_tensors.KeyPoints):
                raise ValueError(
                    f"{type(self).__name__}() does not support PIL images, bounding boxes, "
                    "keypoints and masks."
                )
            if used and (not isinstance(part, rushlight.Tensor) or part.ndim not in (4, 5)):
                raise ValueError("Expected a batched input with 4 or 5 dims")
            if used and len(part) != len(labels):
                raise ValueError(
                    "The batch size of the image or video does not match the batch size of the "
                    f"labels: {len(part)} != {len(labels)}."
                )
        params = self.make_params([p for p, used in zip(parts, chosen, strict=True) if used])
        done = []
        for part, used in zip(parts, chosen, strict=True):
            if part is labels:
                done.append(self._mixed_labels(part, params["share"]))
            elif used:
                made = self.transform(part, params)
                known = isinstance(part, tv_tensors.TVTensor)
                done.append(tv_tensors.wrap(made, like=part) if known else made)
            else:
                done.append(part)
        return _pytree.tree_unflatten(done, spec)


class CutMix(MixUp):
    """A rectangle of each image of a batch taken from the one before it, and a share of its label.

    Args:
        alpha: of the Beta distribution that the rectangle's share is drawn from.
        num_classes: of the labels, where they are numbers of classes.
        labels_getter: "default" or a function of the sample that gives its labels.

    Source: Yun et al., CutMix, 2019.
    """

    def make_params(self, flat_inputs):
        """The rectangle, and the share of the image that stays."""
        height, width = flat_inputs[0].shape[-2:]
        share = float(self._dist.sample(()))
        x, y = rushlight.randint(width, (1,)).item(), rushlight.randint(height, (1,)).item()
        half = 0.5 * math.sqrt(1.0 - share)
        w, h = int(half * width), int(half * height)
        left, right = max(x - w, 0), min(x + w, width)
        top, bottom = max(y - h, 0), min(y + h, height)
        share = float(1.0 - (right - left) * (bottom - top) / (width * height))
        return {"box": (left, top, right, bottom), "share": share}

    def transform(self, inpt, params):
        """Images with a rectangle of others."""
        left, top, right, bottom = params["box"]
        found, other = inpt.clone(), inpt.roll(1, 0)
        found[..., top:bottom, left:right] = other[..., top:bottom, left:right]
        return found
