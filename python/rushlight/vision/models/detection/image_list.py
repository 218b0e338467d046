"""Images of several sizes in one tensor."""


class ImageList:
    """Images padded to one size, and the sizes they had.

    Args:
        tensors: the images (n, c, h, w).
        image_sizes: (height, width) of each without its padding.
    """

    def __init__(self, tensors, image_sizes):
        self.tensors, self.image_sizes = tensors, image_sizes

    def to(self, device):
        """The same on another device."""
        return ImageList(self.tensors.to(device), self.image_sizes)
