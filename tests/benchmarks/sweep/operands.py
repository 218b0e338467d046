"""The operands of an entry: shapes by kind and size, layouts, and the statement made a loop."""

import itertools

SIZES = (16, 10**4, 10**6)
LAYOUTS = ("contiguous", "transposed", "broadcast", "strided")

# The dimensions of x: for 16, about 10^4 and about 10^6 elements.
KINDS = {
    "vector": ("n", [(16,), (10**4,), (10**6,)]),
    "grid": ("RC", [(4, 4), (100, 100), (1000, 1000)]),
    "stack": ("BRR", [(1, 4, 4), (10, 32, 32), (64, 128, 128)]),
    "signal": ("NCL", [(1, 1, 16), (4, 16, 160), (16, 64, 1024)]),
    "sequence": ("BLE", [(1, 4, 4), (4, 40, 64), (16, 128, 512)]),
    "heads": ("BHLE", [(1, 1, 4, 4), (4, 4, 40, 16), (16, 8, 128, 64)]),
    "image": ("NCHW", [(1, 1, 4, 4), (4, 16, 12, 12), (16, 64, 32, 32)]),
    "volume": ("NCDHW", [(1, 1, 2, 2, 4), (2, 4, 8, 12, 12), (4, 16, 16, 32, 32)]),
}


def laid_out(t, layout, kind, shape, make):
    """A tensor of this shape and layout; None where a vector has no such layout."""
    if layout == "contiguous":
        return make(shape)
    if layout == "strided":
        return make((*shape[:-1], 2 * shape[-1]))[..., ::2]
    if len(shape) == 1:
        return None
    if layout == "broadcast":
        return make((1, *shape[1:])).expand(shape)
    if len(shape) >= 4 and kind != "heads":  # transposed is what torch calls channels_last
        return make((shape[0], *shape[2:], shape[1])).movedim(-1, 1)
    return make((*shape[:-2], shape[-1], shape[-2])).mT


def operands(t, op, dtype_name, layout, size, backward):
    """What the statement needs, by name, for one library; None: there is no such entry."""
    letters, shapes = KINDS[op.kind]
    shape = shapes[SIZES.index(size)]
    dtype = getattr(t, dtype_name)
    t.manual_seed(0)

    def rand(*shape):
        return t.rand(*shape) * 0.8 + 0.1

    def make(shape):
        if dtype_name == "bool":
            return t.rand(*shape) > 0.5
        return (
            rand(*shape).to(dtype) if dtype.is_floating_point else t.randint(1, 9, shape).to(dtype)
        )

    def index(high, *shape):
        return t.randint(0, high, shape)

    def parameter():
        p = t.nn.Parameter(names["x"])
        p.grad = make(shape)
        return p

    x = laid_out(t, layout, op.kind, shape, make)
    if x is None:
        return None
    if backward:
        x = x.detach().requires_grad_()
    names = {"t": t, "nn": t.nn, "F": t.nn.functional, "x": x, "n": size, "rand": rand}
    names.update(zip(letters, shape, strict=True))
    tools = {"index": index, "parameter": parameter}
    tools["optimizer"] = lambda name, **given: getattr(t.optim, name)([parameter()], **given)
    for name, text in op.operands.items():
        value = eval(text, {**names, **tools})
        if isinstance(value, tuple):
            value = make(value)
        if isinstance(value, t.nn.Module):
            value = value.to(dtype)
            for p in value.parameters():
                p.requires_grad_(backward)
        names[name] = value
    return names


def loop(statement, names):
    """f(n): the statement n times, on local names."""
    scope = {"repeat": itertools.repeat}
    used = {k: v for k, v in names.items() if k != "rand"}
    exec(f"def f(times, {', '.join(used)}):\n for _ in repeat(None, times):\n  {statement}", scope)
    return lambda times: scope["f"](times, **used)


def prepared(t, op, dtype_name, layout, size, backward):
    """f(n), which runs the entry n times in this library; None: there is no such entry."""
    names = operands(t, op, dtype_name, layout, size, backward)
    if names is None:
        return None
    statement = op.statement
    if not backward:
        run = loop(statement, names)
        run(1)
        return run
    first = eval(statement, dict(names))
    if not isinstance(first, t.Tensor):
        first, statement = first[0], f"({statement})[0]"
    if not first.requires_grad:
        return None
    names["g"] = t.ones_like(first).detach()
    run = loop(f"({statement}).backward(g)", names)
    run(1)
    return run
