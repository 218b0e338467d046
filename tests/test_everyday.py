"""Parts of the everyday API that answer questions or pass code through: compiler, jit,
distributed, benchmark, the default device.
"""

import pytest

import rushlight as torch


def test_a_compiler_that_is_not_there():
    assert not torch.compiler.is_compiling() and not torch.jit.is_scripting()
    assert torch.distributed.is_available() and not torch.distributed.is_initialized()

    def f(x):
        return x * 2

    for through in (torch.compile, torch.compiler.disable, torch.jit.script, torch.jit.ignore):
        assert through(f) is f
    assert torch.jit.trace(f, torch.ones(1)) is f and torch.jit.ignore(drop=True)(f) is f
    for module, name in (("jit", "supported_ops"), ("distributed", "rpc")):
        with pytest.raises(AttributeError, match=rf"torch\.{module}\.{name} is not in rushlight"):
            getattr(getattr(torch, module), name)
    with pytest.raises(
        NotImplementedError, match=r"torch\.jit\.ScriptFunction is not in rushlight"
    ):
        torch.jit.ScriptFunction()


def test_a_base_class_of_what_would_be_compiled(tmp_path):
    class Net(torch.jit.ScriptModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(2, 1)

        @torch.jit.script_method
        def forward(self, x):
            return self.layer(x) + 1

    net = Net()
    x = torch.ones(3, 2)
    assert torch.equal(net(x), net.layer(x) + 1) and isinstance(net, torch.nn.Module)
    assert list(net.state_dict()) == ["layer.weight", "layer.bias"]
    net.save(tmp_path / "net.pt")
    assert torch.equal(torch.jit.load(tmp_path / "net.pt")(x), net(x))
    assert not isinstance(torch.jit.script(torch.nn.Linear(1, 1)), torch.jit.ScriptModule)


def test_default_device(virtual_gpus):
    assert torch.get_default_device() == torch.device("cpu")
    try:
        torch.set_default_device("cuda:1")
        made = [
            torch.zeros(2), torch.tensor([1, 2]), torch.arange(3), torch.rand(2), torch.eye(2),
            torch.as_tensor([1.0]), torch.randperm(3), torch.full((1,), 2),
            torch.nn.Linear(1, 1).bias,
        ]  # fmt: skip
        assert {str(t.device) for t in made} == {"cuda:1"}
        assert str(torch.zeros(2, device="cpu").device) == "cpu"
        assert str(torch.zeros_like(torch.zeros(1, device="cpu")).device) == "cpu"
        assert torch.get_default_device() == torch.device("cuda:1")
        with torch.device("cpu"):
            assert torch.ones(1).device.type == "cpu"
            with torch.device("cuda:2"):
                assert str(torch.ones(1).device) == "cuda:2"
            with torch.device("meta"):
                assert torch.nn.Linear(2, 2).weight.device.type == "meta"
        assert str(torch.ones(1).device) == "cuda:1"
    finally:
        torch.set_default_device(None)
    assert torch.ones(1).device.type == "cpu"


@pytest.mark.parametrize("name", ["cpu", "cpu:0", "cpu:1", "cuda:5"])
def test_default_device_is_told_as_it_was_set(name):
    """Also that of a GPU that does not exist: what uses it raises."""
    try:
        torch.set_default_device(name)
        assert torch.get_default_device() == torch.device(name)
        if name != "cuda:5":
            assert torch.ones(1).device == torch.zeros(1, device=name).device == torch.device("cpu")
            assert torch.nn.Linear(1, 1, device=name).to(name).weight.device.index is None
        else:
            with pytest.raises(RuntimeError, match=r"NVIDIA|device ordinal"):
                torch.ones(1)
        with torch.device("cuda:3"):
            assert torch.get_default_device() == torch.device("cuda:3")
    finally:
        torch.set_default_device(None)
    assert torch.get_default_device() == torch.device("cpu")


def test_default_device_belongs_to_its_thread(virtual_gpus):
    from threading import Thread

    found = []
    with torch.device("cuda:1"):
        thread = Thread(target=lambda: found.append(torch.ones(1).device.type))
        thread.start()
        thread.join()
    assert found == ["cpu"]


def test_timer():
    from rushlight.utils.benchmark import Measurement, Timer

    timer = Timer("y = x + x", setup="z = 1", globals={"x": torch.ones(3)}, label="sum")
    once = timer.timeit(50)
    assert isinstance(once, Measurement) and once.number_per_run == 50 and once.mean > 0
    many = timer.blocked_autorange(min_run_time=0.02)
    assert sum(many.raw_times) >= 0.02 and len(many.times) > 1
    assert many.median == sorted(many.times)[len(many.times) // 2] or len(many.times) % 2 == 0
    assert repr(many).splitlines()[1] == "sum" and "Median: " in repr(many)
    assert timer.adaptive_autorange(max_run_time=0.05).median > 0
    assert Measurement(2, [2.0, 4.0, 6.0]).median == 2.0
    with pytest.raises(ValueError, match="only a `str` stmt"):
        Timer(lambda: None)
    with pytest.raises(NotImplementedError, match=r"Timer of C\+\+ statements"):
        Timer("x", language="c++")


def test_old_names():
    with pytest.warns(UserWarning, match="torch.range is deprecated"):
        assert torch.range(1, 3).tolist() == [1, 2, 3] and torch.range(1, 3).dtype == torch.float32
    with pytest.warns(UserWarning):
        assert torch.range(1, 2, 0.3).shape == (4,) and torch.range(3, 0, -1).shape == (4,)
    with pytest.warns(UserWarning):
        assert torch.equal(torch.range(0, 3, dtype=torch.int64), torch.arange(4))
    for bad, words in (((3, 0), "inconsistent"), ((0, 1, 0), "nonzero"), ((0, torch.inf), "range")):
        with pytest.warns(UserWarning), pytest.raises(RuntimeError, match=words):
            torch.range(*bad)
    x = torch.ones(2, dtype=torch.int32)
    assert x.new([1.7, 2]).tolist() == [1, 2] and x.new(2, 3).shape == (2, 3) and len(x.new()) == 0
    assert x.new(torch.Size([4])).dtype == torch.int32
    with pytest.raises(TypeError, match="invalid data type 'str'"):
        x.new("a")
    assert torch.equal(torch.fill_(x, 3), torch.tensor([3, 3])) and x[0] == 3


def test_result_type():
    i, h = torch.ones(1, dtype=torch.int8), torch.ones(1, dtype=torch.float16)
    assert torch.result_type(i, 1.5) == torch.float32 and torch.result_type(1, h) == torch.float16
    assert torch.result_type(i, torch.tensor(1)) == torch.int8
    assert torch.result_type(1, True) == torch.int64
    with pytest.raises(TypeError, match="result_type"):
        torch.result_type("a", 1)


@pytest.mark.parametrize("size", [(3, 3), (7, 3), (3, 7), (2, 2, 2), (0, 3), (3, 0), (1, 1)])
@pytest.mark.parametrize("wrap", [False, True])
def test_fill_diagonal(reference, size, wrap):
    x = torch.zeros(size).fill_diagonal_(5, wrap)
    period = size[-1] + 1 if wrap and len(size) == 2 else max(size) + 1
    for place in x.nonzero().tolist():
        assert len({n % period for n in place}) == 1
    assert len(x.nonzero()) == (6 if wrap and size == (7, 3) else min(size))
    assert x.tolist() == reference.zeros(size).fill_diagonal_(5, wrap).tolist()


def test_refusals_of_fill_diagonal():
    for size in ((3,), (), (2, 3, 2)):
        with pytest.raises(RuntimeError, match="dimensions"):
            torch.zeros(size).fill_diagonal_(1)


def test_no_apple_gpu():
    assert torch.mps.device_count() == 0 and not torch.mps.is_available()
    torch.mps.manual_seed(0)
    for name in ("synchronize", "empty_cache", "current_allocated_memory"):
        with pytest.raises(RuntimeError, match=r"Cannot execute \w+\(\) without MPS backend"):
            getattr(torch.mps, name)()


def test_functions_of_python_for_each_element():
    x = torch.arange(6.0).view(2, 3)
    assert x.apply_(lambda v: v * 2) is x and x[1].tolist() == [6, 8, 10]
    x.t().apply_(lambda v: v + 1)
    assert x.tolist() == [[1, 3, 5], [7, 9, 11]]
    assert x.map_(torch.ones(3), lambda a, b: a - b).tolist() == [[0, 2, 4], [6, 8, 10]]
    assert torch.tensor([3, 4]).apply_(lambda v: v / 2).tolist() == [1, 2]
    assert torch.zeros(0).apply_(lambda v: v).shape == (0,)
    with pytest.raises(ZeroDivisionError):
        x.apply_(lambda v: 1 / 0)
    with pytest.raises(TypeError, match=r"expected torch\.FloatTensor for"):
        x.map_(x.int(), lambda a, b: a)
    with pytest.raises(RuntimeError, match="requires grad"):
        torch.ones(1, requires_grad=True).apply_(lambda v: v)
    with pytest.raises(RuntimeError, match="expanded size"):
        torch.ones(2).map_(torch.ones(3), lambda a, b: a)


def test_in():
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert 3 in x and 5 not in x and torch.tensor(4.0) in x and True in x
    assert torch.tensor([1.0, 7.0]) in x and torch.tensor([2.0, 1.0]) not in x
    assert 1 not in torch.zeros(0) and x in [x]
    for other in ("a", None, [1]):
        with pytest.raises(RuntimeError, match="only supports Tensor or scalar"):
            assert other in x


def test_reversed():
    x = torch.arange(6).view(2, 3)
    assert torch.equal(reversed(x), torch.tensor([[3, 4, 5], [0, 1, 2]]))
    assert reversed(torch.tensor(3)) == 3 and len(reversed(torch.zeros(0))) == 0
