"""torch.nn.functional: the table of contents.

What C++ computes is in _C._nn, under torch's own signatures; what is written in Python is found by
the index of the table of operations, its module imported at first use.
"""

from rushlight import _C, _index, _table

globals().update({name: f for name, f in vars(_C._nn).items() if not name.startswith("_")})


def __getattr__(name):
    if name == "_Reduction":
        from rushlight.nn import _reduction

        return _reduction
    function = _table.find(_index.FUNCTIONAL, name)
    if function is None:
        raise AttributeError(_table.absent(f"torch.nn.functional.{name}"), name=name)
    globals()[name] = function
    return function


def __dir__():
    return sorted({*globals(), *_table.names(_index.FUNCTIONAL)})
