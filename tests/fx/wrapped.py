"""Functions that torch.fx.wrap names: the module is run once for each library, as `fx` means it."""

import math
import operator

SOURCE = """
import math, operator
from math import floor

fx.wrap("len")
fx.wrap("own")
fx.wrap("floor")


def own(x, scale=2):
    if x.sum() > 0:
        return x * scale
    return x


@fx.wrap
def decorated(x):
    return [each for each in x]


def uses(x):
    return own(x, scale=3) + len(x), decorated(x), own(1), math.sqrt(x.shape[0]), floor(x.shape[0])
"""


def run(torch):
    """Traced, retraced and run."""
    meanings = {"fx": torch.fx, "__name__": "programs_of_wrap"}
    exec(compile(SOURCE.replace("own(1)", "3"), "<wrap>", "exec"), meanings)
    traced = torch.fx.symbolic_trace(meanings["uses"])
    again = torch.fx.symbolic_trace(traced)
    flags = [n.meta.get("is_wrapped") for n in traced.graph.nodes]
    values = [meanings.get("len"), meanings["math"] is math]
    x = torch.ones(2)
    answer = [traced.code, again.code, flags, values, math.sqrt(4.0), operator.add(1, 1)]
    return [*answer, [str(v) for v in again(x)], str(traced.graph), meanings["own"].__name__]
