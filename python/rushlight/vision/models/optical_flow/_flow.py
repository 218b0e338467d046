"""What RAFT computes without parameters: correlations of all pixels, and the flow enlarged."""

from .... import arange, cat, linspace, meshgrid, nn, stack
from ....nn import functional


def coordinates(batch, h, w, device):
    """(batch, 2, h, w): the column and the row of each pixel."""
    rows, columns = meshgrid(arange(h, device=device), arange(w, device=device), indexing="ij")
    return stack([columns, rows]).float().repeat(batch, 1, 1, 1)


def sample(image, at):
    """The image at positions (column, row) in pixels, interpolated; 0 outside.

    Args:
        image: (n, c, h, w).
        at: (n, rows, columns, 2).
    """
    h, w = image.shape[-2:]
    column, row = at.unbind(-1)
    column = 2 * column / (w - 1) - 1
    if h > 1:
        row = 2 * row / (h - 1) - 1
    return functional.grid_sample(image, stack([column, row], -1), align_corners=True)


def enlarged(flow, weights=None, factor=8):
    """A flow of more pixels, and of as many times its length.

    Args:
        flow: (n, 2, h, w).
        weights: (n, 9 * factor * factor, h, w) of its neighbours, before their softmax; bilinear
            if None.
        factor: how many times as many rows and columns.
    """
    n, c, h, w = flow.shape
    size = (factor * h, factor * w)
    if weights is None:
        return factor * functional.interpolate(flow, size, mode="bilinear", align_corners=True)
    weights = weights.view(n, 1, 9, factor, factor, h, w).softmax(2)
    neighbours = functional.unfold(factor * flow, 3, padding=1).view(n, c, 9, 1, 1, h, w)
    return (weights * neighbours).sum(2).permute(0, 1, 4, 2, 5, 3).reshape(n, c, *size)


class CorrBlock(nn.Module):
    """The products of all pixels' features of two images, and of ever coarser second images.

    Args:
        num_levels: how many images, each half as large as the one before.
        radius: how far around a position they are read.
    """

    def __init__(self, *, num_levels=4, radius=4):
        super().__init__()
        self.num_levels, self.radius = num_levels, radius
        self.corr_pyramid = []
        self.out_channels = num_levels * (2 * radius + 1) ** 2

    def build_pyramid(self, fmap1, fmap2):
        """Computes the products, of features (n, c, h, w).

        Raises:
            ValueError: if the shapes differ, or the last level would have less than two pixels.
        """
        if fmap1.shape != fmap2.shape:
            raise ValueError(
                "Input feature maps should have the same shape, instead got "
                f"{fmap1.shape} (fmap1.shape) != {fmap2.shape} (fmap2.shape)"
            )
        n, c, h, w = fmap1.shape
        least = 2 * 2 ** (self.num_levels - 1)
        if min(h, w) < least:
            raise ValueError(
                "Feature maps are too small to be down-sampled by the correlation pyramid. H and W "
                f"of feature maps should be at least {least}; got: {(h, w)}. Remember that input "
                "images to the model are downsampled by 8, so that means their dimensions should "
                f"be at least 8 * {least} = {8 * least}."
            )
        products = fmap1.flatten(2).transpose(1, 2) @ fmap2.flatten(2) / c**0.5
        level = products.reshape(n * h * w, 1, h, w)
        self.corr_pyramid = [level]
        for _ in range(self.num_levels - 1):
            level = functional.avg_pool2d(level, 2, 2)
            self.corr_pyramid.append(level)

    def index_pyramid(self, centroids_coords):
        """The products around each pixel: (n, 2, h, w) gives (n, out_channels, h, w).

        Raises:
            ValueError: if the features have another number of pixels.
        """
        n, _, h, w = centroids_coords.shape
        side = 2 * self.radius + 1
        steps = linspace(-self.radius, self.radius, side, device=centroids_coords.device)
        around = stack(meshgrid(steps, steps, indexing="ij"), -1).view(1, side, side, 2)
        centre = centroids_coords.permute(0, 2, 3, 1).reshape(n * h * w, 1, 1, 2)
        if not self.corr_pyramid or len(self.corr_pyramid[0]) != len(centre):
            raise ValueError(
                f"Output shape of index pyramid is incorrect: there are positions of {len(centre)} "
                f"pixels, and products of {len(self.corr_pyramid and self.corr_pyramid[0])}"
            )
        found = []
        for level in self.corr_pyramid:
            found.append(sample(level, centre + around).view(n, h, w, -1))
            centre = centre / 2
        return cat(found, -1).permute(0, 3, 1, 2).contiguous()
