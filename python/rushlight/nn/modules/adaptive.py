"""The softmax over many classes of which few are frequent (Grave et al., 2017)."""

from typing import NamedTuple

from rushlight import _C
from rushlight.nn import functional as F
from rushlight.nn.modules.container import ModuleList, Sequential
from rushlight.nn.modules.linear import Linear
from rushlight.nn.modules.module import Module

__all__ = ["AdaptiveLogSoftmaxWithLoss"]


class _ASMoutput(NamedTuple):
    output: _C.Tensor
    loss: _C.Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """An approximation of softmax for many classes, the frequent ones cheap (Grave et al., 2016):
    log_softmax over the frequent classes and the clusters, then within a cluster.

    Args:
        in_features: features of the input.
        n_classes: number of classes, the most frequent first.
        cutoffs: the first class of each cluster, increasing.
        div_value: each cluster has so many times fewer features than the one before.
        head_bias: whether the first step has a bias.
        device, dtype: of the parameters.

    Shape: input (n, in_features), target (n), both with or without n; returns the targets'
    log-probabilities (n) as `output` and the mean loss as `loss`.

    >>> layer = torch.nn.AdaptiveLogSoftmaxWithLoss(8, 10, [3, 6], div_value=2.0)
    >>> layer(torch.ones(4, 8), torch.tensor([0, 4, 7, 9])).output.shape
    torch.Size([4])
    """

    in_features: int
    n_classes: int
    cutoffs: list[int]
    div_value: float
    head_bias: bool
    head: Linear
    tail: ModuleList

    def __init__(
        self, in_features, n_classes, cutoffs, div_value=4.0, head_bias=False, device=None,
        dtype=None,
    ):  # fmt: skip
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if (
            cutoffs != sorted(set(cutoffs))
            or cutoffs[0] <= 0
            or cutoffs[-1] > n_classes - 1
            or any(int(c) != c for c in cutoffs)
        ):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing "
                f"order, where each value is between 1 and n_classes-1, got {cutoffs} for "
                f"n_classes={n_classes}"
            )
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = cutoffs[0]
        self.n_clusters = len(cutoffs)
        self.head_size = self.shortlist_size + self.n_clusters
        factory = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, bias=head_bias, **factory)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            width = int(in_features // div_value ** (i + 1))
            classes = self.cutoffs[i + 1] - self.cutoffs[i]
            self.tail.append(
                Sequential(
                    Linear(in_features, width, bias=False, **factory),
                    Linear(width, classes, bias=False, **factory),
                )
            )

    def reset_parameters(self):
        """Draws all weights again."""
        self.head.reset_parameters()
        for narrow, wide in self.tail:
            narrow.reset_parameters()
            wide.reset_parameters()

    def forward(self, input_, target_):
        """The log-probability of the class `target_` for each row of `input_`, and their negated
        mean as `loss`.
        """
        rank = target_.dim()
        if rank not in (0, 1):
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        if rank == 1 and input_.size(0) != target_.size(0):
            raise RuntimeError(
                "Input and target should have the same size in the batch dimension, got "
                f"{input_.size(0)} and {target_.size(0)}."
            )
        if input_.dim() != rank + 1:
            raise RuntimeError(
                f"{rank}D target tensor expects {rank + 1}D input tensors, but found inputs with "
                f"size {input_.size()}"
            )
        input, target = (input_, target_) if rank else (input_.unsqueeze(0), target_.unsqueeze(0))
        if target.numel() and not bool(((target >= 0) & (target < self.n_classes)).all()):
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{target.min().item()}, {target.max().item()}] were found. "
            )
        output = _C.zeros(target.size(0), dtype=input.dtype, device=input.device)
        index = target
        for i, (low, high) in enumerate(zip(self.cutoffs, self.cutoffs[1:], strict=False)):
            rows = ((target >= low) & (target < high)).nonzero().squeeze(1)
            if rows.numel():
                logs = F.log_softmax(self.tail[i](input.index_select(0, rows)), dim=1)
                within = (target.index_select(0, rows) - low).unsqueeze(1)
                output = output.index_copy(0, rows, logs.gather(1, within).squeeze(1))
                index = index.index_fill(0, rows, self.shortlist_size + i)
        first = F.log_softmax(self.head(input), dim=1)
        output = output + first.gather(1, index.unsqueeze(1)).squeeze(1)
        loss = (-output).mean()
        return _ASMoutput(output if rank else output.squeeze(0), loss)

    def log_prob(self, input):
        """The log-probabilities of all classes, (n, n_classes), of an `input` (n, in_features)."""
        first = F.log_softmax(self.head(input), dim=1)
        parts = [first[:, : self.shortlist_size]]
        for i in range(self.n_clusters):
            cluster = first[:, self.shortlist_size + i].unsqueeze(1)
            parts.append(F.log_softmax(self.tail[i](input), dim=1) + cluster)
        return _C.cat(parts, 1)

    def predict(self, input):
        """The most probable class of each row of `input`."""
        return self.log_prob(input).argmax(1)
