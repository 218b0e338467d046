"""The lists and dicts in a Node's arguments: they cannot be changed, as `users` depends on them."""

__all__ = ["immutable_dict", "immutable_list"]


def _refuses(base, *names):
    """A subclass of `base` whose methods of these names raise."""

    def refuse(self, *args, **kwargs):
        raise TypeError(
            f"'{type(self).__name__}' object does not support mutation. If you are attempting to "
            "modify the kwargs or args of a torch.fx.Node object,\n"
            "instead create a new copy of it and assign the copy to the node:\n\n"
            "    new_args = ...  # copy and mutate args\n"
            "    node.args = new_args"
        )

    return type(f"refusing_{base.__name__}", (base,), dict.fromkeys(names, refuse))


_List = _refuses(
    list,
    *("append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort"),
    *("__delitem__", "__iadd__", "__imul__", "__setitem__"),
)
_Dict = _refuses(
    dict,
    *("clear", "pop", "popitem", "setdefault", "update"),
    *("__delitem__", "__ior__", "__setitem__"),
)


class immutable_list(_List):  # type: ignore[misc, valid-type]
    """A list that cannot be changed, and has a hash.

    >>> torch.fx.immutable_collections.immutable_list([1, 2])
    [1, 2]
    """

    def __hash__(self):
        return hash(tuple(self))

    def __reduce__(self):
        return immutable_list, (list(self),)


class immutable_dict(_Dict):  # type: ignore[misc, valid-type]
    """A dict that cannot be changed, and has a hash.

    >>> torch.fx.immutable_collections.immutable_dict(a=1)
    {'a': 1}
    """

    def __hash__(self):
        return hash(frozenset(self.items()))

    def __reduce__(self):
        return immutable_dict, (dict(self),)


def _register():
    from rushlight.utils import _pytree as pytree

    pytree.register_pytree_node(
        immutable_list, lambda x: (list(x), None), lambda values, _: immutable_list(values)
    )
    pytree.register_pytree_node(
        immutable_dict,
        lambda x: (list(x.values()), list(x)),
        lambda values, keys: immutable_dict(zip(keys, values, strict=True)),
    )


_register()
