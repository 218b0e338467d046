"""fake_quantize: values and gradients as torch's, and what is refused."""

import pytest

import rushlight
from tests.conftest import ask

CALLS = {
    "numbers": "T.fake_quantize_per_tensor_affine(x, 0.1, 10, 0, 255)",
    "few bits": "T.fake_quantize_per_tensor_affine(x, 0.3, -1, -4, 3)",
    "tensors": "T.fake_quantize_per_tensor_affine(x, s[:1], z[:1], -8, 7)",
    "channels": "T.fake_quantize_per_channel_affine(x, s, z, 0, -8, 7)",
    "columns": "T.fake_quantize_per_channel_affine(x.t(), s, z, 1, 0, 15)",
    "float zero points": "T.fake_quantize_per_channel_affine(x, s, z.float(), 0, -8, 7)",
}
REFUSED = {
    "range": "T.fake_quantize_per_tensor_affine(x, 0.1, 0, 5, 0)",
    "zero point": "T.fake_quantize_per_tensor_affine(x, 0.1, 300, 0, 255)",
    "axis": "T.fake_quantize_per_channel_affine(x, s, z, 2, 0, 15)",
    "negative axis": "T.fake_quantize_per_channel_affine(x.t(), s, z, -1, 0, 15)",
    "sizes": "T.fake_quantize_per_channel_affine(x, s[:1], z[:1], 0, 0, 15)",
    "unlike": "T.fake_quantize_per_channel_affine(x, s, z[:1], 0, 0, 15)",
    "rank": "T.fake_quantize_per_channel_affine(x, s[None], z, 0, 0, 15)",
    "words": "T.fake_quantize_per_tensor_affine(x, 'a', 0, 0, 255)",
}


def names(torch, device="cpu"):
    x = torch.linspace(-2, 2, 14, device=device).view(2, 7).requires_grad_()
    s = torch.tensor([0.1, 0.25], device=device)
    z = torch.tensor([2, 0], dtype=torch.int32, device=device)
    return {"T": torch, "x": x, "s": s, "z": z}


@pytest.mark.parametrize("name", CALLS)
def test_values_and_gradients(name, device):
    def run(torch, device="cpu"):
        known = names(torch, device)
        y = eval(CALLS[name], known)
        (y * 3).sum().backward()
        return y.flatten().tolist(), known["x"].grad.flatten().tolist()

    for ours, theirs in zip(run(rushlight, device), ask(run), strict=True):
        assert ours == pytest.approx(theirs, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name, device):
    def run(torch, device="cpu"):
        try:
            eval(REFUSED[name], names(torch, device))
        except (RuntimeError, TypeError, IndexError) as error:
            return type(error).__name__
        return "taken"

    assert run(rushlight, device) == ask(run) != "taken"
