"""Names inside torch that libraries call: exchange of a module's tensor, weak keys, __getattr__,
annotations."""

import pytest

import rushlight as torch
from rushlight.nn.utils._named_member_accessor import swap_tensor
from rushlight.utils.weak import WeakIdKeyDictionary
from tests.conftest import ask


def test_swap_tensor(on_device):
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


def test_a_class_that_calls_getattr_has_it(on_device):
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


def test_weak_keys_are_compared_by_identity(on_device):
    notes = WeakIdKeyDictionary()
    a, b = torch.ones(2), torch.ones(2)
    notes[a], notes[b] = 1, 2
    assert notes[a] == 1 and notes[b] == 2 and next(iter(notes)) is a and 3 not in notes
    del a
    assert len(notes) == 1 and notes.copy()[b] == 2
    del notes[b]
    assert not notes


class Mixin:
    def __getattr__(self, name):
        if name == "special":
            return 3
        return super().__getattr__(name)


def test_getattr_is_an_attribute_of_the_class(on_device):
    class Plain(torch.nn.Module):
        pass

    class ByName(torch.nn.Module):
        def __getattr__(self, name):
            try:
                return torch.nn.Module.__getattr__(self, name)
            except AttributeError:
                return "other"

    class Mixed(Mixin, torch.nn.Module):
        pass

    assert torch.nn.Module.__getattr__ is Plain.__getattr__
    plain = Plain()
    plain.w = torch.nn.Parameter(torch.ones(1))
    assert plain.__getattr__("w") is plain.w
    with pytest.raises(AttributeError, match="'Plain' object has no attribute 'nope'"):
        plain.nope
    assert ByName().nope == "other" and ByName().training is True
    assert Mixed().special == 3 and Mixed().training is True
    with pytest.raises(AttributeError, match="'Mixed' object has no attribute 'nope'"):
        Mixed().nope


def test_python_itself_does_not_call_it(monkeypatch):
    class Plain(torch.nn.Module):
        pass

    def never(self, name):
        raise AssertionError(name)

    before = torch.nn.Module.__getattr__
    assert not hasattr(Plain(), "nope")
    monkeypatch.setattr(torch.nn.Module, "__getattr__", never)  # as torch, from now on it is
    with pytest.raises(AssertionError, match="nope"):
        Plain().nope
    monkeypatch.undo()
    assert torch.nn.Module.__getattr__ is before and not hasattr(Plain(), "nope")


NAMES = (
    "MSELoss() Conv2d(1,1,1) BatchNorm1d(2) Dropout() "
    "CrossEntropyLoss() Linear(2,2) LayerNorm(3) AvgPool2d(2) MaxPool1d(2) GELU() Softmax(0) "
    "CosineSimilarity() TripletMarginLoss() ReflectionPad2d(1) Unfold(2) PixelShuffle(2) LSTM(2,2) "
    "Embedding(3,2) GroupNorm(1,2) AdaptiveAvgPool2d(1) ELU() ConstantPad1d(1,0.0) RNNCell(2,2)"
).split()


@pytest.mark.parametrize("name", NAMES)
def test_hints(name):
    def hints(torch):
        import types
        import typing

        def told(hint):
            either = typing.get_origin(hint) in (typing.Union, types.UnionType)
            return sorted(map(str, typing.get_args(hint))) if either else str(hint)

        found = typing.get_type_hints(eval(f"torch.nn.{name}", {"torch": torch}))
        return {key: str(told(value)).replace("rushlight", "torch") for key, value in found.items()}

    assert hints(torch) == ask(hints)
