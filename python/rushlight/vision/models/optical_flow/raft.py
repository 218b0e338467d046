"""RAFT (Teed and Deng, 2020): a recurrent network improves the flow from step to step."""

from dataclasses import dataclass

from .... import cat, nn
from ....nn import functional
from .._weights import Weights, published, with_weights
from ._blocks import (
    BottleneckBlock,
    FeatureEncoder,
    FlowHead,
    MaskPredictor,
    MotionEncoder,
    RecurrentBlock,
    ResidualBlock,
    UpdateBlock,
)
from ._flow import CorrBlock, coordinates, enlarged

__all__ = ["RAFT", "Raft_Large_Weights", "Raft_Small_Weights", "raft_large", "raft_small"]


@dataclass(frozen=True)
class FlowWeights(Weights):
    """A file of weights, and how two images are prepared for it."""

    def transforms(self):
        """The preparation of two images."""
        return OpticalFlow()


class OpticalFlow:
    """Two images, or batches of them, as tensors between -1 and 1.

    >>> weights = torch.vision.models.optical_flow.Raft_Small_Weights.DEFAULT
    >>> image = torch.full((3, 2, 2), 255, dtype=torch.uint8)
    >>> weights.transforms()(image, image)[0].unique()
    tensor([1.])
    """

    def __call__(self, img1, img2):
        from ...transforms import functional as images

        prepared = []
        for image in (img1, img2):
            if not hasattr(image, "is_floating_point"):
                image = images.pil_to_tensor(image)
            image = images.convert_image_dtype(image)
            prepared.append(images.normalize(image, [0.5] * 3, [0.5] * 3).contiguous())
        return tuple(prepared)


class RAFT(nn.Module):
    """The flow between two images, after each of several steps.

    Args:
        feature_encoder: of both images; its rows and columns are an eighth of theirs.
        context_encoder: of the first image: what the state begins with, and what it is told.
        corr_block: compares the features, a CorrBlock.
        update_block: the step, an UpdateBlock.
        mask_predictor: of the weights by which the flow is enlarged; bilinear if None.

    Shape: two images (n, 3, h, w), of multiples of 8 pixels, give a list of flows (n, 2, h, w).

    Raises:
        ValueError: for images of other shapes, or of less than 128 x 128 pixels.
    """

    def __init__(
        self, *, feature_encoder, context_encoder, corr_block, update_block, mask_predictor=None
    ):
        super().__init__()
        if not hasattr(update_block, "hidden_state_size"):
            raise ValueError("The update_block parameter should expose a 'hidden_state_size'.")
        self.feature_encoder = feature_encoder
        self.context_encoder = context_encoder
        self.corr_block = corr_block
        self.update_block = update_block
        self.mask_predictor = mask_predictor

    def forward(self, image1, image2, num_flow_updates=12):
        """The flow after each step, as a list."""
        n, _, h, w = image1.shape
        if image1.shape[-2:] != image2.shape[-2:]:
            raise ValueError(
                f"input images should have the same shape, instead got ({h}, {w}) != "
                f"{tuple(image2.shape[-2:])}"
            )
        if h % 8 or w % 8:
            raise ValueError(
                f"input image H and W should be divisible by 8, instead got {h} (h) and {w} (w)"
            )
        first, second = self.feature_encoder(cat([image1, image2])).chunk(2)
        if first.shape[-2:] != (h // 8, w // 8):
            raise ValueError("The feature encoder should downsample H and W by 8")
        self.corr_block.build_pyramid(first, second)
        size = self.update_block.hidden_state_size
        context = self.context_encoder(image1)
        if context.shape[1] <= size:
            raise ValueError(
                f"The context encoder outputs {context.shape[1]} channels, but it should have at "
                f"strictly more than hidden_state={size} channels"
            )
        state = context[:, :size].tanh()
        context = functional.relu(context[:, size:])
        start = coordinates(n, h // 8, w // 8, first.device)
        at, flows = start, []
        for _ in range(num_flow_updates):
            at = at.detach()
            found = self.corr_block.index_pyramid(at)
            state, change = self.update_block(state, context, found, at - start)
            at = at + change
            weights = None if self.mask_predictor is None else self.mask_predictor(state)
            flows.append(enlarged(at - start, weights))
        return flows


def _made(encoders, radius, motion, recurrent, head, mask, config):
    """A RAFT of these sizes, with parts of `config` in their place."""
    parts = "feature_encoder context_encoder corr_block update_block mask_predictor".split()
    given = [config.pop(part, None) for part in parts]
    features, context, corr, update, predictor = given
    block, layers, hidden, norms = encoders
    features = features or FeatureEncoder(block=block, layers=layers, norm_layer=norms[0])
    context = context or FeatureEncoder(
        block=block, layers=(*layers[:4], hidden + recurrent["context"]), norm_layer=norms[1]
    )
    corr = corr or CorrBlock(num_levels=4, radius=radius)
    if update is None:
        encoder = MotionEncoder(in_channels_corr=corr.out_channels, **motion)
        unit = RecurrentBlock(
            input_size=encoder.out_channels + recurrent["context"],
            hidden_size=hidden,
            kernel_size=recurrent["kernel_size"],
            padding=recurrent["padding"],
        )
        update = UpdateBlock(
            motion_encoder=encoder,
            recurrent_block=unit,
            flow_head=FlowHead(in_channels=hidden, hidden_size=head),
        )
    if predictor is None and mask:
        predictor = MaskPredictor(in_channels=hidden, hidden_size=256, multiplier=0.25)
    return RAFT(
        feature_encoder=features, context_encoder=context, corr_block=corr, update_block=update,
        mask_predictor=predictor, **config,
    )  # fmt: skip


def _weights(name, **files):
    found = {key: (f"raft_{name.lower()}_{key}-{code}.pth",) for key, code in files.items()}
    best = -3 if len(files) == 6 else -1
    return published(f"Raft_{name}_Weights", __name__, best, FlowWeights, **found)


Raft_Large_Weights = _weights(
    "Large", C_T_V1="22a6c225", C_T_V2="1bb1363a", C_T_SKHT_V1="0b8c9e55",
    C_T_SKHT_V2="ff5fadd5", C_T_SKHT_K_V1="4a6a5039", C_T_SKHT_K_V2="b5c70766",
)  # fmt: skip
Raft_Small_Weights = _weights("Small", C_T_V1="ad48884c", C_T_V2="01064c6d")


@with_weights(Raft_Large_Weights, classes=None)
def raft_large(**config):
    """RAFT, as published.

    Args:
        config: parts of RAFT to put in place of its own.
    """
    return _made(
        (ResidualBlock, (64, 64, 96, 128, 256), 128, (nn.InstanceNorm2d, nn.BatchNorm2d)), 4,
        {"corr_layers": (256, 192), "flow_layers": (128, 64), "out_channels": 128},
        {"context": 128, "kernel_size": ((1, 5), (5, 1)), "padding": ((0, 2), (2, 0))},
        256, True, config,
    )  # fmt: skip


@with_weights(Raft_Small_Weights, classes=None)
def raft_small(**config):
    """RAFT of few channels.

    Args:
        config: parts of RAFT to put in place of its own.
    """
    return _made(
        (BottleneckBlock, (32, 32, 64, 96, 128), 96, (nn.InstanceNorm2d, None)), 3,
        {"corr_layers": (96,), "flow_layers": (64, 32), "out_channels": 82},
        {"context": 64, "kernel_size": (3,), "padding": (1,)},
        128, False, config,
    )  # fmt: skip
