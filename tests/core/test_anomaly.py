"""detect_anomaly: NaN in a backward is an error, and the forward call it belongs to is shown."""

import warnings

import pytest

import rushlight
from tests.conftest import ask

pytestmark = pytest.mark.filterwarnings("ignore:Anomaly Detection has been enabled")


def nan_in_sqrt(torch):
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    y = torch.sqrt(x)  # the place
    (y * 0).sum().backward()


def nan_through_several_inputs(torch):
    x = torch.zeros(2, requires_grad=True)
    y = torch.zeros(2, requires_grad=True)
    z = x / y
    z.sum().backward()


def written_to(torch):
    x = torch.ones(2, requires_grad=True)
    y = x.exp()  # the place
    z = y * 2
    y.add_(1)
    z.sum().backward()


class Raises(Exception):
    pass


def own_function(torch):
    class Fails(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            raise Raises("mine")

    Fails.apply(torch.ones(1, requires_grad=True)).backward()


def run(torch, function, **options):
    """(error, warnings) of a run under detection."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with torch.autograd.set_detect_anomaly(True, **options):
            try:
                function(torch)
                error = None
            except Exception as caught:
                error = type(caught).__name__, str(caught)
    return error, [str(w.message) for w in told]


@pytest.mark.parametrize(
    "function", [nan_in_sqrt, nan_through_several_inputs, written_to, own_function]
)
def test_as_torch(function):

    def first_lines(torch):  # without the traceback, whose paths are those of one machine
        error, told = run(torch, function)
        assert len(told) == 1 and f"in {function.__name__}" in told[0]
        return error, told[0].splitlines()[0]

    error, told = first_lines(rushlight)
    their_error, their_told = ask(first_lines)
    assert error[0] == their_error[0]
    first = error[1].split(" Good luck!")[0].split("\n")[0]
    assert their_error[1].startswith(first)
    assert told == their_told


def test_the_line_of_the_forward_call_is_shown():
    for function in (nan_in_sqrt, written_to):
        _, told = run(rushlight, function)
        assert told[0].rstrip().splitlines()[-1].endswith("# the place")


def test_nan_is_allowed_where_asked():
    error, told = run(rushlight, nan_in_sqrt, check_nan=False)
    assert error is None and told == []


def test_a_graph_from_before(reference):
    def late(torch):
        x = torch.zeros(1, requires_grad=True)
        y = x.sqrt() * 0
        with torch.autograd.set_detect_anomaly(True):
            y.sum().backward()

    for torch in (rushlight, reference):
        with (
            pytest.warns(UserWarning, match="No forward pass information available"),
            pytest.raises(RuntimeError, match="'SqrtBackward0' returned nan values in its 0th"),
        ):
            late(torch)


def test_second_derivatives_show_both_calls():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with rushlight.autograd.set_detect_anomaly(True):
            x = rushlight.tensor([1.0], requires_grad=True)
            first = rushlight.autograd.grad((x - 1).abs().pow(1.5), x, create_graph=True)[0]
            with pytest.raises(RuntimeError, match="returned nan values"):
                first.backward()
    texts = [str(w.message) for w in told]
    assert any("Previous calculation was induced by" in text for text in texts)


def test_switches(reference):
    for torch in (rushlight, reference):
        assert not torch.is_anomaly_enabled()
        torch.autograd.set_detect_anomaly(True, check_nan=False)
        assert torch.is_anomaly_enabled() and not torch.is_anomaly_check_nan_enabled()
        with torch.autograd.detect_anomaly():
            assert torch.is_anomaly_enabled() and torch.is_anomaly_check_nan_enabled()
        assert not torch.is_anomaly_check_nan_enabled()
        torch.autograd.set_detect_anomaly(False)
        assert not torch.is_anomaly_enabled() and torch.is_anomaly_check_nan_enabled()
        with pytest.raises(TypeError, match="must be bool, not int"):
            torch.autograd.set_detect_anomaly(3)
        with pytest.warns(UserWarning, match="only be enabled for debugging"):
            torch.autograd.detect_anomaly()
        assert not torch.is_anomaly_enabled()


def test_the_same_gradients_as_without():
    def gradients():
        rushlight.manual_seed(0)
        net = rushlight.nn.Sequential(rushlight.nn.Linear(3, 4), rushlight.nn.Tanh())
        net(rushlight.ones(2, 3)).sum().backward()
        return [p.grad for p in net.parameters()]

    plain = gradients()
    with rushlight.autograd.set_detect_anomaly(True):
        watched = gradients()
    assert all(rushlight.equal(a, b) for a, b in zip(plain, watched, strict=True))


def test_a_warning_made_an_error_does_not_hide_the_error():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with (
            rushlight.autograd.set_detect_anomaly(True),
            pytest.raises(RuntimeError, match="returned nan values"),
        ):
            nan_in_sqrt(rushlight)


def test_on_virtual_gpus(virtual_gpus):
    with rushlight.autograd.set_detect_anomaly(True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x = rushlight.zeros(2, device="cuda:1", requires_grad=True)
        with pytest.raises(RuntimeError, match="'SqrtBackward0' returned nan"):
            (x.sqrt() * 0).sum().backward()
