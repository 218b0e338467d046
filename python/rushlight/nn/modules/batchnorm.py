"""Batch normalisation (Ioffe and Szegedy, 2015)."""

import sys

from rushlight import _C
from rushlight.nn import functional as F
from rushlight.nn import init
from rushlight.nn.modules.lazy import LazyModuleMixin
from rushlight.nn.modules.module import Module
from rushlight.nn.parameter import Parameter, UninitializedBuffer, UninitializedParameter

__all__ = [
    "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "LazyBatchNorm1d", "LazyBatchNorm2d",
    "LazyBatchNorm3d", "SyncBatchNorm",
]  # fmt: skip


class _NormBase(Module):
    """Weight, bias and running statistics; instance normalisation has them too."""

    num_features: int
    eps: float
    momentum: float | None
    affine: bool
    track_running_stats: bool

    _version = 2

    def __init__(
        self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True,
        device=None, dtype=None, *, bias=True,
    ):  # fmt: skip
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        self._make_parameters(affine and bias, device, dtype)
        self.reset_parameters()

    def _make_parameters(self, bias, device, dtype):
        n = self.num_features
        for name, wanted in (("weight", self.affine), ("bias", bias)):
            value = Parameter(_C.empty(n, device=device, dtype=dtype)) if wanted else None
            self.register_parameter(name, value)
        if self.track_running_stats:
            self.register_buffer("running_mean", _C.zeros(n, device=device, dtype=dtype))
            self.register_buffer("running_var", _C.ones(n, device=device, dtype=dtype))
            count = _C.tensor(0, dtype=_C.int64, device=device)
            self.register_buffer("num_batches_tracked", count)
        else:
            for name in ("running_mean", "running_var", "num_batches_tracked"):
                self.register_buffer(name, None)

    def reset_running_stats(self):
        """Sets the statistics to mean 0 and variance 1."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self):
        """Sets the statistics, weight 1 and bias 0."""
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _check_input_dim(self, input):
        raise NotImplementedError

    def extra_repr(self):
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, bias={self.bias is not None}, "
            f"track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, *rest):
        version = local_metadata.get("version", None)
        if (version is None or version < 2) and self.track_running_stats:
            key = prefix + "num_batches_tracked"
            if key not in state_dict:  # files of torch before 0.4.1
                count = self.num_batches_tracked
                if count is None or count.device.type == "meta":
                    count = _C.tensor(0, dtype=_C.int64)
                state_dict[key] = count
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    _load_from_state_dict.waits = True  # type: ignore[attr-defined]


class _BatchNorm(_NormBase):
    def _count_batch(self):
        """Counts it in training; the weight of this batch in the running statistics."""
        momentum = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                momentum = 1.0 / float(self.num_batches_tracked)
        return momentum

    def forward(self, input):
        self._check_input_dim(input)
        momentum = self._count_batch()
        use_batch = self.training or (self.running_mean is None and self.running_var is None)
        tracked = not self.training or self.track_running_stats
        return F.batch_norm(
            input, self.running_mean if tracked else None, self.running_var if tracked else None,
            self.weight, self.bias, use_batch, momentum, self.eps,
        )  # fmt: skip


class BatchNorm1d(_BatchNorm):
    """(x - mean) / sqrt(var + eps) * weight + bias, per channel of a batch (Ioffe and Szegedy,
    2015).

    Args: as of BatchNorm2d.

    Shape: (n, c) or (n, c, l) to the same.

    >>> torch.nn.BatchNorm1d(1)(torch.tensor([[-1.0], [1.0]])).detach()
    tensor([[-1.0000],
            [ 1.0000]])
    """

    def _check_input_dim(self, input):
        if input.dim() not in (2, 3):
            raise ValueError(f"expected 2D or 3D input (got {input.dim()}D input)")


class BatchNorm2d(_BatchNorm):
    """(x - mean) / sqrt(var + eps) * weight + bias, per channel of a batch (Ioffe and Szegedy,
    2015).

    Training uses the statistics of the batch and moves the running ones towards them; evaluation
    uses the running ones.

    Args:
        num_features: number of channels c.
        eps: added to the variance.
        momentum: weight of the batch in the running statistics; None for the mean over all batches.
        affine: whether there are weight and bias.
        track_running_stats: without, evaluation too uses the batch.
        device, dtype: of the parameters.
        bias: whether there is a bias, if affine.

    Shape: (n, c, h, w) to the same.

    >>> torch.nn.BatchNorm2d(3)(torch.ones(2, 3, 4, 4)).shape
    torch.Size([2, 3, 4, 4])
    """

    def _check_input_dim(self, input):
        if input.dim() != 4:
            raise ValueError(f"expected 4D input (got {input.dim()}D input)")


class BatchNorm3d(_BatchNorm):
    """(x - mean) / sqrt(var + eps) * weight + bias, per channel of a batch of volumes.

    Args: as of BatchNorm2d.

    Shape: (n, c, d, h, w) to the same.

    >>> torch.nn.BatchNorm3d(3)(torch.ones(2, 3, 2, 2, 2)).shape
    torch.Size([2, 3, 2, 2, 2])
    """

    def _check_input_dim(self, input):
        if input.dim() != 5:
            raise ValueError(f"expected 5D input (got {input.dim()}D input)")


class SyncBatchNorm(_BatchNorm):
    """BatchNorm with the statistics of the batches of all processes of a group, in training.

    Batches may differ in size, or be empty. In evaluation, with one process, or without a process
    group, it is BatchNorm.

    Args: as of BatchNorm2d.
        process_group: the default group where it is None.

    Shape: (n, c, *) to the same.

    >>> torch.nn.SyncBatchNorm(3)(torch.ones(2, 3, 4)).shape
    torch.Size([2, 3, 4])
    """

    def __init__(
        self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True,
        process_group=None, device=None, dtype=None, *, bias=True,
    ):  # fmt: skip
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device=device, dtype=dtype,
            bias=bias,
        )  # fmt: skip
        self.process_group = process_group

    def _check_input_dim(self, input):
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")
        if input.size(1) == 0:
            raise ValueError("SyncBatchNorm number of input channels should be non-zero")

    def forward(self, input):
        group = self._group() if self.training else None
        if group is None:
            return super().forward(input)
        self._check_input_dim(input)
        if input.size(1) != self.num_features:
            raise RuntimeError(
                f"running_mean should contain {input.size(1)} elements not {self.num_features}"
            )
        from rushlight.nn.modules._functions import SyncBatchNorm as function

        momentum = self._count_batch()
        tracked = self.track_running_stats
        return function.apply(
            input, self.weight, self.bias, self.running_mean if tracked else None,
            self.running_var if tracked else None, self.eps, momentum, group,
        )  # fmt: skip

    def _group(self):
        """The group whose statistics count; None where this process is alone."""
        distributed = sys.modules.get("rushlight.distributed")
        if distributed is None or not distributed.is_initialized():
            return None
        group = self.process_group or distributed.group.WORLD
        return group if group.size() > 1 else None

    @classmethod
    def convert_sync_batchnorm(cls, module, process_group=None):
        """Replaces each batch norm in `module` by a SyncBatchNorm of the same state.

        Args:
            module: the model; returned, or its replacement if it is a batch norm itself.
            process_group: of the new modules.
        """
        out = module
        if isinstance(module, _BatchNorm):
            out = cls(
                module.num_features, module.eps, module.momentum, module.affine,
                module.track_running_stats, process_group,
            )  # fmt: skip
            for name in ("weight", "bias", "running_mean", "running_var", "num_batches_tracked"):
                setattr(out, name, getattr(module, name))
            out.training = module.training
        for name, child in module.named_children():
            out.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return out


class _LazyNormBase(LazyModuleMixin):
    """What the lazy normalisations share: `num_features` comes from the first input."""

    def __init__(
        self, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, device=None,
        dtype=None, *, bias=True,
    ):  # fmt: skip
        super().__init__(0, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _make_parameters(self, bias, device, dtype):
        super()._make_parameters(bias, device, dtype)
        where = {"device": device, "dtype": dtype}
        if self.affine:
            self.weight = UninitializedParameter(**where)
        if bias:
            self.bias = UninitializedParameter(**where)
        if self.track_running_stats:
            self.running_mean = UninitializedBuffer(**where)
            self.running_var = UninitializedBuffer(**where)

    def reset_parameters(self):
        """Sets the statistics, weight and bias, if they have a shape."""
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input):
        """Takes the number of features from an input."""
        if self.has_uninitialized_params():
            self.num_features = input.shape[1]
            for tensor in (self.weight, self.bias, self.running_mean, self.running_var):
                if tensor is not None:
                    tensor.materialize((self.num_features,))
            self.reset_parameters()


class LazyBatchNorm1d(_LazyNormBase, BatchNorm1d):
    """A BatchNorm1d whose `num_features` is taken from the first input.

    Args: as of BatchNorm2d.

    Shape: (n, c) or (n, c, l) to the same.

    >>> torch.nn.LazyBatchNorm1d()(torch.ones(2, 3)).shape
    torch.Size([2, 3])
    """

    cls_to_become = BatchNorm1d


class LazyBatchNorm2d(_LazyNormBase, BatchNorm2d):
    """A BatchNorm2d whose `num_features` is taken from the first input.

    Args: as of BatchNorm2d.

    Shape: (n, c, h, w) to the same.

    >>> layer = torch.nn.LazyBatchNorm2d()
    >>> layer(torch.ones(2, 3, 4, 4)).shape, layer.num_features
    (torch.Size([2, 3, 4, 4]), 3)
    """

    cls_to_become = BatchNorm2d


class LazyBatchNorm3d(_LazyNormBase, BatchNorm3d):
    """A BatchNorm3d whose `num_features` is taken from the first input.

    Args: as of BatchNorm2d.

    Shape: (n, c, d, h, w) to the same.

    >>> torch.nn.LazyBatchNorm3d()(torch.ones(2, 3, 1, 1, 2)).shape
    torch.Size([2, 3, 1, 1, 2])
    """

    cls_to_become = BatchNorm3d
