"""The operations that may give something of uint16 to uint64: as floats, by bits or as int64."""

from rushlight import _C

POINTWISE = {op["name"].removeprefix("special_") for op in _C._pointwise_ops()}
ALIASES = {alias for row in _C._rows() if row["name"] in POINTWISE for alias in row["aliases"]}
OF_UNSIGNED = POINTWISE | ALIASES | set("__rdiv__ sum prod cumsum any all".split())
