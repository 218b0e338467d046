"""Images and targets as detectors take them, and what they find as the images were."""

import math

import rushlight
from rushlight import nn
from rushlight.nn.functional import interpolate

from .image_list import ImageList
from .roi_heads import paste_masks_in_image


def _ratios(original_size, new_size, like):
    # Height and width of the new size in those of the old one.
    kind = {"dtype": rushlight.float32, "device": like.device}
    return [
        rushlight.tensor(new, **kind) / rushlight.tensor(old, **kind)
        for new, old in zip(new_size, original_size, strict=True)
    ]


def resize_boxes(boxes, original_size, new_size):
    """Boxes (n, 4) of an image, in pixels of the same image at another size.

    Args:
        boxes: (n, 4) as two corners.
        original_size: (height, width).
        new_size: (height, width).
    """
    down, across = _ratios(original_size, new_size, boxes)
    x1, y1, x2, y2 = boxes.unbind(1)
    return rushlight.stack((x1 * across, y1 * down, x2 * across, y2 * down), 1)


def resize_keypoints(keypoints, original_size, new_size):
    """Key points (n, k, 3) of an image, in pixels of the same image at another size.

    Args:
        keypoints: (n, k, 3): x, y and whether it is visible.
        original_size: (height, width).
        new_size: (height, width).
    """
    down, across = _ratios(original_size, new_size, keypoints)
    x, y, *rest = keypoints.unbind(2)
    return rushlight.stack((x * across, y * down, *rest), 2)


class GeneralizedRCNNTransform(nn.Module):
    """Normalises images, resizes them with their targets, and puts them in one tensor.

    Args:
        min_size: the length of the shorter side; of several, training draws one, and evaluation
            takes the last.
        max_size: the longest that a side may get.
        image_mean: of each channel.
        image_std: of each channel.
        size_divisible: the sides of the tensor are multiples of it.
        fixed_size: (width, height) of all images, instead of min_size and max_size.
    """

    def __init__(
        self, min_size, max_size, image_mean, image_std, size_divisible=32, fixed_size=None,
        **kwargs,
    ):  # fmt: skip
        super().__init__()
        self.min_size = min_size if isinstance(min_size, list | tuple) else (min_size,)
        self.max_size, self.image_mean, self.image_std = max_size, image_mean, image_std
        self.size_divisible, self.fixed_size = size_divisible, fixed_size
        self._skip_resize = kwargs.pop("_skip_resize", False)

    def forward(self, images, targets=None):
        """(an ImageList, the targets that fit it)."""
        images = list(images)
        targets = None if targets is None else [dict(target) for target in targets]
        for i, image in enumerate(images):
            if image.dim() != 3:
                raise ValueError(
                    "images is expected to be a list of 3d tensors of shape [C, H, W], got "
                    f"{image.shape}"
                )
            target = None if targets is None else targets[i]
            images[i], target = self.resize(self.normalize(image), target)
            if targets is not None:
                targets[i] = target
        sizes = [tuple(image.shape[-2:]) for image in images]
        return ImageList(self.batch_images(images, self.size_divisible), sizes), targets

    def normalize(self, image):
        """The image less the mean, over the standard deviation of each channel."""
        if not image.is_floating_point():
            raise TypeError(
                "Expected input images to be of floating type (in range [0, 1]), but found type "
                f"{image.dtype} instead"
            )
        kind = {"dtype": image.dtype, "device": image.device}
        mean, std = (rushlight.as_tensor(x, **kind) for x in (self.image_mean, self.image_std))
        return (image - mean[:, None, None]) / std[:, None, None]

    def torch_choice(self, k):
        """One of k, drawn with rushlight's generator."""
        return k[int(rushlight.empty(1).uniform_(0.0, float(len(k))).item())]

    def _wanted(self, height, width):
        # The arguments of interpolate() that give the wanted size.
        if self.fixed_size is not None:
            return {"size": (self.fixed_size[1], self.fixed_size[0])}
        shorter = self.torch_choice(self.min_size) if self.training else self.min_size[-1]
        scale = min(shorter / min(height, width), self.max_size / max(height, width))
        return {"scale_factor": scale, "recompute_scale_factor": True}

    def resize(self, image, target=None):
        """(the image at its new size, its target)."""
        old = image.shape[-2:]
        if self.training and self._skip_resize:
            return image, target
        if min(old) == 0:
            raise ValueError(
                f"an image without pixels cannot be resized, its shape is {image.shape}"
            )
        wanted = self._wanted(*old)
        image = interpolate(image[None], mode="bilinear", align_corners=False, **wanted)[0]
        if target is None:
            return image, target
        new = image.shape[-2:]
        target = dict(target, boxes=resize_boxes(target["boxes"], old, new))
        if "masks" in target:
            masks = target["masks"][:, None].float()
            # Without a mask there is nothing to interpolate.
            target["masks"] = (
                interpolate(masks, **wanted)[:, 0].byte()
                if len(masks)
                else target["masks"].new_zeros((0, *new), dtype=rushlight.uint8)
            )
        if "keypoints" in target:
            target["keypoints"] = resize_keypoints(target["keypoints"], old, new)
        return image, target

    def batch_images(self, images, size_divisible=32):
        """Images of several sizes as one tensor, with zeros at the right and at the bottom."""
        sizes = [max(sides) for sides in zip(*(image.shape for image in images), strict=True)]
        rows, columns = (math.ceil(side / size_divisible) * size_divisible for side in sizes[1:])
        batch = images[0].new_zeros((len(images), sizes[0], rows, columns))
        for image, place in zip(images, batch, strict=True):
            place[: image.shape[0], : image.shape[1], : image.shape[2]].copy_(image)
        return batch

    def postprocess(self, result, image_shapes, original_image_sizes):
        """What was found, in pixels of the images as they were."""
        if self.training:
            return result
        for found, seen, original in zip(result, image_shapes, original_image_sizes, strict=True):
            found["boxes"] = resize_boxes(found["boxes"], seen, original)
            if "masks" in found:
                found["masks"] = paste_masks_in_image(found["masks"], found["boxes"], original)
            if "keypoints" in found:
                found["keypoints"] = resize_keypoints(found["keypoints"], seen, original)
        return result

    def __repr__(self):
        sizes = f"min_size={self.min_size}, max_size={self.max_size}, mode='bilinear'"
        indent = "\n    "
        return (
            f"{type(self).__name__}({indent}Normalize(mean={self.image_mean}, "
            f"std={self.image_std}){indent}Resize({sizes})\n)"
        )
