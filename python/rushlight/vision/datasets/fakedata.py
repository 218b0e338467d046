"""FakeData: random images for trying a program out."""

import rushlight

from .vision import VisionDataset


class FakeData(VisionDataset):
    """Random images and labels; sample `i` is the same each time.

    Args:
        size: number of samples.
        image_size: (channels, height, width).
        num_classes: labels are below it.
        transform: takes the PIL image.
        target_transform: takes the label.
        random_offset: added to `i` for the seed.

    Raises:
        IndexError: an index of `size` or more.
    """

    def __init__(
        self,
        size=1000,
        image_size=(3, 224, 224),
        num_classes=10,
        transform=None,
        target_transform=None,
        random_offset=0,
    ):
        super().__init__(transform=transform, target_transform=target_transform)
        self.size = size
        self.num_classes = num_classes
        self.image_size = image_size
        self.random_offset = random_offset

    def __getitem__(self, index):
        from ..transforms.functional import to_pil_image

        if index >= len(self):
            raise IndexError(f"{type(self).__name__} index out of range")
        # The default generator draws, as in torchvision, and is put back as it was.
        state = rushlight.get_rng_state()
        rushlight.manual_seed(index + self.random_offset)
        pixels = rushlight.randn(*self.image_size)
        target = rushlight.randint(0, self.num_classes, size=(1,))[0]
        rushlight.set_rng_state(state)
        image = to_pil_image(pixels)
        if self.transform is not None:
            image = self.transform(image)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return image, target.item() if isinstance(target, rushlight.Tensor) else target

    def __len__(self):
        return self.size
