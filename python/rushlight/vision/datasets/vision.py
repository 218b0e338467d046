"""VisionDataset, the base of all data sets of images, and what they share."""

import os

import rushlight
from rushlight.utils.data import Dataset

from .._pillow import pillow


def _described(transform, head):
    first, *rest = repr(transform).splitlines() or [""]
    return [head + first, *(" " * len(head) + line for line in rest)]


class StandardTransform:
    """A transform for the image and one for the target, applied as a pair."""

    def __init__(self, transform=None, target_transform=None):
        self.transform = transform
        self.target_transform = target_transform

    def __call__(self, input, target):
        if self.transform is not None:
            input = self.transform(input)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return input, target

    def __repr__(self):
        lines = [type(self).__name__]
        if self.transform is not None:
            lines += _described(self.transform, "Transform: ")
        if self.target_transform is not None:
            lines += _described(self.target_transform, "Target transform: ")
        return "\n".join(lines)


class VisionDataset(Dataset):
    """Base class of data sets of images.

    Args:
        root: folder of the files.
        transforms: takes (image, target), gives both; excludes the two others.
        transform: takes the image.
        target_transform: takes the target.

    Raises:
        ValueError: `transforms` and one of the others.
    """

    _repr_indent = 4

    def __init__(self, root=None, transforms=None, transform=None, target_transform=None):
        self.root = os.path.expanduser(root) if isinstance(root, str) else root
        has_separate = transform is not None or target_transform is not None
        if transforms is not None and has_separate:
            raise ValueError(
                "Only transforms or transform/target_transform can be passed as argument"
            )
        self.transform = transform
        self.target_transform = target_transform
        self.transforms = (
            StandardTransform(transform, target_transform) if has_separate else transforms
        )

    def __len__(self):
        raise NotImplementedError(f"{type(self).__name__} must give __len__")

    def __repr__(self):
        body = [f"Number of datapoints: {len(self)}"]
        if self.root is not None:
            body.append(f"Root location: {self.root}")
        body += self.extra_repr().splitlines()
        if getattr(self, "transforms", None) is not None:
            body.append(repr(self.transforms))
        indent = " " * self._repr_indent
        return "\n".join([f"Dataset {type(self).__name__}", *(indent + line for line in body)])

    def extra_repr(self):
        """Lines that a subclass adds to the printed form."""
        return ""


class ArrayDataset(VisionDataset):
    """Base of the sets that hold all pixels in `data` and all labels in `targets`."""

    def _pixels(self):
        """The uint8 images as a tensor (n, c, h, w) that shares memory with `data`."""
        raise NotImplementedError

    def _image(self, index):
        """Image `index` as a uint8 array or tensor that PIL's fromarray takes."""
        raise NotImplementedError

    def __len__(self):
        return len(self.data)

    def __getitem__(self, index):
        image, target = self._image(index), int(self.targets[index])
        # What begins with ToTensor gets the same values from the array as from an image.
        if not _begins_with_to_tensor(self.transform):
            image = pillow().fromarray(image)
        if self.transform is not None:
            image = self.transform(image)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return image, target

    def gather(self, indices):
        """The batch at `indices` when the transform is ToTensor, alone or with Normalize."""
        rest = _plain_steps(self.transform)
        if rest is None or self.target_transform is not None:
            return None
        from ..transforms.functional import scale_bytes

        images = scale_bytes(self._pixels().index_select(0, indices))
        for step in rest:
            images = step(images)
        targets = self.targets
        if isinstance(targets, rushlight.Tensor):
            return [images, targets.index_select(0, indices)]
        return [images, rushlight.tensor([int(targets[i]) for i in indices.tolist()])]

    gather.replaces = __getitem__  # type: ignore[attr-defined]


def _steps(transform):
    from ..transforms.transforms import Compose

    return transform.transforms if type(transform) is Compose else [transform]


def _begins_with_to_tensor(transform):
    from ..transforms.transforms import ToTensor

    steps = _steps(transform)
    return len(steps) > 0 and type(steps[0]) is ToTensor


def _plain_steps(transform):
    """What follows ToTensor when a whole batch may pass through it; None when it may not."""
    from ..transforms.transforms import Normalize

    if not _begins_with_to_tensor(transform):
        return None
    rest = _steps(transform)[1:]
    return rest if all(type(step) is Normalize for step in rest) else None
