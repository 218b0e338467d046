"""Names that programs pass on or compare with: tags of operators, schemes of quantized numbers."""

import enum


class Tag(enum.IntEnum):
    """What torch knows of an operator. torch.library takes them; nothing reads them.

    >>> torch.Tag.pointwise
    <Tag.pointwise: 16>
    """

    core = 0
    cudagraph_unsafe = 1
    data_dependent_output = 2
    dynamic_output_shape = 3
    flexible_layout = 4
    generated = 5
    inplace = 6
    inplace_view = 7
    maybe_aliasing_or_mutating = 8
    needs_contiguous_strides = 9
    needs_exact_strides = 10
    needs_fixed_stride_order = 11
    nondeterministic_bitwise = 12
    nondeterministic_seeded = 13
    out = 14
    out_variant = 15
    pointwise = 16
    pt2_compliant_tag = 17
    reduction = 18
    view_copy = 19

    __str__ = enum.Enum.__str__


Tag.__module__ = "rushlight"


class qscheme:
    """How a quantized tensor's numbers are scaled. There are no such tensors.

    Args:
        name: the name of the scheme.

    >>> torch.per_tensor_affine
    torch.per_tensor_affine
    """

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"torch.{self.name}"

    def __reduce__(self):
        return self.name  # of rushlight: the same object again


qscheme.__module__ = "rushlight"
per_tensor_affine = qscheme("per_tensor_affine")
per_channel_affine = qscheme("per_channel_affine")
per_tensor_symmetric = qscheme("per_tensor_symmetric")
per_channel_symmetric = qscheme("per_channel_symmetric")
per_channel_affine_float_qparams = qscheme("per_channel_affine_float_qparams")
