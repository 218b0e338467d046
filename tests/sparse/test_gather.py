"""gather(sparse_grad=True), and sums of sparse matrices and sparse products."""

import pytest

import rushlight
from tests.conftest import ask

GATHERED = {
    "rows": ([[1.0, 2.0], [3.0, 4.0]], 1, [[0], [0]]),
    "columns": ([[1.0, 2.0], [3.0, 4.0]], -2, [[1, 0], [1, 1]]),
    "one number": (3.0, 0, [0, 0]),
    "one element": ([3.0, 4.0], 0, 1),
}


@pytest.mark.parametrize("which", GATHERED)
def test_gather_with_a_sparse_gradient(which, device):
    def gradient(torch, device="cpu"):
        values, dim, index = GATHERED[which]
        x = torch.tensor(values, device=device, requires_grad=True)
        index = torch.tensor(index, device=device)
        found = torch.gather(x, dim, index, sparse_grad=True)
        (
            found * torch.arange(1.0, found.numel() + 1, device=device).view_as(found)
        ).sum().backward()
        g = x.grad
        return g.is_sparse, list(g._indices().shape), g._values().tolist(), g.to_dense().tolist()

    assert gradient(rushlight, device) == ask(gradient)
    with rushlight.no_grad():
        x = rushlight.tensor([1.0, 2.0], requires_grad=True)
        assert rushlight.gather(x, 0, rushlight.tensor([1]), sparse_grad=True).tolist() == [2.0]


def test_sspaddmm():
    def found(torch):
        x = torch.sparse_coo_tensor(
            [[0, 1, 1], [1, 0, 0]], [2.0, 3.0, 1.0], (2, 2), check_invariants=True
        )
        y = torch.tensor([[1.0, 2.0], [0.0, 4.0]])
        made = []
        for result in (
            torch.sspaddmm(x, x, y),
            x.sspaddmm(x, y, beta=2, alpha=3),
            torch.saddmm(x, x, y),
        ):
            made += [result._indices().tolist(), result._values().tolist(), result.is_coalesced()]
        for call in (
            lambda: torch.sspaddmm(x, y, y),
            lambda: torch.sspaddmm(x, x, x),
            lambda: torch.sspaddmm(x, x, torch.ones(3, 2)),
            lambda: torch.sspaddmm(x, x, torch.ones(2, 3)),
        ):
            try:
                made.append(repr(call()))
            except RuntimeError as error:
                made.append(str(error))
        return made

    assert found(rushlight) == ask(found)
