"""The operations that may give something of uint16 to uint64: as floats, by bits or as int64."""

from rushlight import _C

POINTWISE = {op["name"].removeprefix("special_") for op in _C._pointwise_ops()}
ALIASES = {alias for row in _C._rows() if row["name"] in POINTWISE for alias in row["aliases"]}
# Those of Python that are made of them, of one operand that is a float.
MADE_OF_THEM = """dist einsum gaussian_nll_loss margin_ranking_loss pairwise_distance
    poisson_nll_loss triplet_margin_loss triplet_margin_with_distance_loss""".split()
OF_UNSIGNED = POINTWISE | ALIASES | set("__rdiv__ sum prod cumsum any all".split() + MADE_OF_THEM)
