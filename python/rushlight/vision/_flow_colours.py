"""Optical flow as colours (Baker et al., 2011): the direction is the hue, speed its strength."""

import math

import rushlight

__all__ = ["flow_to_image"]

# From each colour of the wheel to the next: how many steps, the channel that changes, up or down.
_WHEEL = ((15, 1, 1), (6, 0, -1), (4, 2, 1), (11, 1, -1), (13, 0, 1), (6, 2, -1))


def _wheel(device):
    # (55, 3): red, yellow, green, cyan, blue, magenta, and back to red.
    colours, now = [], [255, 0, 0]
    for steps, channel, sign in _WHEEL:
        for i in range(steps):
            moved = list(now)
            moved[channel] += sign * math.floor(255 * i / steps)
            colours.append(moved)
        now[channel] += sign * 255
    return rushlight.tensor(colours, dtype=rushlight.float32, device=device) / 255


def flow_to_image(flow):
    """Flows as pictures: white where nothing moves, and a hue for each direction.

    Args:
        flow: how far each pixel moves to the right and down, of float32.

    Shape:
        (2, h, w) gives (3, h, w) of uint8; a batch (n, 2, h, w) gives (n, 3, h, w).

    Raises:
        ValueError: for another dtype or shape.

    >>> from rushlight.vision.utils import flow_to_image
    >>> flow_to_image(torch.tensor([1.0, 0.0]).reshape(2, 1, 1)).flatten().tolist()
    [255, 0, 0]
    """
    if flow.dtype != rushlight.float32:
        raise ValueError(f"Flow should be of dtype torch.float, got {flow.dtype}.")
    if flow.dim() not in (3, 4) or flow.shape[-3] != 2:
        raise ValueError(
            f"Input flow should have shape (2, H, W) or (N, 2, H, W), got {flow.shape}."
        )
    right, down = flow.unbind(-3)
    longest = (right**2 + down**2).sqrt().max()
    scale = longest + rushlight.finfo(rushlight.float32).eps
    right, down = right / scale, down / scale
    speed = (right**2 + down**2).sqrt().unsqueeze(-1)
    wheel = _wheel(flow.device)
    place = (rushlight.atan2(-down, -right) / math.pi + 1) / 2 * (len(wheel) - 1)
    before = place.floor().long()
    part = (place - before).unsqueeze(-1)
    colour = (1 - part) * wheel[before] + part * wheel[(before + 1) % len(wheel)]
    colour = 255 * (1 - speed * (1 - colour))
    return colour.floor().to(rushlight.uint8).movedim(-1, -3).contiguous()
