"""python -m tests.benchmarks --everyday [WORDS ...] [--dtype NAME] [--limit RATIO]

Operations on everyday shapes, forward and with backward, what stands between them (devices, lists,
indices, states), functions of unusual numbers, and small programs, against torch in the same run by
turns; those above the limit are printed, and the geometric mean of all.
"""

import argparse

from tests.benchmarks.everyday import glue, operands, table, unusual
from tests.benchmarks.everyday.programs import PROGRAMS
from tests.benchmarks.rows import Row, measure, summary
from tests.benchmarks.sweep.measure import REFUSALS

AIM = 1.05


def operation(statement, layer, dtype_name, backward):
    """A row's set-up: `run`, which does it once."""

    def setup(t):
        dtype = getattr(t, dtype_name)
        names = operands.tensors(t, dtype_name)
        scope = {"t": t, "F": t.nn.functional, "nn": t.nn}
        if layer:
            names["m"] = eval(layer, scope).to(dtype)
        if backward:
            for key, value in names.items():
                if isinstance(value, t.Tensor) and value.is_floating_point() and key in statement:
                    names[key] = value.clone().requires_grad_()
        call = eval(f"lambda: {statement}", {**scope, **names})

        def forward():
            with t.no_grad():
                call()

        def step():
            call().sum().backward()

        if backward and not call().requires_grad:
            raise TypeError("its result has no gradient")
        forward()
        return {"run": step if backward else forward}

    return setup


def between(statement, dtype_name):
    def setup(t):
        names = operands.tensors(t, dtype_name)
        names |= glue.objects(t, names["table"])
        return {"run": eval(f"lambda: {statement}", {"t": t, "nn": t.nn, **names})}

    return setup


def function(statement, kind, dtype_name):
    def setup(t):
        x = unusual.number_tensor(t, kind, getattr(t, dtype_name))
        names = {"t": t, "F": t.nn.functional, "x": x, "y": x.roll(1)}
        return {"run": eval(f"lambda: {statement}", names)}

    return setup


def program(prepare):
    def setup(t):
        t.manual_seed(0)
        return {"run": prepare(t)}

    return setup


def rows(dtype):
    for name, statement, layer in table.rows():
        for backward in (False, True):
            title = f"{name}, with backward" if backward else name
            yield Row("run()", AIM, operation(statement, layer, dtype, backward), title, rounds=5)
    for name, statement in glue.rows():
        yield Row("run()", AIM, between(statement, dtype), name, rounds=5)
    for name, statement, kind in unusual.rows():
        yield Row("run()", AIM, function(statement, kind, dtype), name, rounds=5)
    for name, prepare in PROGRAMS.items():
        yield Row("run()", AIM, program(prepare), name, rounds=5)


def everyday(arguments, say=print):
    import torch

    import rushlight

    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks --everyday")
    parser.add_argument("words", nargs="*")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--limit", type=float, default=AIM)
    options = parser.parse_args(arguments)
    ratios = {}
    for row in rows(options.dtype):
        if options.words and not any(word in row.name for word in options.words):
            continue
        try:
            row.setup(torch)
        except REFUSALS:  # torch has no such gradient, or no such operation for the dtype
            continue
        theirs, ours = measure(row, [torch, rushlight])
        if ours is None:
            say(f"{row.name:<44} ours cannot")
            continue
        ratios[row.name] = ours / theirs
        if ratios[row.name] > options.limit:
            say(f"{row.name:<44} {ours * 1e6:>9.1f} us, torch {theirs * 1e6:>9.1f} us, "
                f"{ratios[row.name]:.2f}")  # fmt: skip
    say(summary(ratios.values(), options.limit))
    return ratios
