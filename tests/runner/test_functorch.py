"""functorch, the older name of torch.func: the same results, with torch's warnings."""

import importlib
import warnings

import pytest

import rushlight
from tests.conftest import ask

CALLS = {
    "vmap": lambda ft, torch: ft.vmap(torch.sin)(torch.ones(2)),
    "grad": lambda ft, torch: ft.grad(lambda x: x.sin().sum())(torch.ones(2)),
    "jvp": lambda ft, torch: ft.jvp(torch.sin, (torch.ones(2),), (torch.ones(2),))[1],
    "vjp": lambda ft, torch: ft.vjp(torch.sin, torch.ones(2))[1](torch.ones(2))[0],
    "jacrev": lambda ft, torch: ft.jacrev(torch.sin)(torch.ones(2)),
    "jacfwd": lambda ft, torch: ft.jacfwd(torch.sin)(torch.ones(2)),
    "hessian": lambda ft, torch: ft.hessian(lambda x: (x**3).sum())(torch.ones(2)),
}


def called(torch, call):
    """The result, and the FutureWarnings with the files that they are of."""
    ours = torch.__name__ == "rushlight"
    functorch = importlib.import_module("rushlight._runner.functorch" if ours else "functorch")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = call(functorch, torch)
    said = [w for w in caught if w.category is FutureWarning]
    return result, [(str(w.message), w.filename == __file__) for w in said]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", CALLS)
def test_a_transform(name):
    def shown(torch):
        result, said = called(torch, CALLS[name])
        return result.tolist(), said

    (got, said), (want, expected) = shown(rushlight), ask(shown)
    assert rushlight.allclose(rushlight.tensor(got), rushlight.tensor(want))
    assert said == expected and len(said) == 1 and said[0][1]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_module_as_a_function():
    def shown(torch):
        def both(ft, torch):
            norm = torch.nn.BatchNorm1d(3).eval()
            function, params, buffers = ft.make_functional_with_buffers(norm)
            first = function(params, buffers, torch.ones(2, 3)).tolist()
            layer = torch.nn.Linear(2, 1)
            function, params = ft.make_functional(layer)
            zeros = tuple(torch.zeros_like(p) for p in params)
            second = function(zeros, torch.ones(1, 2)).tolist()
            return first, second, [str(p.device) for p in (*params, *buffers)]

        return called(torch, both)

    (first, *rest), said = shown(rushlight)
    (want, *others), expected = ask(shown)
    assert rushlight.allclose(rushlight.tensor(first), rushlight.tensor(want))
    assert rest == others and said == expected


def test_an_ensemble_of_modules():
    def shown(torch):
        def stacked(ft, torch):
            modules = [torch.nn.Linear(3, 1) for _ in range(2)]
            _, params, _ = ft.combine_state_for_ensemble(modules)
            return [list(p.shape) for p in params]

        return called(torch, stacked)

    assert shown(rushlight) == ask(shown)


def test_compilers_that_leave_the_graph():
    from rushlight._runner.functorch import compile

    x = rushlight.tensor([0.5, 1.0], requires_grad=True)
    for compiler in (compile.nop, compile.make_boxed_compiler(compile.nop), compile.ts_compile):
        made = compile.aot_function(lambda x: x.sin(), fw_compiler=compiler)
        assert made(x).tolist() == x.sin().tolist()
        assert compile.aot_module(rushlight.nn.ReLU(), compiler)(x).tolist() == x.tolist()
    assert compile.make_boxed_func(rushlight.add)([x, x]).tolist() == [1, 2]


def test_other_compilers_are_refused():
    from rushlight._runner.functorch import compile

    with pytest.raises(NotImplementedError, match="nothing is compiled"):
        compile.aot_function(rushlight.sin, lambda graph, inputs: print(graph.code))
    with pytest.raises(NotImplementedError, match="nothing is compiled"):
        compile.print_compile(None, None)
