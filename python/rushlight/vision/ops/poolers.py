"""Regions taken from that one of several feature maps whose resolution fits their size."""

import math

import rushlight
from rushlight import nn

from ._regions import pair
from .roi_align import roi_align


class LevelMapper:
    """The map for each region: a region of canonical_scale pixels has canonical_level, one of twice
    that size the next.

    Args:
        k_min: the first level there is.
        k_max: the last one.
        canonical_scale: the side of a region of canonical_level.
        canonical_level: its level.
        eps: is added before rounding down.

    Source: Lin et al., Feature Pyramid Networks, 2016, equation 1.
    """

    def __init__(self, k_min, k_max, canonical_scale=224, canonical_level=4, eps=1e-6):
        self.k_min, self.k_max = k_min, k_max
        self.s0, self.lvl0, self.eps = canonical_scale, canonical_level, eps

    def __call__(self, boxlists):
        from .boxes import box_area

        side = rushlight.cat([box_area(boxes) for boxes in boxlists]).sqrt()
        level = (self.lvl0 + (side / self.s0).log2() + self.eps).floor()
        return level.clamp(self.k_min, self.k_max).long() - self.k_min


def _scale(feature, size):
    # The power of two next to the feature map's share of the image.
    return 2 ** round(math.log2(feature.shape[-2] / size[0]))


class MultiScaleRoIAlign(nn.Module):
    """roi_align() of each region in the feature map that fits its size.

    Args:
        featmap_names: which of the maps to use, largest first.
        output_size: height and width, or one number for both.
        sampling_ratio: samples in each direction of a bin.
        canonical_scale: the side of a region that is taken from canonical_level.
        canonical_level: the map for it, by its power of two.

    Source: Lin et al., Feature Pyramid Networks, 2016.

    >>> import rushlight as torch
    >>> from rushlight.vision.ops import MultiScaleRoIAlign
    >>> maps = {"a": torch.zeros(1, 5, 16, 16), "b": torch.zeros(1, 5, 8, 8)}
    >>> boxes = [torch.tensor([[0.0, 0.0, 20.0, 20.0], [1.0, 1.0, 60.0, 60.0]])]
    >>> MultiScaleRoIAlign(["a", "b"], 3, 2)(maps, boxes, [(64, 64)]).shape
    torch.Size([2, 5, 3, 3])
    """

    def __init__(
        self, featmap_names, output_size, sampling_ratio, *, canonical_scale=224, canonical_level=4
    ):  # fmt: skip
        super().__init__()
        self.featmap_names, self.sampling_ratio = featmap_names, sampling_ratio
        self.output_size = pair(output_size)
        self.canonical_scale, self.canonical_level = canonical_scale, canonical_level
        self.scales = self.map_levels = None

    def forward(self, x, boxes, image_shapes):
        """The regions (k, c, height, width) of all images, one image's after another's."""
        maps = [feature for name, feature in x.items() if name in self.featmap_names]
        if not image_shapes:
            raise ValueError("images list should not be empty")
        size = [max(sides) for sides in zip(*image_shapes, strict=True)]
        self.scales = [_scale(feature, size) for feature in maps]
        self.map_levels = LevelMapper(
            -math.log2(self.scales[0]), -math.log2(self.scales[-1]), self.canonical_scale,
            self.canonical_level,
        )  # fmt: skip
        counts = [len(each) for each in boxes]
        image = rushlight.cat([each.new_full((n, 1), i) for i, (each, n) in
                               enumerate(zip(boxes, counts, strict=True))])  # fmt: skip
        rows = rushlight.cat([image, rushlight.cat(boxes)], 1)
        if len(maps) == 1:
            return roi_align(
                maps[0], rows, self.output_size, self.scales[0], self.sampling_ratio
            )  # fmt: skip
        levels = self.map_levels(boxes)
        result = maps[0].new_zeros((len(rows), maps[0].shape[1], *self.output_size))
        for level, (feature, scale) in enumerate(zip(maps, self.scales, strict=True)):
            at = rushlight.where(levels == level)[0]
            part = roi_align(feature, rows[at], self.output_size, scale, self.sampling_ratio)
            result = result.index_put((at,), part.to(result.dtype))
        return result

    def __repr__(self):
        return (
            f"{type(self).__name__}(featmap_names={self.featmap_names}, "
            f"output_size={self.output_size}, sampling_ratio={self.sampling_ratio})"
        )
