"""default_collate and default_convert against torch's, rule by rule."""

import collections

import numpy
import pytest

import rushlight
from rushlight.utils import data as ours
from tests.conftest import ask

Point = collections.namedtuple("Point", ["x", "y"])


class Unknown:
    """Nothing that a tensor can be made of; its text has no address."""

    def __repr__(self):
        return "unknown"


class Labelled(dict):
    """A mutable mapping with an attribute that must survive."""

    label = None


class Frozen(collections.abc.Mapping):
    def __init__(self, items):
        self.items_ = dict(items)

    def __getitem__(self, key):
        return self.items_[key]

    def __iter__(self):
        return iter(self.items_)

    def __len__(self):
        return len(self.items_)


def labelled(**items):
    result = Labelled(items)
    result.label = "kept"
    return result


def described(value):
    """Nested types, dtypes, shapes and values, for comparing the two libraries."""
    if isinstance(value, collections.abc.Mapping):
        return type(value).__name__, {key: described(value[key]) for key in value}
    if isinstance(value, list | tuple):
        return type(value).__name__, [described(item) for item in value]
    if hasattr(value, "requires_grad"):
        return str(value.dtype), tuple(value.shape), value.tolist()
    return type(value).__name__, str(value)


BATCHES = [
    lambda t: [0, 1, 2],
    lambda t: [True, False],
    lambda t: [0.5, 2.5],
    lambda t: ["a", "b"],
    lambda t: [b"a", b"b"],
    lambda t: [t.tensor([1, 2]), t.tensor([3, 4])],
    lambda t: [t.tensor(1.5), t.tensor(2.5)],
    lambda t: [(t.tensor([1.0]), 0), (t.tensor([2.0]), 1)],
    lambda t: [[1, "x"], [2, "y"]],
    lambda t: [{"a": 1, "b": [1.0, 2]}, {"a": 2, "b": [3.0, 4]}],
    lambda t: [Point(1, 2.0), Point(3, 4.0)],
    lambda t: [labelled(a=1), labelled(a=2)],
    lambda t: [Frozen({"a": 1}), Frozen({"a": 2})],
    lambda t: [numpy.arange(3), numpy.arange(3)],
    lambda t: [numpy.float32(1), numpy.float32(2)],
    lambda t: [numpy.float64(1), numpy.float64(2)],
    lambda t: [numpy.int16(1), numpy.int16(2)],
    lambda t: [numpy.bool_(True), numpy.bool_(False)],
    lambda t: [numpy.array(1.5), numpy.array(2.5)],
    lambda t: [range(3), range(3)],
    lambda t: [collections.deque([1, 2]), collections.deque([3, 4])],
    lambda t: [(1, (2, (3.0, "a"))), (4, (5, (6.0, "b")))],
]


@pytest.mark.parametrize("batch", BATCHES)
def test_collate(batch):
    theirs = ask(lambda t: described(t.utils.data.default_collate(batch(t))))
    assert described(ours.default_collate(batch(rushlight))) == theirs


@pytest.mark.parametrize(
    "sample",
    [
        *(lambda t, make=make: make(t)[0] for make in BATCHES),
        lambda t: [numpy.array([0, 1]), numpy.float32(2), "a", numpy.array(["text"])],
        lambda t: numpy.array([Unknown()]),
        lambda t: numpy.str_("word"),
        lambda t: None,
    ],
)
def test_convert(sample):
    theirs = ask(lambda t: described(t.utils.data.default_convert(sample(t))))
    mine = ours.default_convert(sample(rushlight))
    assert described(mine) == theirs


@pytest.mark.parametrize(
    "batch",
    [
        lambda t: [None, None],
        lambda t: [object(), object()],
        lambda t: [[1, 2], [1]],
        lambda t: [numpy.array(["a"]), numpy.array(["b"])],
        lambda t: [numpy.array([None]), numpy.array([None])],
        lambda t: [t.zeros(2), t.zeros(3)],
        lambda t: [{"a": 1}, {"b": 1}],
    ],
)
def test_collate_errors(batch):
    with pytest.raises(Exception) as theirs:
        ask(lambda t: t.utils.data.default_collate(batch(t)))
    with pytest.raises(theirs.type) as mine:
        ours.default_collate(batch(rushlight))
    first = str(theirs.value).splitlines()[0]
    assert str(mine.value).splitlines()[0].split(" at 0x")[0] == first.split(" at 0x")[0]


def test_attributes_survive():
    assert ours.default_collate([labelled(a=1), labelled(a=2)]).label == "kept"


def test_shapes_that_differ_teach():
    with pytest.raises(RuntimeError, match="equal size") as caught:
        ours.default_collate([rushlight.zeros(2), rushlight.zeros(3)])
    assert "collate_fn" in caught.value.__notes__[0]


def test_table_can_be_extended():
    from rushlight.utils.data._utils.collate import collate, default_collate_fn_map

    table = {set: lambda batch, *, collate_fn_map=None: sorted(set().union(*batch))}
    assert collate([{1, 3}, {2}], collate_fn_map={**default_collate_fn_map, **table}) == [1, 2, 3]
