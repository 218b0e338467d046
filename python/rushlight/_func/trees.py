"""Tensors within tuples, lists and dicts: flattened, and put back in the same structure."""

from rushlight import _C


def leaves(tree):
    """What a tree of tuples, lists and dicts holds, from left to right."""
    if isinstance(tree, tuple | list):
        return [leaf for branch in tree for leaf in leaves(branch)]
    if isinstance(tree, dict):
        return [leaf for branch in tree.values() for leaf in leaves(branch)]
    return [tree]


def mapped(function, tree, *others):
    """The tree with function(leaf, ...) instead of each leaf; others have its structure."""
    _C._check_stack()
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*(mapped(function, *b) for b in zip(tree, *others, strict=True)))
    if isinstance(tree, tuple | list):
        return type(tree)(mapped(function, *b) for b in zip(tree, *others, strict=True))
    if isinstance(tree, dict):
        made = {k: mapped(function, v, *(o[k] for o in others)) for k, v in tree.items()}
        return type(tree)(made)
    return function(tree, *others)


def is_tensor(value):
    """Whether it is a tensor."""
    return isinstance(value, _C.Tensor)
