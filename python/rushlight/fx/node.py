"""Node: one step of a Graph, an element of its linked list, which knows the nodes that use it."""

import operator
import types
from typing import Any

from rushlight import _C
from rushlight._checks import _assert
from rushlight.fx._names import is_ours, pretty_target, qualified_name, type_repr
from rushlight.fx.immutable_collections import immutable_dict, immutable_list

__all__ = ["Node", "has_side_effect", "map_aggregate", "map_arg"]

base_types = (
    str, int, float, bool, complex, types.NoneType, type(...),
    _C.dtype, _C.Tensor, _C.device, _C.memory_format, _C.layout, range,
)  # fmt: skip
BaseArgumentTypes = str | int | float | bool | complex
Argument = Any
Target = Any

_legal_ops = dict.fromkeys(
    "placeholder call_method call_module call_function get_attr output root".split()
)
_side_effectful_functions: set = {_assert, operator.setitem}
_RANDOM = frozenset(
    "rand randn randint randperm rand_like randn_like randint_like normal poisson bernoulli "
    "multinomial".split()
)
_get_qualified_name = qualified_name
_type_repr = type_repr


def has_side_effect(fn):
    """Marks a function: its calls stay in a graph though nothing uses their results.

    Args:
        fn: the function.

    Returns: the function, so that this can decorate it.

    >>> @torch.fx.has_side_effect
    ... def log(x):
    ...     print(x)
    """
    _side_effectful_functions.add(fn)
    return fn


def _is_random(function):
    return getattr(function, "__name__", None) in _RANDOM and is_ours(function)


class Node:
    """One step of a graph: an input, an attribute, a call, or the output.

    Args:
        graph: the graph that it belongs to.
        name: its name, which must be the only one in the graph.
        op: "placeholder", "get_attr", "call_function", "call_method", "call_module" or "output".
        target: what is called: a function, or the name of a method, module or attribute.
        args: positional arguments; nodes in them are values that other nodes give.
        kwargs: keyword arguments.
        return_type: the annotation of its value.

    Attributes:
        users: the nodes that use its value, as the keys of a dict.
        meta: a dict for whatever passes want to keep.

    >>> graph = torch.fx.Graph()
    >>> x = graph.placeholder("x")
    >>> y = graph.call_function(torch.relu, (x,))
    >>> y.args, list(x.users)
    ((x,), [relu])
    """

    def __init__(self, graph, name, op, target, args, kwargs, return_type=None):
        if op not in _legal_ops:
            raise AssertionError(f"op '{op}' is not in _legal_ops\nthere are {[*_legal_ops]}")
        if op == "call_function" and not callable(target):
            raise ValueError(
                f"Node [graph = {graph}, name = '{name}'] target {target} has type "
                f"{type(target).__name__} but a Callable is expected"
            )
        if op != "call_function" and not isinstance(target, str):
            raise ValueError(
                f"Node [graph = {graph}, name = '{name}'] target {target} has type "
                f"{type(target).__name__} but a str is expected"
            )
        self.graph = graph
        self.name, self.op, self.target, self.type = name, op, target, return_type
        self._args: tuple = ()
        self._kwargs: dict = {}
        self._input_nodes: dict[Node, None] = {}
        self.users: dict[Node, None] = {}
        self._prev = self._next = self
        self._erased = False
        self._repr_fn = None
        self.meta: dict[str, Any] = {}
        self._set_arguments(args, kwargs)

    def __repr__(self):
        return self._repr_fn(self) if self._repr_fn else self.name

    def __lt__(self, other):
        return self.graph._position(self) < self.graph._position(other)

    def __gt__(self, other):
        return other < self

    def __le__(self, other):
        return self is other or self < other

    def __ge__(self, other):
        return self is other or other < self

    @property
    def next(self):
        """The next node of the graph; after the last, the root of its list."""
        return self._next

    @property
    def prev(self):
        """The node before; before the first, the root of its list."""
        return self._prev

    def prepend(self, x):
        """Moves a node of the same graph before this one.

        Args:
            x: the node to move.
        """
        if self.graph is not x.graph:
            raise AssertionError("Attempting to move a Node into a different Graph")
        if self is x:
            return
        x._remove_from_list()
        before = self._prev
        before._next, x._prev = x, before
        x._next, self._prev = self, x
        self.graph._positions = None

    def append(self, x):
        """Moves a node of the same graph behind this one.

        Args:
            x: the node to move.
        """
        self._next.prepend(x)

    def _remove_from_list(self):
        self._prev._next, self._next._prev = self._next, self._prev
        self.graph._positions = None

    @property
    def args(self):
        """The positional arguments; assigning them keeps `users` of the nodes in them right."""
        return self._args

    @args.setter
    def args(self, a):
        self._set_arguments(a, self._kwargs)

    @property
    def kwargs(self):
        """The keyword arguments, as `args`."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, k):
        self._set_arguments(self._args, k)

    @property
    def all_input_nodes(self):
        """The nodes whose values it uses, each once, in the order of the arguments."""
        return list(self._input_nodes)

    def _set_arguments(self, args, kwargs):
        seen: dict[Node, None] = {}

        def see(arg):
            if isinstance(arg, Node):
                seen[arg] = None
            return arg

        args = tuple(map_aggregate(arg, see) for arg in args)
        kwargs = map_aggregate(dict(kwargs), see)
        for node in self._input_nodes:
            node.users.pop(self, None)
        self._args, self._kwargs, self._input_nodes = args, kwargs, seen
        for node in seen:
            node.users.setdefault(self)

    def insert_arg(self, idx, arg):
        """Inserts a positional argument.

        Args:
            idx: its position.
            arg: the argument.
        """
        if not 0 <= idx <= len(self._args):
            raise AssertionError(
                f"insert_args index must be between 0 and len(self.args), got {idx}\n"
                f"there are {len(self._args)} arguments"
            )
        self.args = (*self._args[:idx], arg, *self._args[idx:])

    def update_arg(self, idx, arg):
        """Replaces a positional argument.

        Args:
            idx: its position.
            arg: the new argument.
        """
        args = list(self._args)
        args[idx] = arg
        self.args = tuple(args)

    def update_kwarg(self, key, arg):
        """Replaces a keyword argument.

        Args:
            key: its name.
            arg: the new argument.
        """
        self.kwargs = {**self._kwargs, key: arg}

    @property
    def stack_trace(self):
        """Where in the traced program it was recorded, if the tracer kept that."""
        return self.meta.get("stack_trace", None)

    @stack_trace.setter
    def stack_trace(self, trace):
        self.meta["stack_trace"] = trace

    def _rename(self, candidate):
        if candidate != self.name:
            self.name = self.graph._graph_namespace.create_name(candidate, None)

    def replace_all_uses_with(self, replace_with, delete_user_cb=None, *, propagate_meta=False):
        """Has every user of this node use another in its place.

        Args:
            replace_with: the other node.
            delete_user_cb: a function of a user, which says whether to change it.
            propagate_meta: whether to copy `meta` to the other node, which must have none.

        Returns: the users that were changed.

        >>> graph = torch.fx.symbolic_trace(lambda x: x.sin().cos()).graph
        >>> x, sin, cos, output = graph.nodes
        >>> sin.replace_all_uses_with(x)
        [cos]
        """
        if propagate_meta:
            if replace_with.meta:
                raise AssertionError(
                    "Called node.replace_all_uses_with(replace_with, propagate_meta=True), but "
                    "replace_with already has .meta keys"
                )
            replace_with.meta.update(self.meta)
        changed = [u for u in list(self.users) if delete_user_cb is None or delete_user_cb(u)]
        for user in changed:
            user._replace_input_with(self, replace_with)
        return changed

    def replace_input_with(self, old_input, new_input):
        """Uses one node in place of another in all arguments.

        Args:
            old_input: the node in the arguments.
            new_input: what takes its place.
        """
        self._replace_input_with(old_input, new_input)

    def _replace_input_with(self, old, new):
        def change(node):
            return new if node is old else node

        module = self.graph.owning_module
        for hook in getattr(module, "_replace_hooks", None) or ():
            hook(old=old, new=getattr(new, "name", new), user=self)
        self._set_arguments(map_arg(self._args, change), map_arg(self._kwargs, change))

    def is_impure(self, impure_random=True):
        """Whether it must stay though nothing uses its value: inputs, the output, calls that are
        marked by `has_side_effect`, in-place functions, and random functions.

        Args:
            impure_random: whether functions that draw random numbers count.
        """
        if self.op in ("placeholder", "output"):
            return True
        if self.op == "call_function":
            return self.target in _side_effectful_functions or (
                impure_random and _is_random(self.target)
            )
        if self.op == "call_module":
            module = self.graph.owning_module
            if module is None:
                return False
            return getattr(module.get_submodule(self.target), "_is_impure", False)
        return False

    def normalized_arguments(
        self,
        root,
        arg_types=None,
        kwarg_types=None,
        normalize_to_only_use_kwargs=False,
    ):
        """The arguments with defaults filled in and, if asked for, all by keyword.

        Args:
            root: the module that modules are looked up in.
            arg_types: accepted.
            kwarg_types: accepted.
            normalize_to_only_use_kwargs: whether positional arguments become keywords too.

        Returns: a pair (args, kwargs), or None if the signature is not known.
        """
        from rushlight.fx.operator_schemas import normalize_function, normalize_module

        if self.op == "call_function":
            return normalize_function(
                self.target, self.args, self.kwargs, arg_types, kwarg_types,
                normalize_to_only_use_kwargs=normalize_to_only_use_kwargs,
            )  # fmt: skip
        if self.op == "call_module":
            return normalize_module(
                root, self.target, self.args, self.kwargs, normalize_to_only_use_kwargs
            )
        return None

    def _pretty_print_target(self, target):
        return pretty_target(target)

    def format_node(
        self, placeholder_names=None, maybe_return_typename=None, *, include_tensor_metadata=False
    ):
        """The line of this node in the text of a graph.

        Args:
            placeholder_names: a list that the names of inputs are added to.
            maybe_return_typename: a list of one text, to which the type of the output is added.
            include_tensor_metadata: accepted.
        """
        kind = "" if self.type is None else f"{type_repr(self.type)} "
        head = f"%{self.name} : {kind}[num_users={len(self.users)}] = {self.op}"
        if self.op == "placeholder":
            default = f"(default={self.args[0]})" if self.args else ""
            return f"{head}[target={self.target}]{default}"
        if self.op == "get_attr":
            return f"{head}[target={pretty_target(self.target)}]"
        if self.op == "output":
            if self.type is not None and maybe_return_typename:
                maybe_return_typename[0] = f" -> {type_repr(self.type)}"
            return f"return {self.args[0] if self.args else None}"
        target = pretty_target(self.target)
        return (
            f"{head}[target={target}](args = {_format_arg(self.args)}, "
            f"kwargs = {_format_arg(self.kwargs)})"
        )


def _format_arg(arg):
    """An argument in the text of a graph."""
    if isinstance(arg, list):
        return f"[{', '.join(map(_format_arg, arg))}]"
    if isinstance(arg, tuple):
        return f"({', '.join(map(_format_arg, arg))}{',' if len(arg) == 1 else ''})"
    if isinstance(arg, dict):
        return f"{{{', '.join(f'{k}: {_format_arg(v)}' for k, v in arg.items())}}}"
    return f"%{arg}" if isinstance(arg, Node) else str(arg)


def map_arg(a, fn):
    """Applies a function to every Node in arguments.

    Args:
        a: an argument, or tuples, lists, dicts and slices of them.
        fn: a function of a node.

    Returns: the same structure, with what `fn` returns in place of the nodes.

    >>> x = torch.fx.Graph().placeholder("x")
    >>> torch.fx.map_arg([x, 2], lambda node: node.name)
    ['x', 2]
    """
    if not callable(fn):
        raise AssertionError("torch.fx.map_arg(a, fn): fn must be a callable")
    return map_aggregate(a, lambda x: fn(x) if isinstance(x, Node) else x)


def map_aggregate(a, fn):
    """Applies a function to everything in tuples, lists, dicts and slices that is none of these.

    Args:
        a: what to go through.
        fn: a function of a leaf.

    Returns: the same structure, its lists and dicts immutable.

    >>> torch.fx.node.map_aggregate((1, [2, {"a": 3}]), lambda x: x + 1)
    (2, [3, {'a': 4}])
    """
    if isinstance(a, tuple):
        values = [map_aggregate(x, fn) for x in a]
        return type(a)(*values) if hasattr(a, "_fields") else tuple(values)
    if isinstance(a, list):
        return immutable_list([map_aggregate(x, fn) for x in a])
    if isinstance(a, dict):
        return immutable_dict((k, map_aggregate(v, fn)) for k, v in a.items())
    if isinstance(a, slice):
        parts = (map_aggregate(x, fn) for x in (a.start, a.stop, a.step))
        return slice(*parts)
    return fn(a)
