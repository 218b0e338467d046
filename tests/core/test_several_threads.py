"""What several threads compute is what one computes: ranges, scatter, gather, dot, sums."""

import contextlib

import pytest

import rushlight as torch


@contextlib.contextmanager
def threads(n):
    before = torch.get_num_threads()
    torch.set_num_threads(n)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def integers(*shape, high=100):
    n = 1
    for size in shape:
        n *= size
    return (torch.arange(n) * 7919 % high).view(shape)


def numbers(*shape):
    return (integers(*shape, high=997) - 498).float()


CALLS = {
    "linspace": lambda: torch.linspace(-3.3, 7.1, 100_003),
    "linspace of float64": lambda: torch.linspace(5, -5, 70_001, dtype=torch.float64),
    "linspace of float16": lambda: torch.linspace(0, 9, 70_001, dtype=torch.float16),
    "logspace": lambda: torch.logspace(-1, 2, 5_003),
    "arange of integers": lambda: torch.arange(100_003),
    "gather": lambda: numbers(400, 100).gather(1, integers(400, 90)),
    "gather, one line": lambda: numbers(40_000).gather(0, integers(40_000)),
    "gather, first": lambda: numbers(100, 400).gather(0, integers(90, 400)),
    "scatter_add, lines": lambda: torch.zeros(400, 100).scatter_add(
        1, integers(400, 90), numbers(400, 90)),
    "scatter_add, columns": lambda: torch.zeros(100, 400).scatter_add(
        0, integers(90, 400), numbers(90, 400)),
    "scatter_add, middle": lambda: torch.zeros(20, 100, 30).scatter_add(
        1, integers(20, 90, 30), numbers(20, 90, 30)),
    "scatter, the last wins": lambda: torch.zeros(300, 20).scatter(
        1, integers(300, 90, high=20), numbers(300, 90)),
    "scatter_reduce": lambda: torch.zeros(400, 100).scatter_reduce(
        1, integers(400, 90), numbers(400, 90), "amax", include_self=False),
    "index_add": lambda: torch.zeros(100, 400).index_add(0, integers(300), numbers(300, 400)),
    "index_add, bfloat16": lambda: torch.zeros(100, 400, dtype=torch.bfloat16).index_add(
        0, integers(300), numbers(300, 400).bfloat16()),
    "scatter_add to a transposed one": lambda: torch.zeros(100, 400).t().scatter_add_(
        1, integers(400, 90), numbers(400, 90)),
    "scatter_add to a part": lambda: torch.zeros(400, 200)[:, ::2].scatter_add_(
        1, integers(400, 90), numbers(400, 90)),
    "dot": lambda: torch.dot(numbers(200_001) / 7, numbers(200_001) / 3),
    "dot of steps": lambda: torch.dot(numbers(400_000)[::2] / 7, numbers(200_000) / 3),
    "sum of rows": lambda: numbers(500, 700).sum(0),
    "mean of rows": lambda: numbers(300, 2).mean(0),
    "nll_loss": lambda: torch.nn.functional.nll_loss(
        numbers(9000, 5), integers(9000, high=5), reduction="none"),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_as_of_one(name):
    with threads(1):
        one = CALLS[name]()
    with threads(3):
        several = CALLS[name]()
    assert torch.equal(one, several)


def test_the_first_bad_index_is_named():
    index = integers(1000, 50)
    index[700, 3], index[900, 0] = 100, -7
    with threads(3), pytest.raises(RuntimeError, match="index 100 is out of bounds"):
        numbers(1000, 100).gather(1, index)


def test_gradient_of_nll_loss():
    def gradient(n):
        x = numbers(9000, 7).requires_grad_()
        with threads(n):
            torch.nn.functional.nll_loss(x, integers(9000, high=7)).backward()
        return x.grad

    assert torch.equal(gradient(1), gradient(3))
