"""Changes of an image, drawn with their strengths: AutoAugment, RandAugment, TrivialAugmentWide and
AugMix.
"""

import math
from enum import Enum

import rushlight
from rushlight import nn

from . import _policies, functional
from ._image import InterpolationMode, get_dimensions, interpolation_mode

__all__ = ["AugMix", "AutoAugment", "AutoAugmentPolicy", "RandAugment", "TrivialAugmentWide"]

_FACTORS = {
    "Brightness": "adjust_brightness",
    "Color": "adjust_saturation",
    "Contrast": "adjust_contrast",
    "Sharpness": "adjust_sharpness",
}
_PLAIN = {"AutoContrast": "autocontrast", "Equalize": "equalize", "Invert": "invert"}


def changed(functional, img, name, strength, mode, fill):
    """`img` after the change of this name, by functions of v1 or of v2."""
    if name in _PLAIN:
        return getattr(functional, _PLAIN[name])(img)
    if name in _FACTORS:
        return getattr(functional, _FACTORS[name])(img, 1.0 + strength)
    if name.startswith("Shear"):
        angle = math.degrees(math.atan(strength))
        shear = [angle, 0.0] if name == "ShearX" else [0.0, angle]
        return functional.affine(img, 0.0, [0, 0], 1.0, shear, mode, fill, [0, 0])
    if name.startswith("Translate"):
        move = [int(strength), 0] if name == "TranslateX" else [0, int(strength)]
        return functional.affine(img, 0.0, move, 1.0, [0.0, 0.0], mode, fill)
    if name == "Rotate":
        return functional.rotate(img, strength, mode, fill=fill)
    if name == "Posterize":
        return functional.posterize(img, int(strength))
    if name == "Solarize":
        return functional.solarize(img, strength)
    return img


def _space(white, count, shear, x, y, angle, factor, bits, least):
    """Of each change: its strengths, none if it has only one, and whether they have a sign.

    The arguments are the value of white, how many strengths there are, and the greatest of each
    kind; Posterize takes from `bits` down to `least`.
    """

    def up_to(most):
        return rushlight.linspace(0.0, most, count)

    taken = (rushlight.arange(count) / ((count - 1) / (bits - least))).round().int()
    return {
        "Identity": (None, False),
        "ShearX": (up_to(shear), True),
        "ShearY": (up_to(shear), True),
        "TranslateX": (up_to(x), True),
        "TranslateY": (up_to(y), True),
        "Rotate": (up_to(angle), True),
        **{name: (up_to(factor), True) for name in ("Brightness", "Color", "Contrast")},
        "Sharpness": (up_to(factor), True),
        "Posterize": (bits - taken, False),
        "Solarize": (rushlight.linspace(white, 0.0, count), False),
        "AutoContrast": (None, False),
        "Equalize": (None, False),
    }


def _below(stop):
    return int(rushlight.randint(stop, (1,)))


class _Drawn(nn.Module):
    # What the four have in common: how pixels are looked up, and what comes into view.
    _functional = functional
    _white = 255.0

    def __init__(self, interpolation, fill):
        super().__init__()
        self.interpolation, self.fill = interpolation_mode(interpolation), fill

    def _strengths(self, count, height, width):
        across, down = 150.0 / 331.0 * width, 150.0 / 331.0 * height
        return _space(self._white, count, 0.3, across, down, 30.0, 0.9, 8, 4)

    def _done(self, img, name, strength, negative=False):
        strength = -strength if negative else strength
        how = (self.interpolation, self.fill)
        return changed(self._functional, img, name, strength, *how)

    def _drawn(self, img, table, place):
        """After a change of the table at the place-th of its strengths; the sign is drawn."""
        name = list(table)[_below(len(table))]
        strengths, signed = table[name]
        strength = 0.0 if strengths is None else float(strengths[place(len(strengths))])
        return self._done(img, name, strength, signed and self._is_negative())

    def _is_negative(self):
        return bool(_below(2))

    def __repr__(self):
        return f"{type(self).__name__}({self.extra_repr()})"

    def extra_repr(self):
        """The arguments."""
        hidden = ("training", "policies")
        own = {k: v for k, v in vars(self).items() if k[0] != "_" and k not in hidden}
        own["interpolation"], own["fill"] = own.pop("interpolation"), own.pop("fill")
        return ", ".join(f"{name}={value}" for name, value in own.items())


class TrivialAugmentWide(_Drawn):
    """One of fourteen changes, each as likely as the others.

    Args:
        num_magnitude_bins: how many strengths there are.
        interpolation: an InterpolationMode for what is moved.
        fill: what comes into view at the edges; 0 if None.

    Shape: a PIL image, or a tensor (..., 1 or 3, height, width) of uint8.

    Source: Müller and Hutter, TrivialAugment, 2021.

    >>> from rushlight.vision import transforms
    >>> transforms.TrivialAugmentWide()(torch.zeros(3, 4, 5, dtype=torch.uint8)).shape
    torch.Size([3, 4, 5])
    """

    def __init__(self, num_magnitude_bins=31, interpolation=InterpolationMode.NEAREST, fill=None):
        super().__init__(interpolation, fill)
        self.num_magnitude_bins = num_magnitude_bins

    def forward(self, img):
        """The image after a drawn change."""
        table = self._strengths(self.num_magnitude_bins, *get_dimensions(img)[1:])
        return self._drawn(img, table, _below)

    def _strengths(self, count, height, width):
        return _space(self._white, count, 0.99, 32.0, 32.0, 135.0, 0.99, 8, 2)


class RandAugment(_Drawn):
    """Some changes one after another, each drawn, all of one strength.

    Args:
        num_ops: how many changes.
        magnitude: their strength, an index below num_magnitude_bins.
        num_magnitude_bins: how many strengths there are.
        interpolation: an InterpolationMode for what is moved.
        fill: what comes into view at the edges; 0 if None.

    Shape: a PIL image, or a tensor (..., 1 or 3, height, width) of uint8.

    Source: Cubuk et al., RandAugment, 2020.

    >>> from rushlight.vision import transforms
    >>> transforms.RandAugment()(torch.zeros(3, 4, 5, dtype=torch.uint8)).shape
    torch.Size([3, 4, 5])
    """

    def __init__(
        self, num_ops=2, magnitude=9, num_magnitude_bins=31,
        interpolation=InterpolationMode.NEAREST, fill=None,
    ):  # fmt: skip
        super().__init__(interpolation, fill)
        self.num_ops, self.magnitude = num_ops, magnitude
        self.num_magnitude_bins = num_magnitude_bins

    def forward(self, img):
        """The image after drawn changes."""
        table = self._strengths(self.num_magnitude_bins, *get_dimensions(img)[1:])
        for _ in range(self.num_ops):
            img = self._drawn(img, table, lambda count: self.magnitude)
        return img


class AutoAugmentPolicy(Enum):
    """The data that a policy of AutoAugment was learned on.

    >>> from rushlight.vision import transforms
    >>> transforms.AutoAugmentPolicy("svhn").name
    'SVHN'
    """

    IMAGENET = "imagenet"
    CIFAR10 = "cifar10"
    SVHN = "svhn"


class AutoAugment(_Drawn):
    """A pair of changes, of 25 that were learned on a set of data.

    Args:
        policy: an AutoAugmentPolicy.
        interpolation: an InterpolationMode for what is moved.
        fill: what comes into view at the edges; 0 if None.

    Shape: a PIL image, or a tensor (..., 1 or 3, height, width) of uint8.

    Source: Cubuk et al., AutoAugment, 2019.

    >>> from rushlight.vision import transforms
    >>> transforms.AutoAugment()(torch.zeros(3, 4, 5, dtype=torch.uint8)).shape
    torch.Size([3, 4, 5])
    """

    def __init__(
        self, policy=AutoAugmentPolicy.IMAGENET, interpolation=InterpolationMode.NEAREST,
        fill=None,
    ):  # fmt: skip
        super().__init__(interpolation, fill)
        if not isinstance(policy, AutoAugmentPolicy):
            raise ValueError(
                f"The provided policy {policy} is not recognized.\nAutoAugmentPolicy has "
                f"{', '.join(AutoAugmentPolicy.__members__)}"
            )
        self.policy = policy
        self.policies = _policies.pairs(getattr(_policies, policy.name))

    @staticmethod
    def get_params(transform_num):
        """(which pair, two numbers in [0, 1) that decide what is done, two signs).

        Args:
            transform_num: how many pairs there are.
        """
        return _below(transform_num), rushlight.rand((2,)), rushlight.randint(2, (2,))

    def forward(self, img):
        """The image after a drawn pair of changes."""
        table = self._strengths(10, *get_dimensions(img)[1:])
        for name, at, is_negative in self._pair():
            strengths, signed = table.get(name, (None, False))
            strength = 0.0 if at is None or strengths is None else float(strengths[at])
            img = self._done(img, name, strength, signed and is_negative())
        return img

    def _pair(self):
        """(name, strength, whether it is negative, a function) of what is done."""
        pair, chances, signs = self.get_params(len(self.policies))
        for i, (name, probability, at) in enumerate(self.policies[pair]):
            if chances[i] <= probability:
                yield name, at, lambda sign=signs[i]: bool(sign == 0)


class AugMix(_Drawn):
    """Mixture of an image with several chains of changes of it.

    Args:
        severity: the greatest strength of a change, from 1 to 10.
        mixture_width: how many chains.
        chain_depth: changes of a chain; drawn from 1 to 3 if not positive.
        alpha: of the Beta and Dirichlet distributions that weights are drawn from.
        all_ops: whether brightness, colour, contrast and sharpness are changed too.
        interpolation: an InterpolationMode for what is moved.
        fill: what comes into view at the edges; 0 if None.

    Shape: a PIL image, or a tensor (..., 1 or 3, height, width) of uint8.

    Source: Hendrycks et al., AugMix, 2020.

    >>> from rushlight.vision import transforms
    >>> transforms.AugMix()(torch.zeros(3, 4, 5, dtype=torch.uint8)).shape
    torch.Size([3, 4, 5])
    """

    def __init__(
        self, severity=3, mixture_width=3, chain_depth=-1, alpha=1.0, all_ops=True,
        interpolation=InterpolationMode.BILINEAR, fill=None,
    ):  # fmt: skip
        super().__init__(interpolation, fill)
        if not 1 <= severity <= 10:
            raise ValueError(f"The severity must be between [1, 10]. Got {severity} instead.")
        self.severity, self.mixture_width, self.chain_depth = severity, mixture_width, chain_depth
        self.alpha, self.all_ops = alpha, all_ops

    def _strengths(self, count, height, width):
        table = _space(self._white, count, 0.3, width / 3.0, height / 3.0, 30.0, 0.9, 4, 0)
        del table["Identity"]
        late = {name: table.pop(name) for name in _FACTORS}
        return table | late if self.all_ops else table

    def _weights(self, count, batch):
        drawn = rushlight.distributions.Dirichlet(rushlight.full((batch, count), self.alpha))
        return drawn.sample()

    def forward(self, img):
        """The image, mixed."""
        image = img if isinstance(img, rushlight.Tensor) else functional.pil_to_tensor(img)
        table = self._strengths(10, *get_dimensions(image)[1:])
        batch = image.reshape([1] * max(4 - image.dim(), 0) + list(image.shape))
        ones = [1] * (batch.dim() - 1)
        own = self._weights(2, batch.shape[0])
        chains = self._weights(self.mixture_width, batch.shape[0]) * own[:, 1:]
        mix = own[:, 0].reshape(-1, *ones) * batch
        for i in range(self.mixture_width):
            changed = batch
            depth = self.chain_depth if self.chain_depth > 0 else int(rushlight.randint(1, 4, (1,)))
            for _ in range(depth):
                changed = self._drawn(changed, table, lambda count: _below(self.severity))
            mix = mix + chains[:, i].reshape(-1, *ones) * changed
        mix = mix.reshape(image.shape).to(image.dtype)
        return mix if image is img else functional.to_pil_image(mix)
