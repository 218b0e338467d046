"""Published weights of networks for videos, learned on Kinetics-400."""

from dataclasses import dataclass

from .._weights import Weights, published

CLASSES = 400


@dataclass(frozen=True)
class VideoWeights(Weights):
    """A file of weights, and how videos are resized, cropped and normalised for it."""

    classes: int = CLASSES
    frame_size: tuple[int, ...] = (128, 171)

    def transforms(self):
        """The preparation of a video."""
        return VideoClassification(self.crop_size, self.frame_size, self.mean, self.std)


class VideoClassification:
    """A video (..., frames, channels, height, width) resized, cropped in the middle, scaled to
    [0, 1], normalised, and given as (..., channels, frames, height, width).

    Args:
        crop_size: of the result, a number or (height, width).
        resize_size: (height, width) before the crop, or the shorter of them alone.
        mean: of each channel.
        std: of each channel.

    >>> weights = torch.vision.models.video.R3D_18_Weights.DEFAULT
    >>> weights.transforms()(torch.zeros(2, 3, 30, 40, dtype=torch.uint8)).shape
    torch.Size([3, 2, 112, 112])
    """

    def __init__(self, crop_size, resize_size, mean, std):
        self.crop_size, self.resize_size = crop_size, list(resize_size)
        self.mean, self.std = mean, std

    def __call__(self, vid):
        from ...transforms import functional

        frames = vid.reshape(-1, *vid.shape[-3:])
        frames = functional.resize(frames, self.resize_size, antialias=False)
        frames = functional.center_crop(frames, self.crop_size)
        frames = functional.convert_image_dtype(frames)
        frames = functional.normalize(frames, self.mean, self.std)
        return frames.reshape(*vid.shape[:-3], *frames.shape[1:]).transpose(-4, -3)


_CHANNELS = (0.43216, 0.394666, 0.37645), (0.22803, 0.22145, 0.216989)


def published_video(name, module, files, crop_size=112, frame_size=(128, 171), channels=_CHANNELS):
    """The enum of the weights of a network, and how videos are cropped and resized for it.

    `files` is one file, or those of each name; `channels` their mean and deviation.
    """
    values = (crop_size, frame_size[0], "bilinear", *channels, {}, CLASSES, frame_size)
    files = {"KINETICS400_V1": files} if isinstance(files, str) else files
    members = {key: (file, *values) for key, file in files.items()}
    return published(name, module, 0, VideoWeights, **members)
