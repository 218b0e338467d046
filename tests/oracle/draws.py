"""Calls drawn at random: torch's samples with operands of other dtypes, sizes and layouts.

python -m tests.oracle.draws [names] [--calls N] [--seed S]

Each is compared whole: refusals, values, dtypes, strides, gradients, methods, in-place forms and
out=. What differs is a list to read, not to pass; a crash or a hang is named too.
"""

import argparse
import random
import sys
import warnings

import torch
from torch.testing._internal.opinfo.core import SampleInput

from tests.oracle import mutations, ops
from tests.oracle.campaign import Campaign

DTYPES = (
    "float32 float32 float64 float16 bfloat16 complex64 complex128 "
    "bool uint8 int8 int16 int32 int64"
).split()


def apart(t):
    """Every second element of a larger tensor, from the second on."""
    whole = t.new_zeros([*t.shape, 2])
    whole[..., 1] = t
    return whole[..., 1]


def transposed(t):
    return t.transpose(0, -1).contiguous().transpose(0, -1) if t.dim() > 1 else t


def expanded(t):
    """All along one dimension the same."""
    if not t.numel() or not t.dim():
        return t
    return t[:1].expand(t.shape)


def inside(t):
    if t.dim() == 4:
        return t.contiguous(memory_format=torch.channels_last)
    return t.contiguous(memory_format=torch.channels_last_3d) if t.dim() == 5 else transposed(t)


def shifted(t):
    """Not at the beginning of its storage."""
    return torch.cat([t.new_zeros(3), t.flatten()])[3:].view(t.shape)


LAYOUTS = (apart, transposed, expanded, inside, shifted)
SIZES = (
    lambda t: t[..., :0] if t.dim() else t,
    lambda t: t[:0] if t.dim() else t,
    lambda t: t.flatten()[0] if t.numel() else t,
    lambda t: t.unsqueeze(0),
    lambda t: t[..., :1] if t.dim() else t,
)


def changed(x, change, grad):
    """A sample's argument with `change` made to every tensor in it."""
    if isinstance(x, torch.Tensor):
        if x.layout is not torch.strided:
            return x
        made = change(x.detach())
        wanted = grad and x.requires_grad and (made.is_floating_point() or made.is_complex())
        return made.requires_grad_() if wanted else made
    if isinstance(x, list | tuple) and not isinstance(x, torch.Size):
        return type(x)([changed(item, change, grad) for item in x])
    return {k: changed(v, change, grad) for k, v in x.items()} if isinstance(x, dict) else x


def cast(dtype, draw):
    def change(t):
        if draw.random() < 0.1 or (t.dtype in (torch.bool, torch.int64) and draw.random() < 0.8):
            return t
        return t.to(dtype)

    return change


def drawn(op, draw):
    """(dtype, sample): one of torch's, changed."""
    dtype = getattr(torch, draw.choice(DTYPES))
    base = dtype if dtype in op.dtypes else draw.choice(sorted(op.dtypes, key=str))
    grad = op.supports_autograd and base in op.supported_backward_dtypes("cpu")
    samples = list(op.sample_inputs("cpu", base, requires_grad=grad))
    sample = draw.choice(samples)
    parts = [sample.input, sample.args, sample.kwargs]
    if base is not dtype:
        parts = [changed(x, cast(dtype, draw), grad) for x in parts]
    elif draw.random() < 0.2:  # each operand of a dtype of its own
        other = getattr(torch, draw.choice(DTYPES))
        at = draw.randrange(2)
        parts[at] = changed(parts[at], cast(other, draw), grad)
    if draw.random() < 0.25:
        change = draw.choice(SIZES)
        for i in (0, 1, 2) if draw.random() < 0.7 else (0,):
            parts[i] = changed(parts[i], change, grad)
    for i in range(3):
        if draw.random() < 0.6:
            parts[i] = changed(parts[i], draw.choice(LAYOUTS), grad)
    return dtype, SampleInput(parts[0], args=tuple(parts[1]), kwargs=parts[2])


def run(op, options, done, note):
    """Makes the calls of an operation after the first `done`; yields differences."""
    campaign = Campaign(op)
    campaign.call = ops.ours(op)
    if campaign.call is ops.ABSENT or op.name in ops.UNWRITTEN:
        return
    for number in range(1, options.calls + 1):
        if number <= done:
            continue
        draw = random.Random(f"{options.seed} {ops.title(op)} {number}")
        torch.manual_seed(number)
        note(f"{number} torch draws")
        try:
            dtype, sample = drawn(op, draw)
        except (RuntimeError, IndexError):  # no such tensor, or no sample
            continue
        note(f"{number} {dtype}")
        campaign.report.failures.clear()
        campaign.sample(sample, dtype)
        for what, error in campaign.report.failures:
            yield f"{error}\n    {what} ({number})"


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.oracle.draws")
    parser.add_argument("names", nargs="*", help="names or patterns; all operations if none")
    parser.add_argument("--calls", type=int, default=20, help="of an operation")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--verbose", action="store_true", help="keep what calls write to stderr")
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    for end in mutations.watch(list(ops.entries(options.names)), options, run):
        print(end, flush=True)


if __name__ == "__main__":
    sys.exit(main())
