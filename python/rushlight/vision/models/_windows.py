"""Images (n, h, w, channels) as windows, and the positions of pixels in a window."""

from ... import _C


def windows(x, size):
    """(n, h, w, channels) as (n * windows, pixels of a window, channels)."""
    n, h, w, channels = x.shape
    x = x.reshape(n, h // size[0], size[0], w // size[1], size[1], channels)
    return x.transpose(2, 3).reshape(-1, size[0] * size[1], channels)


def without_windows(x, size, image):
    """What windows() made, as (n, h, w, channels) for the (h, w) of the image."""
    h, w = image
    x = x.reshape(-1, h // size[0], w // size[1], size[0], size[1], x.shape[-1])
    return x.transpose(2, 3).reshape(-1, h, w, x.shape[-1])


def pair_index(size):
    """For each pair of pixels of a window, the number of their relative place."""
    rows, columns = size
    coords = _C.meshgrid(_C.arange(rows), _C.arange(columns), indexing="ij")
    y, x = (c.flatten() for c in coords)
    y = y[:, None] - y + rows - 1
    return y * (2 * columns - 1) + x[:, None] - x + columns - 1


def shifts_that_fit(shift, size, image):
    """No shift where one window is as large as the image."""
    return [0 if w >= whole else s for s, w, whole in zip(shift, size, image, strict=True)]


def window_mask(image, size, shift, like):
    """-100 for the pairs of pixels that lie beside each other only by rolling the image, else 0:
    (windows, pixels, pixels)."""
    parts = like.new_zeros(image)
    number = 0
    for rows in _parts(size[0], shift[0]):
        for columns in _parts(size[1], shift[1]):
            parts[rows, columns] = number
            number += 1
    parts = windows(parts[None, :, :, None], size).squeeze(-1)
    return (parts[:, None] != parts[:, :, None]).to(like.dtype) * -100.0


def _parts(size, shift):
    # An axis: what is in no last window, what is and came from there, and what was rolled in.
    return slice(0, -size), slice(-size, -shift or None), slice(-shift or None, None)
