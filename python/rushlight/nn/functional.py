"""torch.nn.functional: the table of contents.

What C++ offers under torch's own signature is handed on as it is, from _C._nn where torch
has another function of that name; the files in _functional hold the rest. Calls of C++ are made by
keyword where torch's argument order differs.
"""

from rushlight import _C
from rushlight.nn._functional.activation import *  # noqa: F403
from rushlight.nn._functional.distance import *  # noqa: F403
from rushlight.nn._functional.dropout import *  # noqa: F403
from rushlight.nn._functional.grid import *  # noqa: F403
from rushlight.nn._functional.loss import *  # noqa: F403
from rushlight.nn._functional.loss_more import *  # noqa: F403
from rushlight.nn._functional.multi_head import *  # noqa: F403
from rushlight.nn._functional.resample import *  # noqa: F403
from rushlight.nn._functional.sparse import *  # noqa: F403
from rushlight.nn._functional.vision import *  # noqa: F403

for _name, _function in vars(_C._nn).items():
    if not _name.startswith("_"):
        globals().setdefault(_name, _function)

_DIRECT = (
    "relu_", "threshold_", "rrelu_", "prelu", "hardshrink",
)  # fmt: skip


def __getattr__(name):
    if name in _DIRECT and hasattr(_C, name):
        function = globals()[name] = getattr(_C, name)
        return function
    raise AttributeError(f"torch.nn.functional.{name} is not in rushlight 0.1")


def __dir__():
    return sorted({*globals(), *(name for name in _DIRECT if hasattr(_C, name))})
