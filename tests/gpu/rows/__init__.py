"""The rows of `python -m tests.gpu --quick`: small programs, from the ground up, that need nothing
but rushlight. The CPU judges; each ends with the GPU waited for, so that an error is its own.

python -m tests.gpu.rows NAME      runs one of them
"""

import os

import rushlight as torch
from tests.emulator import EMULATED

ROWS = {}  # name -> (function, the files to look at if it fails), in the order they are defined


def row(name, where):
    """Puts a function into the table; the text that it returns is shown in its row."""

    def add(function):
        assert name not in ROWS, name
        ROWS[name] = (function, where)
        return function

    return add


def many(count):
    """So many elements on a GPU; the emulator, which is slow, has a thousandth."""
    return max(count // 1024, 1500) if EMULATED else count


def to_gpu(value):
    if isinstance(value, torch.Tensor):
        there = value.detach().to("cuda")
        return there.requires_grad_() if value.requires_grad else there
    return value


def same(call, *inputs, rtol=1e-4, atol=1e-4, line=None):
    """call(inputs) on the GPU gives what it gives on the CPU; `line`: where it is written."""
    line = line or line_of(call)
    there = call(*map(to_gpu, inputs))
    torch.cuda.synchronize()
    here = call(*inputs)
    if isinstance(here, torch.Tensor):
        there, here = [there], [here]
    for number, (a, b) in enumerate(zip(there, here, strict=True)):
        assert a.device.type == "cuda", f"result {number} of {line} is on {a.device}"
        torch.testing.assert_close(
            a.detach().cpu(), b.detach(), rtol=rtol, atol=atol, equal_nan=True,
            msg=lambda words, number=number: f"result {number} of {line}: {words}",
        )  # fmt: skip


def same_gradients(call, *inputs, rtol=1e-3, atol=1e-3):
    """As same(), and so are the gradients of all inputs of floating dtype, the results after it."""

    def both(*values):
        leaves = [v for v in values if isinstance(v, torch.Tensor) and v.requires_grad]
        out = call(*values)
        weights = torch.linspace(-1, 1, out.numel()).reshape(out.shape).to(out.device)
        return [out, *torch.autograd.grad(out, leaves, weights)]

    inputs = [v.requires_grad_() if is_floating(v) else v for v in inputs]
    same(both, *inputs, rtol=rtol, atol=atol, line=line_of(call))


def is_floating(value):
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def line_of(call):
    """Where a call is written, to be found again."""
    code = getattr(call, "__code__", None)
    return f"{os.path.basename(code.co_filename)}:{code.co_firstlineno}" if code else str(call)


def load_all():
    """The table, filled in its order."""
    from tests.gpu.rows import (
        ground,
        kernels,
        libraries,
        streams,
        training,
    )

    return ROWS
