"""What flop_counter.py counts of a call: a list of (torch's operation, operations, backward), where
backward is a list of the same pairs for what the gradient computes."""

from math import prod


def _needs(*tensors):
    """How many of the tensors get a gradient."""
    return sum(bool(getattr(each, "requires_grad", False)) for each in tensors)


def _product(name, flops, *tensors):
    """A product of matrices: each gradient is a product of the same size."""
    inner = {"addmm": "mm", "baddbmm": "bmm"}.get(name, name)
    return [(name, flops, [(inner, flops)] * _needs(*tensors))]


def linear(out, input, weight, bias=None):
    name = "addmm" if bias is not None and input.dim() > 1 else "mm"
    return _product(name, 2 * input.numel() * weight.shape[0], input, weight)


def mm(out, a, b, **_options):
    return _product("mm", 2 * a.numel() * b.shape[-1], a, b)


def addmm(out, input, a, b, **_options):
    return _product("addmm", 2 * a.numel() * b.shape[-1], a, b)


def bmm(out, a, b, **_options):
    return _product("bmm", 2 * a.numel() * b.shape[-1], a, b)


def baddbmm(out, input, a, b, **_options):
    return _product("baddbmm", 2 * a.numel() * b.shape[-1], a, b)


def matmul(out, a, b, **_options):
    """A product with a vector at the right is not counted, as torch's counter has no mv."""
    if b.dim() < 2 or a.dim() < 1 or (a.dim() == 1 and b.dim() > 2):
        return []
    name = "mm" if min(a.dim(), b.dim()) <= 2 else "bmm"
    return _product(name, 2 * out.numel() * a.shape[-1], a, b)


def reflected(out, a, b):
    return matmul(out, b, a)


def _convolution(out, input, weight, transposed):
    whole = input if transposed else out
    space = prod(whole.shape[2 - weight.dim() :])
    batch = input.shape[0] if input.dim() == weight.dim() else 1
    flops = 2 * batch * space * weight.numel()
    gradients = _needs(input, weight)
    return [("convolution", flops, [("convolution_backward", flops * gradients)][:gradients])]


def convolution(out, input, weight, *_args, **_options):
    return _convolution(out, input, weight, False)


def transposed_convolution(out, input, weight, *_args, **_options):
    return _convolution(out, input, weight, True)


ATTENTION = "_scaled_dot_product_efficient_attention"


def _fused(query, flops, backward_flops, has_gradient):
    """One kernel for all of attention: torch's counter knows those of GPUs, not the CPU's."""
    if query.device.type == "cpu":
        return []
    backward = [(f"{ATTENTION}_backward", backward_flops)] if has_gradient else []
    return [(ATTENTION, flops, backward)]


def attention(out, query, key, value, attn_mask=None, dropout_p=0.0, *_args, **_options):
    """Logits and the product of their softmax with values; the backward computes them once more."""
    pairs = 2 * prod(query.shape[:-1]) * key.shape[-2]
    by_key, by_value = pairs * query.shape[-1], pairs * value.shape[-1]
    if dropout_p > 0:
        return _product("bmm", by_key, query, key) + _product("bmm", by_value, query, value)
    has_gradient = _needs(query, key, value) > 0
    return _fused(query, by_key + by_value, 3 * by_key + 2 * by_value, has_gradient)


def einsum(out, equation, *operands):
    """Two operands: a product over all letters that both have or that stay."""
    operands = operands[0] if operands and isinstance(operands[0], (list, tuple)) else operands
    if not isinstance(equation, str) or len(operands) != 2 or "." in equation:
        return []
    left, _, stay = equation.replace(" ", "").partition("->")
    first, _, second = left.partition(",")
    sizes = dict(zip(first + second, (*operands[0].shape, *operands[1].shape), strict=True))
    stay = stay if "->" in equation else "".join(x for x in sizes if left.count(x) == 1)
    letters = (set(first) & set(second)) | set(stay)
    return _product("bmm", 2 * prod(sizes[x] for x in letters), *operands)


def multi_head_attention(
    out, query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias,
    bias_k=None, bias_v=None, add_zero_attn=False, dropout_p=0.0, out_proj_weight=None,
    out_proj_bias=None, training=True, key_padding_mask=None, need_weights=True, *_args, **_options,
):  # fmt: skip
    width = embed_dim_to_check
    parts = []
    name = "mm" if in_proj_bias is None else "addmm"
    for each in (query, key, value):
        parts += _product(name, 2 * each.numel() * width, each, in_proj_weight)
    batch = query.shape[1] if query.dim() == 3 else 1
    pairs = 2 * batch * query.shape[0] * key.shape[0] * width
    if need_weights or (training and dropout_p > 0):
        parts += _product("bmm", 2 * pairs, in_proj_weight, in_proj_weight)
    else:
        parts += _fused(query, 2 * pairs, 5 * pairs, True)
    name = "mm" if out_proj_bias is None else "addmm"
    return parts + _product(name, 2 * query.numel() * width, in_proj_weight, out_proj_weight)


# The name of a function or method -> its formula.
FORMULAS = {
    "linear": linear,
    "mm": mm,
    "addmm": addmm,
    "addmm_": addmm,
    "bmm": bmm,
    "baddbmm": baddbmm,
    "baddbmm_": baddbmm,
    "matmul": matmul,
    "__matmul__": matmul,
    "__rmatmul__": reflected,
    "conv1d": convolution,
    "conv2d": convolution,
    "conv3d": convolution,
    "conv_transpose1d": transposed_convolution,
    "conv_transpose2d": transposed_convolution,
    "conv_transpose3d": transposed_convolution,
    "scaled_dot_product_attention": attention,
    "einsum": einsum,
    "multi_head_attention_forward": multi_head_attention,
}
