"""The operations that may give something of uint16 to uint64: as floats, by bits or as int64."""

from rushlight import _C

POINTWISE = {op["name"].removeprefix("special_") for op in _C._pointwise_ops()}
ALIASES = {alias for row in _C._rows() if row["name"] in POINTWISE for alias in row["aliases"]}
# Those of Python that are made of them, of one operand that is a float.
MADE_OF_THEM = """dist einsum gaussian_nll_loss margin_ranking_loss pairwise_distance
    poisson_nll_loss triplet_margin_loss triplet_margin_with_distance_loss""".split()
# What moves, orders or counts them (csrc/bindings/table/unsigned.cpp), and what is made of that.
MOVED = """__contains__ _pad_circular allclose argsort atleast_1d atleast_2d atleast_3d
    block_diag cartesian_prod constant_pad_nd corrcoef count_nonzero cov cumprod diag diag_embed
    diagflat float_power embedding index_select isclose isin kron log_softmax logsumexp meshgrid
    msort nan_to_num_ nansum outer pad polygamma positive randint_like repeat_interleave round_
    slice_scatter softmax sort unique unique_consecutive vander""".split()
OF_UNSIGNED = (
    POINTWISE | ALIASES | set("__rdiv__ sum prod cumsum any all".split() + MADE_OF_THEM + MOVED)
)
