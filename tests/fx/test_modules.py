"""GraphModules as objects: pickles, copies, files, tracebacks; functions that are wrapped."""

import contextlib
import copy
import io
import linecache
import pickle
import traceback

import pytest

import rushlight as torch
from tests.conftest import ask
from tests.fx import programs, wrapped
from tests.fx.test_trace import plain_lists


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(2, 3)
        self.scale = torch.nn.Parameter(torch.ones(3))
        self.act = torch.nn.Sequential(torch.nn.ReLU())

    def forward(self, x, y=1.0):
        return self.act(self.fc(x) * self.scale) + y


def test_wrap():
    theirs = ask(wrapped.run)
    assert plain_lists(wrapped.run(torch)) == plain_lists(theirs)


def test_pickle():
    traced = torch.fx.symbolic_trace(Net())
    again = pickle.loads(pickle.dumps(traced))
    x = torch.ones(1, 2)
    assert torch.equal(again(x), traced(x)) and again.code == traced.code
    assert isinstance(again, torch.fx.GraphModule) and type(again).__name__ == "Net"
    assert sorted(again.state_dict()) == sorted(traced.state_dict())
    assert not again.eval().training and traced.training


def test_a_file_runs_no_code():
    """As torch, which names reduce_graph_module as what is not allowed."""
    traced, file = torch.fx.symbolic_trace(Net()), io.BytesIO()
    torch.save(traced, file)
    with pytest.raises(pickle.UnpicklingError, match=r"torch\.fx\.graph_module\.reduce_graph"):
        torch.load(io.BytesIO(file.getvalue()))
    again = torch.load(io.BytesIO(file.getvalue()), weights_only=False)
    assert torch.equal(again(torch.ones(1, 2)), traced(torch.ones(1, 2)))


def test_import_lines_are_looked_up():
    """They are not executed."""
    from rushlight.fx import _import_block

    found = _import_block.read("import torch\nfrom math import sqrt as root\nprint('run')")
    assert found["torch"] is torch and found["root"](4.0) == 2
    with pytest.raises(TypeError, match="cannot be imported from a module"):
        pickle.dumps(local_function())


def local_function():
    graph = torch.fx.Graph()
    graph.output(graph.call_function(lambda: 3))
    return torch.fx.GraphModule({}, graph)


def test_traceback_has_the_generated_line(monkeypatch):
    """Also where torch has written code of its own in this process, whose files have numbers."""
    other = {f"<eval_with_key>.{i}": (lambda: "the code of torch",) for i in range(10_000)}
    monkeypatch.setattr(linecache, "cache", {**linecache.cache, **other})
    traced = torch.fx.symbolic_trace(Net())
    try:
        traced(torch.ones(1, 5))
    except RuntimeError as error:
        text = "".join(traceback.format_exception(error))
    assert "fc = self.fc(x);  x = None" in text and "<eval_with_key>" in text


def test_a_copy_shares_and_a_deepcopy_does_not():
    traced = torch.fx.symbolic_trace(Net())
    traced.meta["mine"] = [1]
    shallow, deep = copy.copy(traced), copy.deepcopy(traced)
    assert shallow.fc is traced.fc and shallow.meta["mine"] == [1]
    assert deep.fc is not traced.fc and deep.meta["mine"] == [1]
    assert deep.meta["mine"] is not traced.meta["mine"]
    assert type(deep).forward is not type(traced).forward


def test_training_goes_through():
    traced, plain = torch.fx.symbolic_trace(Net()), Net()
    plain.load_state_dict(traced.state_dict())
    for module in (traced, plain):
        module(torch.ones(4, 2)).square().sum().backward()
    for a, b in zip(traced.parameters(), plain.parameters(), strict=True):
        assert torch.equal(a.grad, b.grad)


def test_nothing_is_left_of_a_trace():
    call, get = torch.nn.Module.__call__, torch.nn.Module.__getattribute__
    for function in (lambda x: x + 1, lambda x: x if x else -x):
        with contextlib.suppress(torch.fx.proxy.TraceError):
            torch.fx.symbolic_trace(function)
    assert torch.nn.Module.__call__ is call and torch.nn.Module.__getattribute__ is get
    assert "__call__" not in vars(torch.nn.Module)
    assert not torch.fx._symbolic_trace.is_fx_tracing()


def test_names_cannot_write_code():
    """A method, keyword or attribute that is no identifier does not reach the code as it is."""
    for make in (
        lambda g, x: g.call_method("neg(), print", (x,)),
        lambda g, x: g.call_function(torch.relu, (x,), {"a=1, b": 2}),
        lambda g, x: g.get_attr("a b\n"),
    ):
        graph = torch.fx.Graph()
        graph.output(make(graph, graph.placeholder("x")))
        code = graph.python_code if "get_attr" in str(graph) or "print" in str(graph) else None
        if code is None:
            with pytest.raises(SyntaxError, match="cannot be the name of an argument"):
                graph.python_code("self")
        else:
            assert "getattr(" in code("self").src
    graph = torch.fx.Graph()
    graph.placeholder("x, y=print()")
    with pytest.raises(SyntaxError, match="cannot be the name of an argument"):
        graph.python_code("self")


def test_what_is_not_there_says_so():
    from rushlight.fx.experimental import proxy_tensor

    traced = torch.fx.symbolic_trace(lambda x: x + 1)
    for call in (
        lambda: proxy_tensor.make_fx(torch.relu),
        lambda: traced.to_folder("folder"),
        lambda: traced.graph.on_generate_code(None),
    ):
        with pytest.raises(NotImplementedError, match="is not in rushlight"):
            call()


@pytest.mark.parametrize("program", programs.WITHOUT_FUNCTIONS, ids=lambda p: p.__name__)
def test_a_traced_program_traces_again(program):
    function, args = program(torch)
    if args is not None:
        traced = torch.fx.symbolic_trace(function)
        again = torch.fx.symbolic_trace(traced)
        assert programs.plain(again(*args)) == programs.plain(traced(*args))
        assert [n.op for n in again.graph.nodes] == [n.op for n in traced.graph.nodes]
