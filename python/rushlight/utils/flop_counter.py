"""FlopCounterMode: floating-point operations, counted from the shapes of products, convolutions and
attention, forward and backward.

torch counts its kernels one by one. Here a mode sees calls of functions and methods, counts what
those that torch's counter knows compute, and hooks the backward of each.
"""

from __future__ import annotations

from collections import Counter, defaultdict

from rushlight import ops
from rushlight.nn.modules.module import (
    register_module_forward_hook,
    register_module_forward_pre_hook,
)
from rushlight.overrides import TorchFunctionMode
from rushlight.utils._flop_formulas import FORMULAS

__all__ = ["FlopCounterMode", "register_flop_formula"]


def register_flop_formula(targets, get_raw=False):
    """Not in rushlight: operations are not dispatched to Python one by one.

    Raises:
        NotImplementedError: always.
    """
    raise NotImplementedError(
        "torch.utils.flop_counter.register_flop_formula is not in rushlight: the counter sees "
        "calls of torch's functions, not each operation\nadd those of your own functions to "
        "get_total_flops()"
    )


class _Calls(TorchFunctionMode):
    """Passes every call that has a formula to the counter."""

    def __init__(self, counter):
        super().__init__()
        self._counter = counter

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        formula = FORMULAS.get(getattr(func, "__name__", None))
        if formula is not None:
            self._counter._count(formula(out, *args, **kwargs), out)
        return out


class FlopCounterMode:
    """Counts the floating-point operations of what runs inside its `with`, by module.

    Products of matrices and convolutions are counted, and attention where it is such products or
    runs on a GPU, as torch's does; a multiplication and an addition are two.

    Args:
        mods: has no effect.
        depth: how many levels of modules the table shows.
        display: print the table at the end.
        custom_mapping: must be empty: see register_flop_formula.
        skip_unsupported: has no effect: nothing stops the counting.

    >>> layer = torch.nn.Linear(8, 4)
    >>> with torch.utils.flop_counter.FlopCounterMode(display=False) as counter:
    ...     y = layer(torch.ones(3, 8))
    >>> counter.get_total_flops()
    192
    """

    def __init__(
        self, mods=None, depth=2, display=True, custom_mapping=None, skip_unsupported=False
    ):
        if custom_mapping:
            register_flop_formula(custom_mapping)
        self.flop_counts = defaultdict(lambda: defaultdict(int))
        self.depth, self.display, self.skip_unsupported = depth, display, skip_unsupported
        self._mode = None

    def __enter__(self):
        self.flop_counts.clear()
        self._names, self._inside = {}, []
        self._hooks = [
            register_module_forward_pre_hook(self._enter_module),
            register_module_forward_hook(self._leave_module, always_call=True),
        ]
        self._mode = _Calls(self)
        self._mode.__enter__()
        return self

    def __exit__(self, *reason):
        mode, self._mode = self._mode, None
        mode.__exit__(*reason)
        for hook in self._hooks:
            hook.remove()
        self._names, self._inside = {}, []
        if self.display:
            print(self.get_table(self.depth))

    def _enter_module(self, module, _inputs):
        name = self._names.setdefault(module, type(module).__name__)
        for child, part in module.named_children():
            self._names.setdefault(part, f"{name}.{child}")
        self._inside.append(name)

    def _leave_module(self, _module, _inputs, _output):
        if self._inside:
            self._inside.pop()

    def _count(self, parts, out):
        """Adds the forward of each part, and its backward when that runs."""
        where = {"Global", *self._inside}
        later = []
        for name, flops, backward in parts:
            self._add(where, name, flops)
            later += backward
        node = getattr(out[0] if isinstance(out, tuple) else out, "grad_fn", None)
        if later and node is not None:
            node.register_hook(lambda *_gradients: self._count_backward(where, later))

    def _count_backward(self, where, parts):
        if self._mode is not None:
            for name, flops in parts:
                self._add(where, name, flops)

    def _add(self, where, name, flops):
        key = getattr(ops.aten, name)
        for module in where:
            self.flop_counts[module][key] += flops

    def get_total_flops(self):
        """The count of all operations."""
        return sum(self.flop_counts["Global"].values())

    def get_unsupported_ops(self):
        """An empty Counter: what has no formula is not counted."""
        return Counter()

    def get_flop_counts(self):
        """module -> operation -> how many; the module "Global" has all of them."""
        return {name: dict(counts) for name, counts in self.flop_counts.items()}

    def get_table(self, depth=None):
        """The counts as a table, modules down to a depth."""
        depth = depth or self.depth or 999999
        total = self.get_total_flops()
        suffix = max(0, (len(str(int(total))) - 1) // 3)
        names = [n for n in sorted(self.flop_counts) if n != "Global" and n.count(".") < depth]
        whole = any(sum(self.flop_counts[n].values()) >= total for n in names)
        rows = []
        for name in names if whole else ["Global", *names]:
            indent = " " * (name.count(".") + (not whole and name != "Global"))
            counts = self.flop_counts[name]
            lines = [(name, sum(counts.values())), *((f" - {k}", v) for k, v in counts.items())]
            rows += [
                (indent + text, _with_suffix(flops, suffix), _percent(flops, total))
                for text, flops in lines
            ]
        return _aligned([("Module", "FLOP", "% Total"), *(rows or [("Global", "0", "0%")])])


def _with_suffix(number, suffix):
    suffix = min(suffix, 4)
    return f"{number / 1000**suffix:.3f}{['', 'K', 'M', 'B', 'T'][suffix]}"


def _percent(number, total):
    return f"{number / total:.2%}" if total else "0%"


def _aligned(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    lines = [(r[0].ljust(widths[0]), r[1].rjust(widths[1]), r[2].rjust(widths[2])) for r in rows]
    rule = tuple("-" * width for width in widths)
    return "\n".join("  ".join(line) for line in [lines[0], rule, *lines[1:]])
