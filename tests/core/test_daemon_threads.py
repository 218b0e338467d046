"""A program that ends while daemon threads compute: it ends well, where torch 2.13 aborts.

CPython 3.11 to 3.13 unwind the stack of a daemon thread that asks for the interpreter's lock when
the interpreter ends, through destructors that end the process.
"""

import subprocess
import sys

import pytest

BODIES = {
    "products": "x @ x",
    "pieces of work that look at signals": "large.sort()",
    "gradients": "(x @ x).sum().backward()",
    "Python in gradients": "Twice.apply(x).sum().backward()",
    "random numbers": "torch.randn(50_000)",
    "stores": "store.add('n', 1)",
}
PROGRAM = """
import sys, threading, time
import rushlight as torch
import rushlight.distributed as dist

class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x @ x

    @staticmethod
    def backward(ctx, g):
        return (g @ g) * 2

def work():
    while True:
        {body}

store = dist.HashStore()
large = torch.rand(200_000)
x = torch.eye(150).requires_grad_()
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.05)
print("ended")
"""


@pytest.mark.parametrize("name", BODIES)
def test_a_program_ends_while_daemon_threads_compute(name):
    for _ in range(3):
        ended = subprocess.run(
            [sys.executable, "-c", PROGRAM.format(body=BODIES[name])],
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, "ended\n", "")
