"""Sparse tensors on every device: products, sums, gradients, modules and files."""

import io

import numpy as np
import pytest

import rushlight as torch
from tests.conftest import ask

# What torch says once in a process.
pytestmark = pytest.mark.filterwarnings("ignore:Sparse")
ROWS, COLUMNS = [0, 1, 1, 4, 3, 1, 0], [2, 0, 2, 1, 1, 0, 5]
VALUES = [3.0, -4.0, 5.0, 0.5, 2.0, 1.5, -1.0]


def made(library, device="cpu", dtype="float32", **options):
    dtype = getattr(library, dtype)
    return library.sparse_coo_tensor(
        [ROWS, COLUMNS], VALUES, (5, 6), dtype=dtype, device=device, **options
    )


def dense(library, shape, device="cpu", dtype="float32", seed=0):
    values = np.random.RandomState(seed).standard_normal(shape)
    return library.tensor(values.tolist(), dtype=getattr(library, dtype), device=device)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int64"])
@pytest.mark.parametrize("width", [1, 2, 4, 7, 8, 16, 33, 130])
def test_products(device, dtype, width):
    def run(library, device="cpu"):
        s = made(library, device, dtype)
        d = (dense(library, (6, width), device) * 3).to(s.dtype)
        found = [s @ d]
        if dtype in ("float32", "float64"):
            found += [s.coalesce() @ d, (d.t() @ s.t()).t(), s.to_sparse_csr() @ d]
        return [x.double().cpu().flatten().tolist() for x in found]

    near = {"float16": 3e-2, "bfloat16": 2e-1}.get(dtype, 1e-5)
    if dtype in ("float16", "bfloat16"):  # torch's product on the CPU has none of these
        s = made(torch, device, dtype)
        d = (dense(torch, (6, width), device) * 3).to(s.dtype)
        wanted = [(s.to_dense().double() @ d.double()).cpu().flatten().tolist()]
    else:
        wanted = ask(run)
    for ours, theirs in zip(run(torch, device), wanted, strict=True):
        assert ours == pytest.approx(theirs, rel=near, abs=near)


@pytest.mark.parametrize("width", [1, 5, 40])
def test_gradients(device, width):
    def run(library, device="cpu"):
        s = made(library, device, requires_grad=True)
        d = dense(library, (6, width), device).requires_grad_()
        w = dense(library, (5, width), device, seed=1)
        (library.sparse.mm(s, d) * w).sum().backward()
        grad = s.grad.coalesce()
        parts = grad.indices(), grad.values(), d.grad
        return [x.double().cpu().flatten().tolist() for x in parts]

    for ours, theirs in zip(run(torch, device), ask(run), strict=True):
        assert ours == pytest.approx(theirs, rel=1e-5, abs=1e-5)


def test_second_gradients(device):
    s = made(torch, device, "float64").coalesce()
    d = dense(torch, (6, 3), device, "float64").requires_grad_()
    v = s.values().clone().requires_grad_()

    def product(v, d):
        return torch.sparse.mm(torch.sparse_coo_tensor(s.indices(), v, s.shape), d).tanh()

    assert torch.autograd.gradcheck(product, (v, d))
    assert torch.autograd.gradgradcheck(product, (v, d))


def test_everything_stays_on_the_device(device):
    s = made(torch, device)
    assert s.device == torch.device(device) and s.is_cuda == (device != "cpu")
    for x in (
        s.coalesce(), s.t(), s + s, s * 2, s * s, s[1], s.sum(0), s.abs(), s.clone(), s.double(),
        torch.cat([s, s]), torch.stack([s, s]), s @ s.t(), s.to_dense(), s.to_sparse_csr(),
        torch.sparse.softmax(s, 1), torch.zeros_like(s), s.index_select(0, s._indices()[0][:2]),
        s.coalesce().indices(), s.coalesce().values(), s.to_sparse_csr().crow_indices(), s.norm(),
    ):  # fmt: skip
        assert x.device == torch.device(device)
    assert torch.equal(s.cpu().to_dense(), s.to_dense().cpu())
    if device != "cpu":
        assert f"device='{device}'" in repr(s)
        for call in (
            lambda: s @ torch.ones(6, 2),
            lambda: s.cpu() @ torch.ones(6, 2, device=device),
        ):
            with pytest.raises(RuntimeError, match="same device"):
                call()
        with pytest.raises(RuntimeError):
            s + s.cpu()


def test_a_buffer_of_a_module(device):
    class Graph(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(4, 3)
            self.register_buffer("adj", made(torch))

        def forward(self, x):
            return torch.sparse.mm(self.adj, self.linear(x))

    model = Graph().to(device)
    assert model.adj.device == torch.device(device) and model.adj.is_sparse
    model(torch.ones(6, 4, device=device)).sum().backward()
    assert model.linear.weight.grad.shape == (3, 4)
    state = model.state_dict()
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    other = Graph()
    other.load_state_dict(torch.load(file, map_location="cpu"))
    assert torch.equal(other.adj.to_dense(), model.adj.to_dense().cpu())
    assert model.double().adj.dtype == torch.float64


def test_files_of_torch(peer, tmp_path):
    for name, make in {
        "coo": lambda t: made(t),
        "coalesced": lambda t: made(t).coalesce(),
        "csr": lambda t: made(t).to_sparse_csr(),
        "csc": lambda t: made(t).to_sparse_csc(),
    }.items():
        ours, theirs = tmp_path / f"{name}.ours", tmp_path / f"{name}.theirs"
        torch.save({"x": make(torch)}, ours)
        peer.save({"x": make(peer)}, theirs)
        from_theirs, from_ours = torch.load(theirs)["x"], peer.load(ours)["x"]
        assert repr(from_theirs) == repr(make(torch)) == repr(from_ours) == repr(make(peer))
        if from_ours.is_sparse:
            assert from_theirs.is_coalesced() == from_ours.is_coalesced()


def test_hostile_files(tmp_path):
    bad = made(torch).coalesce()
    bad._indices()[0, 0] = 2**40
    torch.save(bad, tmp_path / "bad.pt")
    with pytest.raises(Exception, match="size is inconsistent"):
        torch.load(tmp_path / "bad.pt")
