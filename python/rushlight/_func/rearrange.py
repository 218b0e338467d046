"""rearrange: the dimensions of a tensor named, split, joined and put in another order."""

import math
import re

from rushlight import _C

_TOKEN = re.compile(r"\s*(\.\.\.|\w+|[()])")


class DimensionBindError(Exception):
    """Sizes do not fit the names of dimensions."""


def _checked(token, pattern):
    if token in ("(", ")", "..."):
        return token
    if token.isdigit():
        if token != "1":
            raise ValueError(
                f"rearrange only supports unnamed axes of size 1\n{token} in {pattern!r}"
            )
        return token
    reason = "not a valid python identifier"
    if token.isidentifier():
        if token[0] != "_" and token[-1] != "_":
            return token
        reason = "axis name should should not start or end with underscore"
    raise ValueError(f"Invalid axis identifier: {token}\n{reason}")


def _side(text, pattern):
    """The groups of one side: tuples of names; a dimension of its own is a group of one."""
    if text.replace("...", "", 1).count("."):
        raise ValueError(
            "Expression may contain dots only inside ellipsis (...); only one ellipsis for tensor "
        )
    groups, inside, at = [], None, 0
    text = text.rstrip()
    while at < len(text):
        found = _TOKEN.match(text, at)
        if not found:
            raise ValueError(f"Unknown character {text[at:].lstrip()[0]!r}")
        token, at = _checked(found[1], pattern), found.end()
        if token == "(":
            if inside is not None:
                raise ValueError(
                    "Axis composition is one-level (brackets inside brackets not allowed)"
                )
            inside = []
        elif token == ")":
            if inside is None:
                raise ValueError("Brackets are not balanced")
            groups.append(tuple(inside))
            inside = None
        elif inside is None:
            groups.append(() if token == "1" else (token,))
        elif token != "1":
            inside.append(token)
    if inside is not None:
        raise ValueError(f"Imbalanced parentheses in expression: {text!r}")
    names = [name for group in groups for name in group]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"Indexing expression contains duplicate dimension {name!r}")
    return groups


def _parsed(pattern, lengths):
    sides = pattern.split("->")
    if len(sides) != 2:
        raise ValueError("Pattern must contain a single '->' separator")
    left, right = (_side(side, pattern) for side in sides)
    names, wanted = ({name for group in side for name in group} for side in (left, right))
    if "..." in wanted and "..." not in names:
        raise ValueError(f"Ellipsis found in right side, but not left side of a pattern {pattern}")
    if any("..." in group and len(group) > 1 for group in left) or "(...)" in sides[0].replace(
        " ", ""
    ):
        raise ValueError(f"Ellipsis is parenthesis in the left side is not allowed: {pattern}")
    if alone := (names ^ wanted) - {"..."} or names ^ wanted:
        raise ValueError(
            f"Identifiers only on one side of rearrange expression (should be on both): {alone}"
        )
    if unknown := set(lengths) - names:
        raise ValueError(f"Identifiers not found in rearrange expression: {unknown}")
    return left, right


def _split_sizes(group, size, lengths):
    """The sizes of the dimensions that one of this size is split into."""
    known = [lengths.get(name) for name in group]
    if known.count(None) > 1:
        missing = [name for name in group if name not in lengths]
        raise DimensionBindError(f"cannot infer the sizes of two dimensions at once {missing}")
    product = math.prod(n for n in known if n is not None)
    if None in known:
        if product == 0 or size % product:
            raise DimensionBindError(
                f"inferred dimension does not evenly fit into larger dimension: {size} vs {known}"
            )
        known[known.index(None)] = size // product
    elif product != size:
        raise DimensionBindError(
            f"Dimension sizes to do not match ({size} != {product}) when matching dimension pack "
            f"{group}"
        )
    return known


def rearrange(tensor, pattern: str, **axes_lengths: int):
    """Permutes, splits and joins dimensions as a pattern of their names says.

    Args:
        tensor: the tensor, or a sequence of tensors, which are stacked in a first dimension.
        pattern: the names before and after "->". Names in parentheses are one dimension together,
            "..." stands for any dimensions, 1 for one of size 1.
        axes_lengths: the sizes of dimensions that the pattern splits off.

    Shape: any; the result has the dimensions on the right of the pattern.

    Raises:
        ValueError: if the pattern is none, or has not the tensor's number of dimensions.

    >>> images = torch.zeros(8, 32, 30, 3)
    >>> torch.func.rearrange(images, "b (h1 h) w c -> b h1 c (h w)", h1=2).shape
    torch.Size([8, 2, 3, 480])
    """
    if not isinstance(tensor, _C.Tensor):
        tensor = _C.stack(tensor)
    left, right = _parsed(pattern, axes_lengths)
    dots = ("...",) in left
    least = len(left) - dots
    if tensor.dim() < least or (tensor.dim() > least and not dots):
        raise ValueError(
            f"Number of dimensions in pattern ({least}) must be equal to the number of dimensions "
            f"in the tensor ({tensor.dim()})"
        )
    names, sizes, dim = [], [], 0
    for group in left:
        if group == ("...",):
            of_dots = range(tensor.dim() - least)
            names += [f"...{i}" for i in of_dots]
            sizes += [tensor.size(dim + i) for i in of_dots]
            dim += len(of_dots)
            continue
        names += group
        sizes += _split_sizes(group, tensor.size(dim), axes_lengths)
        dim += 1
    dotted = [name for name in names if name.startswith("...")]
    wanted = [
        [part for name in group for part in (dotted if name == "..." else [name])]
        for group in right
    ]
    position = {name: i for i, name in enumerate(names)}
    joined = []
    for group, parts in zip(right, wanted, strict=True):
        if group == ("...",) and "(...)" not in pattern.replace(" ", ""):
            joined += [sizes[position[name]] for name in parts]
        else:
            joined.append(math.prod(sizes[position[name]] for name in parts))
    order = [position[name] for parts in wanted for name in parts]
    return tensor.reshape(sizes).permute(order).reshape(joined)
