"""TenCrop, and LinearTransformation, which whitens images."""

from rushlight import nn

from . import functional
from .transforms import CenterCrop


class TenCrop(CenterCrop):
    """The four corners and the middle, and the same of the flipped image, as a tuple.

    Args:
        size: of each, (height, width) or one int.
        vertical_flip: whether top and bottom are exchanged, instead of left and right.

    Shape: (*, c, h, w) gives ten of (*, c, *size).

    >>> from rushlight.vision import transforms
    >>> len(transforms.TenCrop(4)(torch.ones(3, 8, 16)))
    10
    """

    def __init__(self, size, vertical_flip=False):
        super().__init__(size)
        self.vertical_flip = vertical_flip

    def forward(self, img):
        return functional.ten_crop(img, self.size, self.vertical_flip)

    def __repr__(self):
        return f"{type(self).__name__}(size={self.size}, vertical_flip={self.vertical_flip})"


class LinearTransformation(nn.Module):
    """An image less a mean, as a row, times a matrix: whitening.

    Args:
        transformation_matrix: (n, n), where n is channels times height times width.
        mean_vector: (n).

    Shape: (..., channels, height, width), and the same.

    >>> from rushlight.vision import transforms
    >>> whiten = transforms.LinearTransformation(2 * torch.eye(4), torch.ones(4))
    >>> whiten(torch.tensor([[[1.0, 2.0], [3.0, 4.0]]]))
    tensor([[[0., 2.],
             [4., 6.]]])
    """

    def __init__(self, transformation_matrix, mean_vector):
        super().__init__()
        size = tuple(transformation_matrix.shape)
        if size[0] != size[1]:
            raise ValueError(
                f"transformation_matrix should be square. Got {size} rectangular matrix."
            )
        if mean_vector.shape[0] != size[0]:
            raise ValueError(
                f"mean_vector should have the same length {mean_vector.shape[0]} as any one of the "
                f"dimensions of the transformation_matrix [{size}]"
            )
        if transformation_matrix.device != mean_vector.device:
            raise ValueError(
                "Input tensors should be on the same device. Got "
                f"{transformation_matrix.device} and {mean_vector.device}"
            )
        self.transformation_matrix, self.mean_vector = transformation_matrix, mean_vector

    def forward(self, tensor):
        size, n = tuple(tensor.shape), len(self.mean_vector)
        if size[-3] * size[-2] * size[-1] != n:
            raise ValueError(
                "Input tensor and transformation matrix have incompatible shape."
                f"[{size[-3]} x {size[-2]} x {size[-1]}] != {n}"
            )
        if tensor.device != self.mean_vector.device:
            raise ValueError(
                "Input tensor should be on the same device as transformation matrix and mean "
                f"vector. Got {tensor.device} vs {self.mean_vector.device}"
            )
        rows = tensor.reshape(-1, n) - self.mean_vector
        return rows.mm(self.transformation_matrix).reshape(size)

    def __repr__(self):
        return (
            f"{type(self).__name__}(transformation_matrix={self.transformation_matrix.tolist()}, "
            f"mean_vector={self.mean_vector.tolist()})"
        )
