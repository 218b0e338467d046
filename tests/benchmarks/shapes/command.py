"""python -m tests.benchmarks --shapes [WORDS ...] [--dtype NAME] [--draws N] [--seed N]
                                [--backward] [--limit RATIO]

Operations on shapes drawn at random, as the sweep's are square and the everyday rows' are few:
against torch in the same run by turns. Those above the limit are measured again, and printed if
they stay there; then the geometric mean of all.
"""

import argparse
import random

from tests.benchmarks.rows import Row, measure, summary
from tests.benchmarks.shapes import table
from tests.benchmarks.sweep.measure import REFUSALS

AIM = 1.1


def setup_of(kind, statement, others, sizes, dtype_name, backward):
    def setup(t):
        t.manual_seed(0)
        dtype = getattr(t, dtype_name)

        def rand(*shape):
            return (t.rand(*shape) * 0.8 + 0.1).to(dtype)

        def layer(module):
            return module.to(dtype).requires_grad_(backward)

        names = {"t": t, "F": t.nn.functional, "nn": t.nn, "rand": rand, "layer": layer, **sizes}
        names["index"] = lambda high, *shape: t.randint(0, high, shape)
        names["x"] = eval(f"rand({table.OPERAND[kind]})", dict(names))
        exec(others, names)
        for name in "xq" if backward else "":
            if name in names:
                names[name].requires_grad_()
        call = eval(f"lambda: {statement}", names)

        def first():
            result = call()
            return result if isinstance(result, t.Tensor) else result[0]

        if not backward:
            call()
            return {"run": call}
        if not first().requires_grad:
            raise TypeError("its result has no gradient")
        along = t.ones_like(first()).detach()
        return {"run": lambda: first().backward(along)}

    return setup


def draws(options):
    """Rows, of other shapes for another seed."""
    source = random.Random(options.seed)
    for kind, name, statement, others in table.rows():
        for _ in range(options.draws):
            sizes = table.sizes(kind, source)
            if options.words and not any(word in name for word in options.words):
                continue
            setup = setup_of(kind, statement, others, sizes, options.dtype, options.backward)
            text = ", ".join(f"{letter} {size}" for letter, size in sizes.items())
            yield Row("run()", AIM, setup, f"{name}: {text}", rounds=3)


def shapes(arguments, say=print):
    import torch

    import rushlight

    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks --shapes")
    parser.add_argument("words", nargs="*")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--draws", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--backward", action="store_true")
    parser.add_argument("--limit", type=float, default=AIM)
    options = parser.parse_args(arguments)
    ratios = {}
    for row in draws(options):
        try:
            row.setup(torch)
        except REFUSALS:  # torch has no such gradient, or no such operation for the dtype
            continue
        theirs, ours = measure(row, [torch, rushlight])
        if ours is None:
            say(f"{row.name:<60} ours cannot")
            continue
        for _ in range(3):
            if ours <= options.limit * theirs:
                break
            again = measure(row, [torch, rushlight])
            theirs, ours = min(theirs, again[0]), min(ours, again[1])
        ratios[row.name] = ours / theirs
        if ratios[row.name] > options.limit:
            say(f"{row.name:<60} {ours * 1e6:>9.1f} us, torch {theirs * 1e6:>9.1f} us, "
                f"{ratios[row.name]:.2f}")  # fmt: skip
    say(summary(ratios.values(), options.limit))
    return ratios
