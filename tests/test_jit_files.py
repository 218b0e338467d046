"""torch.jit.save() and load(): a module comes back with its values in the process that saved it."""

import copy
import io
import pickle
import subprocess
import sys

import pytest

import rushlight as torch
from rushlight import nn
from tests.conftest import ask

pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 2)
        self.second = nn.Linear(2, 2)
        self.second.weight = self.first.weight
        self.norm = nn.BatchNorm1d(2)
        self.register_buffer("scale", torch.full((2,), 3.0), persistent=False)

    def forward(self, x):
        return self.norm(self.second(self.first(x))) * self.scale


def kept(module, **options):
    file = io.BytesIO()
    torch.jit.save(module, file)
    file.seek(0)
    return torch.jit.load(file, **options)


def test_a_module_comes_back():
    net, x = Net().eval(), torch.randn(3, 2)
    net.second.bias.requires_grad_(False)
    want = net(x)
    loaded = kept(torch.jit.script(net))
    with torch.no_grad():
        net.first.weight.zero_()
    assert torch.equal(loaded(x), want) and not loaded.training
    assert loaded.first.weight is loaded.second.weight
    assert isinstance(loaded.first.weight, nn.Parameter)
    assert not loaded.second.bias.requires_grad
    loaded(x).sum().backward()
    assert loaded.first.weight.grad is not None and net.first.weight.grad is None


def test_by_path_twice(tmp_path):
    net, x = torch.jit.trace(Net().eval(), torch.ones(1, 2)), torch.randn(3, 2)
    net.save(str(tmp_path / "a.pt"))
    torch.jit.load(tmp_path / "a.pt").save(tmp_path / "b.pt")
    assert torch.equal(torch.jit.load(str(tmp_path / "b.pt"), map_location="cpu")(x), net(x))


def test_a_function_and_texts():
    @torch.jit.script
    def double(x):
        return x * 2

    file = io.BytesIO()
    double.save(file, _extra_files={"note": "mine"})
    file.seek(0)
    texts = {"note": "", "other": "here"}
    assert torch.jit.load(file, _extra_files=texts)(3) == 6
    assert texts == {"note": b"mine", "other": "here"}


def test_copies_and_whole_modules_do_not_hold_save():
    net = torch.jit.script(nn.Linear(2, 1))
    file = io.BytesIO()
    torch.save(net, file)
    file.seek(0)
    for other in (copy.deepcopy(net), torch.load(file, weights_only=False)):
        assert not hasattr(other, "save") and torch.equal(other.weight, net.weight)


def test_a_save_of_its_own_stays():
    class Own(nn.Linear):
        def save(self):
            return "own"

    assert torch.jit.script(Own(1, 1)).save() == "own"


def test_another_process_is_told_what_to_do(tmp_path):
    torch.jit.save(nn.Linear(2, 1), tmp_path / "a.pt")
    code = f"import rushlight as t; t.jit.load({str(tmp_path / 'a.pt')!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert 'load_state_dict(torch.load(f)["values"], strict=False)' in done.stderr
    other = nn.Linear(2, 1)
    other.load_state_dict(torch.load(tmp_path / "a.pt")["values"], strict=False)


@pytest.mark.parametrize("name", ["none.pt", ""])
def test_no_such_file(tmp_path, name):
    def refused(torch):
        with pytest.raises(ValueError) as caught:
            torch.jit.load(str(tmp_path / name))
        return str(caught.value).replace(str(tmp_path), "")

    assert refused(torch) == ask(refused)


def test_other_files_are_refused(tmp_path):
    torch.save({"a": torch.ones(1)}, tmp_path / "a.pt")
    with pytest.raises(RuntimeError, match="holds no program"):
        torch.jit.load(tmp_path / "a.pt")
    (tmp_path / "b.pt").write_bytes(b"no archive")
    with pytest.raises(pickle.UnpicklingError):
        torch.jit.load(tmp_path / "b.pt")
    with pytest.raises(TypeError, match="no module or function"):
        torch.jit.save(3, tmp_path / "c.pt")


def test_a_program_of_torch_is_refused(peer, tmp_path):
    peer.jit.script(peer.nn.Linear(1, 1)).save(tmp_path / "a.pt")
    with pytest.raises(NotImplementedError, match="there is no TorchScript"):
        torch.jit.load(tmp_path / "a.pt")


def test_fork_and_methods():
    future = torch.jit.fork(torch.add, torch.ones(1), 2)
    assert torch.jit.wait(future).item() == 3
    net = nn.Linear(2, 1)
    assert torch.jit.trace_module(net, {"forward": torch.ones(1, 2)}) is net
    with pytest.raises(AttributeError, match="method_name, input"):
        torch.jit.trace_module(net, torch.ones(1, 2))
