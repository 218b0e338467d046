"""Boxes at fixed positions, which detectors choose from and move."""

import math

import rushlight
from rushlight import nn


class AnchorGenerator(nn.Module):
    """Boxes of several sizes and ratios around each pixel of feature maps.

    Args:
        sizes: for each map, the sides of its boxes.
        aspect_ratios: for each map, their heights over widths.

    >>> import rushlight as torch
    >>> from rushlight.vision.models.detection.anchor_utils import AnchorGenerator
    >>> AnchorGenerator(((32,),), ((0.5, 1.0, 2.0),)).num_anchors_per_location()
    [3]
    """

    def __init__(self, sizes=((128, 256, 512),), aspect_ratios=((0.5, 1.0, 2.0),)):
        super().__init__()
        if not isinstance(sizes[0], list | tuple):
            sizes = tuple((size,) for size in sizes)
        if not isinstance(aspect_ratios[0], list | tuple):
            aspect_ratios = (aspect_ratios,) * len(sizes)
        self.sizes, self.aspect_ratios = sizes, aspect_ratios
        self.cell_anchors = [
            self.generate_anchors(size, ratio)
            for size, ratio in zip(sizes, aspect_ratios, strict=False)
        ]

    def generate_anchors(self, scales, aspect_ratios, dtype=rushlight.float32, device="cpu"):
        """The boxes around (0, 0), (ratios * scales, 4), at integer coordinates."""
        scales = rushlight.as_tensor(scales, dtype=dtype, device=device)
        high = rushlight.as_tensor(aspect_ratios, dtype=dtype, device=device).sqrt()
        widths = ((1 / high)[:, None] * scales[None]).reshape(-1)
        heights = (high[:, None] * scales[None]).reshape(-1)
        return (rushlight.stack([-widths, -heights, widths, heights], 1) / 2).round()

    def num_anchors_per_location(self):
        """How many boxes each pixel of each map has."""
        pairs = zip(self.sizes, self.aspect_ratios, strict=False)
        return [len(size) * len(ratio) for size, ratio in pairs]

    def grid_anchors(self, grid_sizes, strides):
        """The boxes of each map, a list of (h * w * a, 4)."""
        if not len(grid_sizes) == len(strides) == len(self.cell_anchors):
            raise AssertionError(
                "Anchors should be Tuple[Tuple[int]] because each feature map could potentially "
                "have different sizes and aspect ratios. There needs to be a match between the "
                "number of feature maps passed and the number of sizes / aspect ratios specified."
                f"\n{len(grid_sizes)} feature maps, {len(self.cell_anchors)} sizes"
            )
        found = []
        for (rows, columns), (down, across), base in zip(
            grid_sizes, strides, self.cell_anchors, strict=True
        ):
            y = rushlight.arange(rows, device=base.device, dtype=rushlight.int32) * down
            x = rushlight.arange(columns, device=base.device, dtype=rushlight.int32) * across
            y, x = (v.reshape(-1) for v in rushlight.meshgrid(y, x, indexing="ij"))
            shifts = rushlight.stack([x, y, x, y], 1)
            found.append((shifts[:, None] + base[None]).reshape(-1, 4))
        return found

    def forward(self, image_list, feature_maps):
        """The boxes of all maps (n, 4) for each image."""
        first, size = feature_maps[0], image_list.tensors.shape[-2:]
        self.cell_anchors = [
            base.to(dtype=first.dtype, device=first.device) for base in self.cell_anchors
        ]
        grids = [each.shape[-2:] for each in feature_maps]
        strides = [[size[0] // rows, size[1] // columns] for rows, columns in grids]
        every = rushlight.cat(self.grid_anchors(grids, strides))
        return [every for _ in image_list.image_sizes]


class DefaultBoxGenerator(nn.Module):
    """The boxes of SSD: for each pixel of each map two squares, and two boxes for each ratio.

    Args:
        aspect_ratios: for each map, ratios of its boxes; the inverse of each ratio is used too.
        min_ratio: the side of the first map's squares, in those of the image.
        max_ratio: that of the last one's.
        scales: the sides for each map and one more, instead of min_ratio and max_ratio.
        steps: the pixels of the image for one of each map; by default what their sizes give.
        clip: whether sides are at most the image's.

    Source: Liu et al., SSD: Single Shot MultiBox Detector, 2015.
    """

    def __init__(
        self, aspect_ratios, min_ratio=0.15, max_ratio=0.9, scales=None, steps=None, clip=True
    ):  # fmt: skip
        super().__init__()
        if steps is not None and len(aspect_ratios) != len(steps):
            raise ValueError("aspect_ratios and steps should have the same length")
        self.aspect_ratios, self.steps, self.clip = aspect_ratios, steps, clip
        count = len(aspect_ratios)
        if scales is None and count > 1:
            step = max_ratio - min_ratio
            scales = [min_ratio + step * k / (count - 1.0) for k in range(count)] + [1.0]
        self.scales = scales if scales is not None else [min_ratio, max_ratio]
        self._wh_pairs = [self._sides(k) for k in range(count)]

    def _sides(self, k):
        # (width, height) of the boxes of map k.
        side, between = self.scales[k], math.sqrt(self.scales[k] * self.scales[k + 1])
        pairs = [[side, side], [between, between]]
        for ratio in self.aspect_ratios[k]:
            width, height = side * math.sqrt(ratio), side / math.sqrt(ratio)
            pairs += [[width, height], [height, width]]
        return rushlight.tensor(pairs)

    def num_anchors_per_location(self):
        """How many boxes each pixel of each map has."""
        return [2 + 2 * len(ratios) for ratios in self.aspect_ratios]

    def _shifted(self, k, grid, image_size, like):
        # (x, y, width, height) of the boxes of map k, in sizes of the image.
        rows, columns = grid
        if self.steps is not None:
            rows, columns = (side / self.steps[k] for side in image_size)
        kind = {"dtype": like.dtype, "device": like.device}
        y = (rushlight.arange(grid[0], **kind) + 0.5) / rows
        x = (rushlight.arange(grid[1], **kind) + 0.5) / columns
        y, x = (v.reshape(-1) for v in rushlight.meshgrid(y, x, indexing="ij"))
        sides = self._wh_pairs[k].to(**kind)
        sides = sides.clamp(0, 1) if self.clip else sides
        shape = (len(x), len(sides), 2)
        parts = (rushlight.stack((x, y), 1)[:, None].expand(shape), sides[None].expand(shape))
        return rushlight.cat(parts, 2).reshape(-1, 4)

    def forward(self, image_list, feature_maps):
        """The boxes of all maps (n, 4) for each image, in its pixels."""
        size, first = image_list.tensors.shape[-2:], feature_maps[0]
        grids = [each.shape[-2:] for each in feature_maps]
        every = rushlight.cat([self._shifted(k, grid, size, first) for k, grid in enumerate(grids)])
        whole = rushlight.tensor([size[1], size[0]] * 2, dtype=every.dtype, device=every.device)
        middle, half = every[:, :2], 0.5 * every[:, 2:]
        corners = rushlight.cat([middle - half, middle + half], 1) * whole
        return [corners for _ in image_list.image_sizes]

    def __repr__(self):
        return (
            f"{type(self).__name__}(aspect_ratios={self.aspect_ratios}, clip={self.clip}, "
            f"scales={self.scales}, steps={self.steps})"
        )
