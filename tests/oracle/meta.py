"""Torch's samples without their values: operands on the device meta, on both sides.

What torch computes the shapes of, we do: same sizes, dtypes and strides, no memory read.
"""

import torch

import rushlight
from tests.oracle import campaign, ops
from tests.oracle.compare import same_outcome
from tests.oracle.transfer import DEVICE, Untransferable, leaves

title, entries = ops.title, ops.entries
# Torch's shape functions give another layout than its CPU functions, which ours follow.
OTHER_STRIDES = {
    "diagonal_scatter",
    "linalg.svd",
    "nn.functional.max_unpool2d",
    "nn.functional.max_unpool3d",
    "pca_lowrank",
    "select_scatter",
    "slice_scatter",
    "svd_lowrank",
}
# Numbers in tensors of one element are read here.
READS = {"linspace.tensor_overload", "logspace.tensor_overload"}
DTYPES = (torch.float32, torch.int64)


def on_meta(x, seen):
    """An argument of a sample with its tensors on meta, laid out as they are."""
    if isinstance(x, torch.Tensor):
        if id(x) not in seen:
            whole = torch.empty(
                x.untyped_storage().nbytes() // x.element_size(), dtype=x.dtype, device="meta"
            )
            seen[id(x)] = whole.as_strided(x.size(), x.stride(), x.storage_offset())
        return seen[id(x)]
    if isinstance(x, torch.device) or x == "cpu":
        return torch.device("meta")
    if isinstance(x, torch.Size):
        return x
    if isinstance(x, dict):
        return {key: on_meta(item, seen) for key, item in x.items()}
    if isinstance(x, (list, tuple)):
        return type(x)(on_meta(item, seen) for item in x)
    return x


def contiguous(x):
    """The tensors of a result without their strides."""
    return [item.contiguous() for item in leaves(x)]


class Shapes(campaign.Campaign):
    """A campaign on meta: functions alone, without gradients."""

    def function(self, operands, kwargs, dtype):
        carrier, seen = campaign.Carrier(), {}
        args, names = carrier.value(operands), carrier.value(kwargs)
        with torch.no_grad():
            theirs, refused = campaign.outcome(
                self.op.op, on_meta(operands, seen), on_meta(kwargs, seen)
            )
        if (
            refused is not None or title(self.op) in READS
        ):  # torch has no shape function, or needs the values
            raise Untransferable(str(refused))
        with rushlight.no_grad():
            ours, error = campaign.outcome(self.call, args, names)
        what = f"{dtype} {campaign.describe(operands, kwargs)}"[:160]

        def compare():
            if error is not None:
                raise campaign.Difference(f"raises {type(error).__name__}: {error}")
            if self.op.name in OTHER_STRIDES:
                same_outcome(contiguous(ours), contiguous(theirs), values=False, history=False)
            else:
                same_outcome(
                    ours, theirs, values=False, history=False, strides=self.same["strides"]
                )

        self.check(what, compare)

    def errors(self):
        """Those are judged on the CPU."""


def run(op, limit=None):
    DEVICE[0] = rushlight.device("meta")
    return Shapes(op, limit).run(DTYPES)
