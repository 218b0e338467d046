"""torch.compile of a module against torch: names, attributes, copies."""

import copy
import pickle
import subprocess
import sys

import pytest

import rushlight
from tests.conftest import ask


def answers(t):
    net = t.nn.Sequential(t.nn.Linear(2, 3), t.nn.ReLU())
    made = t.compile(net, backend="eager")
    seen = [list(made.state_dict()), [name for name, _ in made.named_modules()], repr(made)]
    seen += [type(made).__name__, isinstance(made, t._dynamo.eval_frame.OptimizedModule)]
    seen += [isinstance(made, t._dynamo.OptimizedModule), made._orig_mod is net]
    made.eval()
    seen += [net.training, net[0].training, made.train() is made, net.training]
    made.training = False
    seen.append(net.training)
    made.note = 3
    made.scale = t.nn.Parameter(t.ones(1))
    seen += [net.note, list(net.state_dict()), list(made.state_dict()), len(made), bool(made)]
    del made.note
    seen += [hasattr(net, "note"), made.append.__self__ is net]
    seen += [t.compile(net, disable=True) is net]
    seen.append(type(t.compile(backend="eager")(net)).__name__)
    seen += [net.compile(backend="eager"), {"note", "_orig_mod", "scale"} & set(dir(made))]
    for does in (lambda: made.nothing, lambda: len(t.compile(t.nn.ReLU(), backend="eager"))):
        try:
            does()
        except (AttributeError, TypeError) as error:
            seen += [type(error).__name__, str(error)]
    return seen


def test_a_compiled_module_has_the_module(on_device):
    assert answers(rushlight) == ask(answers)


def test_a_compiled_module_runs_its_hooks_and_is_copied(on_device):
    net = rushlight.nn.Sequential(rushlight.nn.Linear(2, 3))
    made, x, ran = rushlight.compile(net), rushlight.ones(1, 2), []
    made.register_forward_hook(lambda *_: ran.append("outer"))
    net.register_forward_hook(lambda *_: ran.append("inner"))
    y = made(x)
    assert ran == ["inner", "outer"] and rushlight.equal(y, net(x))
    y.sum().backward()
    assert net[0].weight.grad is not None
    plain = rushlight.compile(rushlight.nn.Linear(2, 3))
    for twin in (copy.deepcopy(plain), pickle.loads(pickle.dumps(plain))):
        assert type(twin) is type(made) and twin(x).shape == (1, 3)
    made.load_state_dict(made.state_dict())
    with pytest.raises(RuntimeError, match="_orig_mod"):
        made.load_state_dict(net.state_dict())


def test_dynamo_is_imported_by_its_name():
    code = (
        "import sys, rushlight as t; assert 'rushlight._dynamo' not in sys.modules; "
        "t._dynamo.assume_constant_result, t._dynamo.eval_frame.OptimizedModule, t._dynamo.config"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
