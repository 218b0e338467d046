"""torch.nn.functional: the table of contents.

What C++ computes is in _C._nn, under torch's own signatures; what is written in Python is found by
the index of the table of operations, its module imported at first use.
"""

from importlib import import_module as _import_module

from rushlight import _C, _index, _table

globals().update({name: f for name, f in vars(_C._nn).items() if not name.startswith("_")})


# Parts of torch's own code that copies of it import; name -> the module that has it.
_PARTS = {
    **dict.fromkeys(
        ("_in_projection", "_in_projection_packed", "_canonical_mask", "_none_or_dtype"),
        "rushlight.nn._functional.multi_head",
    ),
    **dict.fromkeys(("_get_softmax_dim", "_verify_batch_size"), "rushlight.nn._functional.checks"),
    **dict.fromkeys(("_single", "_pair", "_triple"), "rushlight.nn.modules.utils"),
    **dict.fromkeys(
        ("has_torch_function", "handle_torch_function", "has_torch_function_unary",
         "has_torch_function_variadic"),
        "rushlight.overrides",
    ),
    "boolean_dispatch": "rushlight._jit_internal",
    "grad": "rushlight.nn",
}  # fmt: skip


def __getattr__(name):
    if name == "_Reduction":
        from rushlight.nn import _reduction

        return _reduction
    if name in _PARTS:
        return getattr(_import_module(_PARTS[name]), name)
    function = _table.find(_index.FUNCTIONAL, name)
    if function is None:
        raise AttributeError(_table.absent(f"torch.nn.functional.{name}"), name=name)
    globals()[name] = function
    return function


def __dir__():
    return sorted({*globals(), *_table.names(_index.FUNCTIONAL)})
