"""The text of sparse tensors, as torch prints them."""

from rushlight._tensor_str import PRINT_OPTS, _contents, _reads_as_itself, with_suffixes


def _part(name, tensor, start):
    head = f"{name}=tensor("
    shown = tensor.detach()
    if shown.device.type == "meta":
        return f"{head}..., size={tuple(shown.shape)})"
    text = head + (_contents(shown, start + len(head)) if shown.numel() else "[]")
    if not shown.numel():
        text += f", size={tuple(shown.shape)}"
    return text + ")"


def _parts(x):
    if x.layout_name == "sparse_coo":
        return [("indices", x._i), ("values", x._v)]
    words = ("crow", "col") if x.layout_name == "sparse_csr" else ("ccol", "row")
    return [(f"{words[0]}_indices", x._c), (f"{words[1]}_indices", x._p), ("values", x._v)]


def text(x):
    """repr(x) of a sparse tensor."""
    prefix = "tensor("
    indent = len(prefix)
    body = (",\n" + " " * indent).join(_part(name, part, indent) for name, part in _parts(x))
    suffixes = []
    device, dtype = x._v.device, x._v.dtype
    if device.type != "cpu":
        suffixes.append(f"device='{device}'")
    suffixes.append(f"size={tuple(x._size)}")
    if device.type != "meta":
        suffixes.append(f"nnz={x._v.shape[0]}")
    if not _reads_as_itself(dtype):
        suffixes.append(f"dtype={dtype}")
    suffixes.append(f"layout=torch.{x.layout_name}")
    if x._v.requires_grad:
        if x._v.is_leaf and x._node is None:
            suffixes.append("requires_grad=True")
        else:
            suffixes.append(f"grad_fn=<{x._node or x._v.grad_fn.name()}>")
    return prefix + _joined(body, suffixes, indent, x.layout_name == "sparse_coo") + ")"


def _joined(body, suffixes, indent, on_new_line):
    if on_new_line:
        length = PRINT_OPTS.linewidth  # torch begins a line with what follows coordinates
    else:
        length = len(body) - body.rfind("\n") + 1
    return with_suffixes(body, length, suffixes, indent)
