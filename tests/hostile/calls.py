"""All hostile calls, as (name, function without arguments): first every public function and method
given every wrong value, then the calls of tests/hostile/special.py, passes.py, threads.py,
handlers.py and meanwhile.py."""

import os

import rushlight as torch
from tests.hostile import handlers, meanwhile, passes, special, threads, values

# They write files, replace modules, or wait on purpose.
LEFT_OUT = {"save", "load", "as_torch", "load_ipython_extension", "unload_ipython_extension"}
# Methods of object that say nothing about tensors, and those that start a debugger or a process.
OF_OBJECT = set(dir(object)) - {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"}


def functions():
    for where, module in (("", torch), ("nn.functional.", torch.nn.functional)):
        for name in sorted(dir(module)):
            call = getattr(module, name, None)
            if name[0] == "_" or name in LEFT_OUT or not callable(call):
                continue
            if isinstance(call, type) and not issubclass(call, (torch.Tensor, torch.Size)):
                continue
            yield where + name, call


def methods():
    for name in sorted(dir(torch.Tensor)):
        call = getattr(torch.Tensor, name, None)
        if name in OF_OBJECT or not callable(call):
            continue
        yield "Tensor." + name, call


def with_wrong_values():
    """Each callable, with each wrong value in each of its first places."""
    stride = int(os.environ.get("RUSHLIGHT_HOSTILE_STRIDE", "1"))
    count = len(values.wrong())
    at = 0
    for name, call in [*functions(), *methods()]:
        for i in range(count):
            at += 1
            if at % stride:
                continue
            for places in ("w", "tw", "ttw", "t0w", "wt", "ww", "tww"):
                yield f"{name}({places}) value {i}", lambda c=call, p=places, i=i: one(c, p, i)


def one(call, places, i):
    wrong = values.wrong()[i]
    operand = torch.arange(6.0).view(2, 3)
    meaning = {"w": wrong, "t": operand, "0": 0}
    call(*[meaning[place] for place in places])


def with_operands():
    """Each method on tensors of every awkward geometry, with no argument and with a likely one."""
    for name, call in methods():
        for kind in values.operands():
            if kind == "huge expanded":
                continue
            yield f"{name} on {kind}", lambda c=call, k=kind: on(c, k)


def on(call, kind):
    arguments = [
        (),
        (0,),
        (-1,),
        (values.BIG,),
        (values.SMALL,),
        (0, 1),
        (1, values.BIG),
        (2, 1, 1),
    ]
    for extra in arguments:
        try:
            call(values.operands()[kind], *extra)
        except Exception:
            continue
    for other in values.operands():
        if other != "huge expanded":
            try:
                call(values.operands()[kind], values.operands()[other])
            except Exception:
                continue


def all_calls():
    yield from special.calls()
    yield from passes.CALLS
    yield from threads.CALLS
    yield from handlers.CALLS
    yield from meanwhile.CALLS
    yield from with_operands()
    yield from with_wrong_values()
