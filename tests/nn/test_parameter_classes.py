"""Parameters made of tensors of a program's own class, and dictionaries of parameters."""

import copy
import pickle
from collections import OrderedDict

import pytest

import rushlight as torch
from rushlight import nn
from tests.conftest import ask

pytestmark = pytest.mark.usefixtures("on_device")


class Marked(torch.Tensor):
    """A tensor class of a program's own."""


def test_a_parameter_of_a_tensor_subclass_keeps_its_class():
    given = torch.ones(2).as_subclass(Marked)
    p = nn.Parameter(given)
    assert type(p) is Marked and isinstance(p, nn.Parameter) and p.requires_grad and p.is_leaf
    assert p.data_ptr() == given.data_ptr()
    assert not isinstance(given, nn.Parameter) and not isinstance(p * 2, nn.Parameter)
    assert not isinstance(p, nn.UninitializedParameter)
    assert not nn.Parameter(given, requires_grad=False).requires_grad
    module = nn.Module()
    module.w = p
    assert list(dict(module.named_parameters())) == ["w"] and module.w is p
    assert type(module.w * 2) is Marked
    for other in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        assert type(other.w) is Marked and isinstance(other.w, nn.Parameter)
        assert other.w.requires_grad and list(other.state_dict()) == ["w"]
    with pytest.raises(TypeError, match="cannot assign"):
        module.w = given


def test_a_parameter_needs_a_detach_that_keeps_the_class():
    class Forgets(torch.Tensor):
        __torch_function__ = torch._C._disabled_torch_function_impl

    with pytest.raises(RuntimeError, match="Creating a Parameter from an instance of type Forgets"):
        nn.Parameter(torch.ones(2).as_subclass(Forgets))


def test_names_of_a_parameter_dict_keep_their_order():
    def run(library):
        nn = library.nn
        names = OrderedDict((n, library.ones(1)) for n in ("p2", "p10", "p1"))
        values = nn.ParameterDict(names)
        more = nn.ParameterDict(OrderedDict(z=library.ones(1), a=library.ones(1)))
        both = [values.copy(), values | more, more | values, names | more]
        return [(type(d).__name__, list(d)) for d in both]

    assert run(torch) == ask(run)
