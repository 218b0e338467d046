"""torch.utils._pytree: leaves, specs, paths and registration, against torch's."""

import importlib
import re
from collections import OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass

import pytest

import rushlight
from tests.conftest import ask

Pair = namedtuple("Pair", "u v")
TREES = (
    "{'b': [1, (2, 3)], 'a': None, 'c': OrderedDict(x=1)}", "Pair(1, [2])", "()", "[]",
    "{}", "None",
    "defaultdict(list, a=[1, 2])", "deque([1, (2,)], maxlen=3)", "T.Size([1, 2])", "{1, 2}",
    "slice(1, 2)", "range(3)", "'text'", "[[[[1]]]]", "{1: {'x': (1, Pair(2, {}))}}",
    "(1, 'a', 2.5)",
)  # fmt: skip
CALLS = (
    "P.tree_flatten(x)[0]", "repr(P.tree_structure(x))", "P.tree_leaves(x)", "P.tree_is_leaf(x)",
    "P.tree_map(lambda y: [y], x)", "P.tree_map(lambda y, z: (y, z), x, x)",
    "P.tree_map_only(int, lambda y: y + 1, x)", "P.tree_any(lambda y: y is None, x)",
    "P.tree_all_only(int, lambda y: y > 1, x)",
    "[P.keystr(k) for k, _ in P.tree_leaves_with_path(x)]",
    "repr(P.tree_flatten_with_path(x)[0])", "P.tree_map_with_path(lambda k, y: P.keystr(k), x)",
    "[P.key_get(x, k) for k, _ in P.tree_leaves_with_path(x)] == P.tree_leaves(x)",
    "P.tree_unflatten(range(P.tree_structure(x).num_leaves), P.tree_structure(x))",
    "(P.tree_structure(x).num_nodes, P.tree_structure(x).num_children)",
    "P.tree_structure(x).is_leaf()",
    "P.tree_structure(x) == P.tree_structure(x)",
    "P._broadcast_to_and_flatten(7, P.tree_structure(x))",
    "P.tree_flatten(x, is_leaf=lambda y: isinstance(y, tuple))[0]",
    "P.tree_map(lambda *y: y, x, [1])", "P.tree_map(lambda *y: y, x, {'b': 1})",
    "P.tree_map(lambda *y: y, [1, 2], x)", "P.tree_map(lambda *y: y, {'a': 1, 'b': 2}, x)",
    "P.tree_unflatten([1, 2, 3, 4, 5, 6, 7], P.tree_structure(x))", "P.tree_unflatten([1], 3)",
    "P.arg_tree_leaves(x, y=x)", "P.tree_structure(x).type",
    "(P.is_namedtuple_class(type(x)), P.is_namedtuple_instance(x), P.is_namedtuple_class(x))",
)  # fmt: skip


def answers(torch, call):
    pytree = importlib.import_module(torch.__name__ + ".utils._pytree")
    known = {"P": pytree, "T": torch, "Pair": Pair, "OrderedDict": OrderedDict}
    known |= {"defaultdict": defaultdict, "deque": deque}
    found = []
    for tree in TREES:
        try:
            value = repr(eval(call, {**known, "x": eval(tree, known)}))
        except (ValueError, TypeError) as error:
            value = f"{type(error).__name__}: {error}"
        found.append(re.sub(" at 0x[0-9a-f]+", "", value.replace("rushlight.", "torch.")))
    return found


@pytest.mark.parametrize("call", CALLS)
def test_like_torch(call):
    theirs = ask(lambda torch: answers(torch, call))
    for tree, mine, other in zip(TREES, answers(rushlight, call), theirs, strict=True):
        assert mine == other, tree


@pytest.mark.parametrize("kind", ["namedtuple", "deque", "ordereddict", "defaultdict"])
def test_functions_of_one_container(kind):
    trees = {
        "namedtuple": Pair(1, [2]), "deque": deque([1, (2,)], maxlen=3),
        "ordereddict": OrderedDict(b=1, a=[2]), "defaultdict": defaultdict(list, b=1, a=[2]),
    }  # fmt: skip

    def found(torch):
        pytree = importlib.import_module(torch.__name__ + ".utils._pytree")
        parts = getattr(pytree, f"_{kind}_flatten")(trees[kind])
        keys = getattr(pytree, f"_{kind}_flatten_with_keys")(trees[kind])
        return repr((parts, getattr(pytree, f"_{kind}_unflatten")(*parts), keys))

    assert found(rushlight) == ask(found)


def test_named_results():
    pytree = importlib.import_module("rushlight.utils._pytree")
    largest = rushlight.tensor([[1.0, 3.0], [2.0, 0.0]]).max(1)
    doubled = pytree.tree_map(lambda t: t * 2, {"max": largest})["max"]
    assert type(doubled) is rushlight.return_types.max
    assert doubled.values.tolist() == [6.0, 4.0]
    assert doubled.indices.tolist() == [2, 0]


def test_dicts_of_a_module():
    pytree = rushlight.utils._pytree
    layer = rushlight.nn.Linear(2, 1)
    leaves, spec = pytree.tree_flatten([layer._parameters, layer._buffers])
    assert leaves[0] is layer.weight and leaves[1] is layer.bias and len(leaves) == 2
    assert spec == pytree.tree_structure([{"weight": 1, "bias": 2}, {}])
    made = pytree.tree_map(rushlight.zeros_like, layer._parameters)
    assert type(made) is dict and list(made) == ["weight", "bias"] and layer.weight.any()


def test_registration():
    pytree = importlib.import_module("rushlight.utils._pytree")

    class Box:
        def __init__(self, inside):
            self.inside = inside

    assert pytree.tree_leaves([Box(1)])[0].inside == 1
    pytree.register_pytree_node(Box, lambda b: ([b.inside], None), lambda parts, _: Box(*parts))
    try:
        assert pytree.tree_leaves([Box((1, 2))]) == [1, 2]
        assert pytree.tree_map(str, Box(3)).inside == "3"
        with pytest.raises(ValueError, match="already registered"):
            pytree.register_pytree_node(Box, None, None)
        with pytest.raises(ValueError, match="flatten_with_keys_fn"):
            pytree.tree_flatten_with_path(Box(1))
    finally:
        pytree._deregister_pytree_node(Box)

    @dataclass
    class Point:
        x: int
        y: int | None = None

    pytree.register_dataclass(Point)
    try:
        assert pytree.tree_map(lambda v: v + 1, Point(1)) == Point(2)
        (path, _), _ = pytree.tree_leaves_with_path(Point(1, 2))
        assert pytree.keystr(path) == ".x"
    finally:
        pytree._deregister_pytree_node(Point)


def test_named_results_are_known():
    def known(torch):
        from importlib import import_module

        tree = import_module(f"{torch.__name__}.utils._pytree")
        found = torch.ones(2, 2).max(1)
        asked = (tree.is_structseq, tree.is_structseq_class, tree.is_structseq_instance)
        return [f(x) for f in asked for x in (found, type(found), (1, 2), tuple, 3)]

    assert known(rushlight) == ask(known)
