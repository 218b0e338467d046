"""Hostile calls written by hand: geometry, aliasing, freed memory, half-made objects, threads."""

import contextlib
import copy
import gc
import pickle
import weakref
from pathlib import Path

import numpy

import rushlight as torch
from tests.hostile.values import (
    BIG,
    SMALL,
    Failing,
    Index,
    Lying,
    Shrinking,
    deep,
    in_itself,
)

CALLS = []


def call(function):
    CALLS.append((function.__name__, function))
    return function


def calls():
    yield from CALLS
    for name in ("statements", "aliasing", "objects", "graph"):
        lines = (Path(__file__).parent / f"{name}.txt").read_text().splitlines()
        for i, text in enumerate(lines, 1):
            yield f"{name}.txt {i}: {text}", lambda text=text: line(text)


def line(text):
    """Statements, each tried whatever became of the one before, then a look at every element of
    what they left."""
    scope = {
        "torch": torch,
        "F": torch.nn.functional,
        "np": numpy,
        "gc": gc,
        "copy": copy,
        "pickle": pickle,
        "weakref": weakref,
        "BIG": BIG,
        "SMALL": SMALL,
        "x": torch.arange(24.0).view(2, 3, 4),
        "i": torch.arange(6),
        "e": torch.zeros(2, 0, 3),
        "s": torch.tensor(1.0),
        "huge": torch.ones(1).expand(2**40),
        "wide": torch.ones(1).expand(2**31, 2**31),
        "Index": Index,
        "Failing": Failing,
        "Lying": Lying,
        "Shrinking": Shrinking,
        "deep": deep,
        "in_itself": in_itself,
    }
    for statement in [text] if text.startswith("with ") else text.split("; "):
        try:
            exec(statement, scope)
        except Exception:
            continue
    for value in list(scope.values()):
        if isinstance(value, torch.Tensor) and value.numel() < 1000:
            repr(value), value.tolist()


@call
def freed_numpy_memory():
    array = numpy.ones(10_000)
    t = torch.from_numpy(array)
    view = t[5_000:]
    del array, t
    gc.collect()
    assert view.sum().item() == 5_000


@call
def numpy_view_outlives_tensor():
    array = torch.ones(10_000).numpy()
    gc.collect()
    torch.zeros(10_000)
    assert array.sum() == 10_000


@call
def resized_bytearray():
    content = bytearray(64)
    t = torch.frombuffer(content, dtype=torch.int64)
    with contextlib.suppress(BufferError):
        content.extend(bytes(10**6))
    t.add_(1)
    del t


@call
def iterating_while_it_changes():
    x = torch.zeros(4, 2)
    for row in x:
        x.data = torch.zeros(1)
        row.add_(1)


@call
def index_that_replaces_the_tensor():
    x = torch.arange(1000.0)

    def act():
        x.data = torch.zeros(1)

    for where in (
        Index(999, act),
        (Index(999, act),),
        [Index(999, act)],
        slice(Index(990, act), None),
    ):
        x.data = torch.arange(1000.0)
        for use in (lambda w=where: x[w], lambda w=where: x.__setitem__(w, 1.0)):
            try:
                use()
            except Exception:
                continue


@call
def value_that_replaces_the_tensor():
    class Value:
        def __float__(self):
            x.data = torch.zeros(1)
            return 1.0

    for use in ("fill_", "add_", "mul_", "__setitem__", "masked_fill_", "clamp_"):
        x = torch.zeros(100_000)
        try:
            getattr(x, use)(slice(None), Value()) if "item" in use else getattr(x, use)(Value())
        except Exception:
            continue


@call
def sizes_that_replace_the_tensor():
    x = torch.arange(1000.0)

    def act():
        x.data = torch.zeros(1)

    for use in (
        lambda: x.view(Index(10, act), 100),
        lambda: x.as_strided((Index(1000, act),), (1,)),
        lambda: x.narrow(0, Index(0, act), 1000),
        lambda: x.expand(Index(3, act), 1000),
        lambda: x.roll(Index(3, act)),
        lambda: x.sum(Index(0, act)),
        lambda: x.split([Index(500, act), 500]),
        lambda: x.index_select(Index(0, act), torch.tensor([999])),
        lambda: x.gather(Index(0, act), torch.tensor([999])),
        lambda: x.topk(Index(5, act)),
    ):
        x.data = torch.arange(1000.0)
        try:
            repr(use())
        except Exception:
            continue


@call
def list_of_tensors_that_changes():
    class Bad(list):
        def __len__(self):
            return 10**6

    for items in (Bad([torch.zeros(2)]), [torch.zeros(2), Failing()]):
        for join in (torch.cat, torch.stack, torch.hstack):
            try:
                join(items)
            except Exception:
                continue


@call
def hook_that_drops_the_graph():
    x = torch.ones(3, requires_grad=True)
    y = [x * 2]
    z = y[0].exp()
    y[0].register_hook(lambda g: y.clear())
    z.sum().backward()


@call
def hook_that_replaces_data():
    x = torch.ones(1000, requires_grad=True)
    y = x * 2
    z = (y * y).sum()

    def hook(g):
        x.data = torch.zeros(1)
        y.data = torch.zeros(1)

    z.register_hook(hook)
    z.backward()


@call
def function_that_returns_nonsense():
    for answer in (None, (), 5, "a", torch.zeros(9), [torch.zeros(1)] * 5, (None, None)):

        class Nonsense(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

            @staticmethod
            def backward(ctx, g, answer=answer):
                return answer

        try:
            x = torch.ones(3, requires_grad=True)
            Nonsense.apply(x).sum().backward()
        except Exception:
            continue


@call
def resurrected_tensor():
    kept = []

    class Undead(torch.Tensor):
        def __del__(self):
            kept.append(self)

    for _ in range(10):
        Undead([1.0, 2.0])
    gc.collect()
    for t in list(kept):  # what is made of them is Undead too, and joins them
        repr(t + 1)
    kept.clear()


@call
def attributes_in_a_circle():
    for _ in range(100):
        x = torch.nn.Parameter(torch.zeros(2))
        x.me = x
        x.grad = x.detach().clone()
        watch = weakref.ref(x)
        del x
    gc.collect()
    watch()


@call
def methods_that_lose_their_tensor():
    """A call that has been x.f() often enough to be specialised, and then is Tensor.f()."""
    for name in ("dim", "numel", "t", "tolist", "item", "sum", "relu", "clone", "size", "max"):
        scope = {}
        exec(f"def use(x):\n    return x.{name}()", scope)
        for _ in range(100):
            scope["use"](torch.ones(1))
        for _ in range(100):
            try:
                scope["use"](torch.Tensor)
            except TypeError:
                continue


@call
def deep_graph():
    x = torch.ones(1, requires_grad=True)
    y = x
    for _ in range(300_000):
        y = y + 1
    y.backward()
    del y


@call
def deep_chain_dropped():
    x = torch.ones(1, requires_grad=True)
    y = x
    for _ in range(300_000):
        y = y * 1
    del x, y


@call
def deepcopy_of_deep_list():
    with contextlib.suppress(RecursionError):
        copy.deepcopy([torch.zeros(1), deep(10_000)])


@call
def function_of_many_outputs():
    class Many(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, n):
            ctx.save_for_backward(x)
            kept.append(ctx)
            return (x * 1,) * n

        @staticmethod
        def backward(ctx, *grads):
            return grads[-1], None

    kept = []
    x = torch.ones(1, requires_grad=True)
    for n in (0, 65535, 65536, 65537):
        with contextlib.suppress(Exception):
            (Many.apply(x, n)[-1] * 2).backward()
    links = [ctx._node for ctx in kept]
    gc.collect()
    for link in links:
        with contextlib.suppress(Exception):
            torch._C._saved_of(link)


@call
def ctx_that_cannot_be_written_to():
    class Stiff(torch.autograd.function.FunctionCtx):
        def __setattr__(self, name, value):
            raise ZeroDivisionError("no attribute")

    class Same(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            kept.append(ctx)
            return x * 1

    kept = []
    y = Same.apply(torch.ones(1, requires_grad=True))
    kept[0].__class__ = Stiff
    del y
    gc.collect()
