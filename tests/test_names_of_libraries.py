"""Names outside nn that libraries import and call: storages' base, flat gradients, frequencies,
jit.isinstance, older comparisons, the order of dimensions, reports of the machine."""

import typing

import pytest

import rushlight as torch
from tests.conftest import ask


@pytest.mark.parametrize(
    "call",
    [
        "T.fft.fftfreq(5, 0.5)", "T.fft.fftfreq(0)", "T.fft.rfftfreq(5)", "T.fft.rfftfreq(4, d=2.)",
        "T.fft.fftfreq(4, d=0)", "T.fft.fftfreq(4, dtype=T.float64)",
        "T.fft.fftshift(T.arange(6).view(2, 3))", "T.fft.fftshift(T.arange(6).view(2, 3), 1)",
        "T.fft.ifftshift(T.arange(5), (0,))", "T.fft.ifftshift(T.arange(12).view(3, 4))",
        "T.fft.fftshift(T.arange(6).view(2, 3), (0, 0))",
        "T._utils._flatten_dense_tensors([T.ones(2, 2), T.zeros(3)])", "T.tensor([2.]).__rdiv__(3)",
    ],
)  # fmt: skip
def test_values(call):
    def asked(torch):
        import torch._utils as _utils  # noqa: F401

        found = eval(call, {"T": torch})
        return found.tolist(), str(found.dtype), list(found.stride())

    ours = eval(call, {"T": torch})
    values, dtype, stride = ask(asked)
    theirs = torch.tensor(values, dtype=ours.dtype)
    torch.testing.assert_close(ours, theirs, equal_nan=True, rtol=1e-6, atol=0.0)
    assert str(ours.dtype) == dtype and list(ours.stride()) == list(stride)


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        ("T.fft.fftfreq(-1)", RuntimeError, "negative dimension -1"),
        ("T.fft.fftfreq(4, dtype=T.int64)", RuntimeError, "requires a floating point"),
        ("T.fft.fftfreq(4.)", TypeError, "argument 'n'"),
        ("T.fft.fftshift(T.arange(5), 3)", IndexError, "Dimension out of range"),
    ],
)
def test_refusals(call, kind, words):
    with pytest.raises(kind, match=words):
        eval(call, {"T": torch})


def test_flat_tensors_go_back():
    given = [torch.ones(2, 2), torch.zeros(3), torch.tensor(5.0)]
    flat = torch._utils._flatten_dense_tensors(given)
    again = torch._utils._unflatten_dense_tensors(flat, given)
    assert all(a.equal(b) for a, b in zip(again, given, strict=True))
    assert again[0].data_ptr() == flat.data_ptr()


@pytest.mark.parametrize("value", [[1, 2], [1, "a"], (1, "a"), (1,), {"a": [1]}, {1: 1}, None, 3])
def test_jit_isinstance(value):
    def asked(torch):
        kinds = (
            list[int], tuple[int, str], dict[str, list[int]], typing.Optional[int],  # noqa: UP045
            typing.Union[int, list[int]], int, (str, list[int]),  # noqa: UP007
        )  # fmt: skip
        return [bool(torch.jit.isinstance(value, kind)) for kind in kinds]

    assert asked(torch) == ask(asked)


@pytest.mark.parametrize(
    "made",
    [
        "T.zeros(2, 3, 4)", "T.zeros(2, 3, 4).permute(1, 2, 0)", "T.zeros(1, 1, 3)",
        "T.zeros(2, 3, 1, 4).contiguous(memory_format=T.channels_last)", "T.zeros(3).expand(2, 3)",
        "T.zeros(0, 3)", "T.zeros(())", "T.zeros(2, 2).as_strided((2, 2), (1, 1))",
        "T.zeros(5, 1, 1).permute(2, 0, 1)", "T.zeros(4, 1, 2)[:, :, ::2]",
        "T.zeros(2, 3, 4).transpose(0, 2)[:, ::2]", "T.zeros(3, 4, 5).as_strided((3, 4), (1, 9))",
    ],
)  # fmt: skip
def test_dim_order(made):
    def asked(torch):
        tensor = eval(made, {"T": torch})
        try:
            unique = tensor.dim_order(ambiguity_check=True)
        except RuntimeError:
            unique = "ambiguous"
        return [tensor.dim_order(), unique]

    assert list(map(str, asked(torch))) == list(map(str, ask(asked)))


def test_assert_allclose():
    with pytest.warns(FutureWarning, match="deprecated since 1.12"):
        torch.testing.assert_allclose(torch.ones(2), torch.ones(2).double() + 1e-6)
    with pytest.warns(FutureWarning), pytest.raises(AssertionError):
        torch.testing.assert_allclose(torch.ones(2), [1.0, 1.1])


def test_classes_and_predicates():
    assert isinstance(torch.ones(1), torch._C._TensorBase)
    assert isinstance(torch.ones(1).untyped_storage(), torch.storage._StorageBase)
    assert torch.is_inference(torch.ones(1)) is False
    with torch.inference_mode():
        assert torch.is_inference(torch.ones(1))
    assert not isinstance(torch.ones(1), torch._C._functions.AccumulateGrad)
    assert torch.mtia.is_available() is False
    torch.monitor.log_event(None)


def test_modules_of_mixed_precision():
    import rushlight.cuda.amp.autocast_mode as mode
    from rushlight.cuda.amp.common import amp_definitely_not_available
    from rushlight.cuda.amp.grad_scaler import GradScaler

    assert mode.autocast is torch.cuda.amp.autocast and GradScaler is torch.cuda.amp.GradScaler
    assert amp_definitely_not_available() is not torch.cuda.is_available()


def test_differentiable_steps():
    from rushlight.optim.optimizer import _use_grad_for_differentiable

    class Step(torch.optim.SGD):
        @_use_grad_for_differentiable
        def step(self):
            return torch.is_grad_enabled()

    weight = torch.ones(1, requires_grad=True)
    assert Step([weight], lr=0.1).step() is False
    assert Step([weight], lr=0.1, differentiable=True).step() is True


def test_report_of_the_machine(capsys):
    from rushlight._jit_internal import BroadcastingList2, boolean_dispatch
    from rushlight.utils import collect_env

    assert collect_env.get_env_info().torch_version == torch.__version__
    collect_env.main()
    assert "python version: " in capsys.readouterr().out
    pick = boolean_dispatch("up", 1, False, lambda x, up: x + 1, lambda x, up=False: x, "m", "f")
    assert (pick(1), pick(1, True), pick(1, up=True), pick.__name__) == (1, 2, 2, "f")
    assert BroadcastingList2[int] is None


def handed_over(torch):
    seen = []

    class Watched(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            seen.append([function.__name__, len(args), sorted(kwargs or {})])
            return super().__torch_function__(function, types, args, kwargs or {})

    x = torch.ones(2).as_subclass(Watched).requires_grad_()
    y = (x * 2).sum()
    torch.autograd.grad(y, x, retain_graph=True)
    torch.autograd.grad([y], [x], retain_graph=True)
    torch.autograd.backward(y, retain_graph=True)
    y.backward()
    seen.append([type(x.grad).__name__ in ("Watched", "Tensor"), x.grad.tolist()])
    return [[name, *rest] if name != "backward" else [name] for name, *rest in seen[3:]]


def test_gradients_are_handed_over():
    assert handed_over(torch) == ask(handed_over)


def test_accelerator_of_the_core():
    for check in ((), (True,), (None,)):
        assert str(torch._C._get_accelerator(*check)) in ("cpu", "cuda")
    named = torch.accelerator.current_accelerator()
    assert torch._C._get_accelerator() == (named or torch.device("cpu"))


def test_no_backend_compiles():
    assert torch.compiler.list_backends() == torch._dynamo.list_backends() == []


def test_stances():
    @torch.compiler.set_stance("force_eager")
    def double(x):
        return x * 2

    assert double(torch.ones(1)).item() == 2
    with torch.compiler.set_stance("fail_on_recompile"):
        assert torch.compile(double)(torch.ones(1)).item() == 2
    torch.compiler.set_stance("default")
    with pytest.raises(RuntimeError, match=r"invalid torch\.compile stance"):
        torch.compiler.set_stance("eager")
    with pytest.raises(RuntimeError, match="cannot have force_backend"):
        torch.compiler.set_stance("force_eager", force_backend="eager")


def test_names_for_kernels_that_are_not_here():
    from rushlight.amp.autocast_mode import is_autocast_available
    from rushlight.utils import _triton

    assert not _triton.has_triton() and is_autocast_available("cpu")
