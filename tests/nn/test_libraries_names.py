"""Names inside torch that libraries call: exchange of a module's tensor, weak keys, __getattr__."""

import pytest

import rushlight as torch
from rushlight.nn.utils._named_member_accessor import swap_tensor
from rushlight.utils.weak import WeakIdKeyDictionary


def test_swap_tensor():
    layer = torch.nn.Linear(2, 2)
    weight, other = layer.weight, torch.zeros(2, 2)
    assert swap_tensor(layer, "weight", other) is weight and layer.weight is other
    assert swap_tensor(layer, "weight", weight) is other and layer.weight is weight
    missing = swap_tensor(layer, "more", other, allow_missing=True)
    assert layer.more is other
    assert swap_tensor(layer, "more", missing) is other and not hasattr(layer, "more")
    for name, value, error in (
        ("nope", other, AttributeError),
        ("a.b", other, KeyError),
        ("in_features", other, TypeError),
        ("bias", 3, TypeError),
    ):
        with pytest.raises(error):
            swap_tensor(layer, name, value)


def test_a_class_that_calls_getattr_has_it():
    class Caller(torch.nn.Module):
        def read(self, name):
            return self.__getattr__(name)

    class Heir(Caller):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(2, 2)
            self.register_buffer("b", torch.ones(1))
            self.w = torch.nn.Parameter(torch.ones(1))

    heir = Heir()
    assert all(heir.read(name) is getattr(heir, name) for name in ("layer", "b", "w"))
    with pytest.raises(AttributeError, match="'Heir' object has no attribute 'nope'"):
        heir.nope


def test_weak_keys_are_compared_by_identity():
    notes = WeakIdKeyDictionary()
    a, b = torch.ones(2), torch.ones(2)
    notes[a], notes[b] = 1, 2
    assert notes[a] == 1 and notes[b] == 2 and next(iter(notes)) is a and 3 not in notes
    del a
    assert len(notes) == 1 and notes.copy()[b] == 2
    del notes[b]
    assert not notes
