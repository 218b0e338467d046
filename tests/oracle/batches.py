"""`python -m tests.oracle.batches [--limit N] [names]`: torch's samples under vmap().

Each sample as an element of a batch of two, with the batch in all operands, in the first alone or
in the others: the result is that of one call for each element. Prints which rows differ, and which
operations were computed one element after another.
"""

import argparse
import collections
import sys
import warnings

import torch

import rushlight
from tests.oracle import ops
from tests.oracle.transfer import Carrier, Untransferable

RANDOM = "called random operation"
REFUSED = (
    RANDOM,
    "data-dependent control flow",
    "calling .item()",
    "dynamic shape",
    "differently shaped",
    "doesn't have storage",
    "could not generate a fallback",
    "not possible because there exists",
    "isn't supported yet",
    "num_classes to be given",
    "running_var, which will be updated in place",
)


def tensors_in(tree):
    """The tensors of a sample, in order."""
    if isinstance(tree, rushlight.Tensor):
        return [tree]
    if isinstance(tree, dict):
        tree = list(tree.values())
    if isinstance(tree, list | tuple):
        return [t for x in tree for t in tensors_in(x)]
    return []


def filled(tree, values):
    """The sample with other tensors."""
    if isinstance(tree, rushlight.Tensor):
        return next(values)
    if isinstance(tree, dict):
        return {k: filled(x, values) for k, x in tree.items()}
    if isinstance(tree, list | tuple) and not isinstance(tree, rushlight.Size):
        return type(tree)(filled(x, values) for x in tree)
    return tree


def another(x):
    """A second element that an operation takes where it takes the first."""
    return x * 0.5 if x.is_floating_point() else x.clone()


def outcome(call):
    try:
        return call(), None
    except Exception as error:
        return None, error


def same(a, b):
    """Whether two results are equal: tensors' shape, dtype and values."""
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if not isinstance(a, rushlight.Tensor):
        return a == b
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    slack = 1e-2 if a.dtype in (rushlight.float16, rushlight.bfloat16) else 1e-3
    return bool(rushlight.isclose(a.double(), b.double(), slack, slack, equal_nan=True).all())


def stacked(rows):
    if isinstance(rows[0], rushlight.Tensor):
        return rushlight.stack(rows)
    if isinstance(rows[0], list | tuple):
        return [stacked(list(r)) for r in zip(*rows, strict=True)]
    if isinstance(rows[0], dict):
        return {k: stacked([r[k] for r in rows]) for k in rows[0]}
    return rows[0]


def check(call, sample, which, dim, loops):
    """ "" or what differs, of one sample with the batch in some of its tensors."""
    tensors = [x.detach() for x in tensors_in(sample)]
    chosen = [which(i) for i in range(len(tensors))]
    if not any(chosen):
        return ""
    pairs = [(x, another(x)) for x in tensors]

    def run(values):
        args, kwargs = filled(sample, iter(values))
        return call(*args, **kwargs)

    rows = [
        outcome(lambda i=i: run([p[i].clone() if c else x.clone()
                                 for p, c, x in zip(pairs, chosen, tensors, strict=True)]))
        for i in (0, 1)
    ]  # fmt: skip
    dims = tuple((dim if x.dim() else 0) if c else None
                 for c, x in zip(chosen, tensors, strict=True))  # fmt: skip
    given = [x.clone() if d is None else rushlight.stack(p, d)
             for x, p, d in zip(tensors, pairs, dims, strict=True)]  # fmt: skip
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found, error = outcome(lambda: rushlight.vmap(lambda *v: run(v), dims)(*given))
    for each in said:
        if "performance drop" in str(each.message):
            loops[str(each.message).split("aten::")[1].split(". ")[0]] += 1
    if any(e is not None for _, e in rows):
        return "" if error is not None else f"no error, alone {rows[0][1] or rows[1][1]!r}"
    if error is not None:
        if any(words in str(error) for words in REFUSED) or "must only return" in str(error):
            return ""
        return f"{type(error).__name__}: {str(error)[:150]}"
    try:
        expected = stacked([r for r, _ in rows])
    except RuntimeError:
        return "results of other shapes"
    return "" if same(found, expected) else "another value"


BATCHED = {
    "all": (lambda i: True, 0),
    "first": (lambda i: i == 0, -1),
    "others": (lambda i: i > 0, 0),
}


def run(op, limit):
    """(how many samples agree, what differs, the operations computed one by one); None if absent"""
    call = ops.ours(op)
    if call is ops.ABSENT or torch.float32 not in op.dtypes or "empty" in op.name:
        return None
    good, failed, loops = 0, [], collections.Counter()
    for sample in list(op.sample_inputs("cpu", torch.float32))[:limit]:
        try:
            carried = Carrier().value(((sample.input, *sample.args), dict(sample.kwargs)))
        except Untransferable:
            continue
        for operands, (which, dim) in BATCHED.items():
            what = check(call, carried, which, dim, loops)
            good += not what
            if what:
                failed.append(f"{operands}: {what}")
    return good, failed, loops


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.oracle.batches")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--limit", type=int, default=6)
    parser.add_argument("--part", default="1/1")
    options = parser.parse_args()
    first, parts = map(int, options.part.split("/"))
    total, loops = collections.Counter(), collections.Counter()
    for op in list(ops.entries(options.names))[first - 1 :: parts]:
        found = run(op, options.limit)
        if found is None:
            continue
        good, failed, slow = found
        total.update(good=good, bad=len(failed))
        loops.update(slow)
        if failed:
            print(f"{ops.title(op):40} {len(failed)} of {good + len(failed)}  {failed[0]}",
                  flush=True)  # fmt: skip
    print(f"{total['good']} good, {total['bad']} bad")
    print("one by one:", ", ".join(f"{name} {n}" for name, n in loops.most_common()))
    return total["bad"] > 0


if __name__ == "__main__":
    sys.exit(main())
