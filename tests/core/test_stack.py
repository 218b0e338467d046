"""Recursion through the core and back, deeper than the thread's stack: sys.setrecursionlimit() lets
a program try. Each ends with a RecursionError."""

import subprocess
import sys

import pytest

# Each defines start(), which never comes to an end by itself.
PROGRAMS = {
    "modules": """
class M(nn.Module):
    def forward(self, x):
        return self(x)
start = lambda: M()(torch.ones(1))
""",
    "modules with hooks": """
class M(nn.Module):
    def forward(self, x):
        return self(x, scale=2)
m = M()
m.forward = lambda x, scale: m(x, scale=2)
m.register_forward_pre_hook(lambda *_: None)
start = lambda: m(torch.ones(1), scale=2)
""",
    "nested modules": """
m = nn.Linear(1, 1)
for _ in range(5000):
    m = nn.Sequential(m)
start = lambda: m(torch.ones(1, 1))
""",
    "the text of nested modules": """
m = nn.ReLU()
for _ in range(5000):
    m = nn.Sequential(m)
start = lambda: repr(m)
""",
    "paths of nested modules": """
m = nn.ReLU()
for _ in range(5000):
    m = nn.Sequential(m)
start = lambda: list(m.named_modules())
""",
    "backward in a hook": """
x = torch.ones(1, requires_grad=True)
def start(*_):
    with torch.enable_grad():
        y = x * 1
        y.register_hook(start)
        y.backward()
""",
    "backward in a function's backward": """
x = torch.ones(1, requires_grad=True)
class Again(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1
    @staticmethod
    def backward(ctx, g):
        with torch.enable_grad():
            start()
        return g
start = lambda: Again.apply(x).backward()
""",
    "a function in its own forward": """
class Again(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return start()
start = lambda: Again.apply(torch.ones(1))
""",
    "packing": """
x = torch.ones(1, requires_grad=True)
def start(t=None):
    with torch.enable_grad(), torch.autograd.graph.saved_tensors_hooks(start, lambda t: t):
        x * x
    return t
""",
    "unpacking": """
x = torch.ones(1, requires_grad=True)
def start(t=None):
    with torch.enable_grad(), torch.autograd.graph.saved_tensors_hooks(lambda t: t, start):
        y = x * x
    y.backward()
    return t
""",
    "an index": """
class Index:
    def __index__(self):
        return start().numel()
start = lambda: torch.zeros(Index())
""",
    "an index of a tensor": """
x = torch.zeros(3)
class Index:
    def __index__(self):
        return start()
start = lambda: x[Index()]
""",
    "a number": """
class Number:
    def __float__(self):
        return start().item()
start = lambda: torch.full((1,), Number())
""",
    "__torch_function__": """
class Taker:
    @classmethod
    def __torch_function__(cls, f, types, args=(), kwargs=None):
        return start()
start = lambda: torch.add(Taker(), 1)
""",
    "saving nested lists": """
nest = torch.ones(1)
for _ in range(5000):
    nest = [nest]
start = lambda: torch.save(nest, io.BytesIO())
""",
    "saving nested modules": """
m = nn.ReLU()
for _ in range(5000):
    m = nn.Sequential(m)
start = lambda: torch.save(m, io.BytesIO(), _use_new_zipfile_serialization=False)
""",
    "a tree given to vmap": """
tree = torch.ones(2)
for _ in range(5000):
    tree = [tree]
start = lambda: torch.vmap(lambda t: t)(tree)
""",
    "the text of a tree's structure": """
tree = 1
for _ in range(5000):
    tree = [tree]
start = lambda: repr(torch.utils._pytree.tree_structure(tree))
""",
    "an operand": """
class Operand:
    def __radd__(self, other):
        return other + Operand()
start = lambda: torch.ones(1) + Operand()
""",
    "an attribute": """
class Bare(torch.Tensor):
    def __getattr__(self, name):
        return Bare([1.0]).other
start = lambda: Bare([1.0]).other
""",
    "a capsule": """
class Lender:
    def __dlpack__(self, **kwargs):
        return torch.from_dlpack(Lender())
    def __dlpack_device__(self):
        return (1, 0)
start = lambda: torch.from_dlpack(Lender())
""",
    "a function of elements": """
x = torch.ones(1)
def start(*_):
    x.clone().apply_(start)
""",
    "gradients of gradients": """
def again(x):
    return torch.func.grad(again)(x)
start = lambda: again(torch.tensor(1.0))
""",
}
IN_A_THREAD = """
import io, sys, threading, rushlight as torch
from rushlight import nn
sys.setrecursionlimit(10**6)
{program}
def run():
    try:
        start()
        print("came to an end")
    except (RecursionError, TypeError, IndexError) as error:
        print(type(error).__name__, str(error).split(chr(10))[0])
    print(torch.ones(2).sum().item())
threading.stack_size(1 << 20)
thread = threading.Thread(target=run)
thread.start()
thread.join()
"""


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_stack_that_is_used_up(name):
    done = subprocess.run(
        [sys.executable, "-c", IN_A_THREAD.format(program=PROGRAMS[name])],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, (done.returncode, done.stderr[-500:])
    said = done.stdout.splitlines()
    assert said[-1] == "2.0", done.stdout
    if "number" in name or "index" in name:  # what cannot be read is no number
        assert said[0].startswith(("TypeError", "IndexError")), said
    else:
        assert said[0].startswith("RecursionError maximum recursion depth exceeded"), said
