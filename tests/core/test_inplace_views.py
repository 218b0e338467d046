"""Writes in place through views whose dimensions have one element."""

import pytest

import rushlight


@pytest.mark.parametrize(
    "write",
    [
        lambda F, layer, x: F.relu(layer(x), inplace=True),
        lambda F, layer, x: layer(x).squeeze().mul_(3),
        lambda F, layer, x: layer(x)[None, :, None].add_(2).sigmoid_(),
        lambda F, layer, x: layer(x).view(1, 1, 1).exp_(),
    ],
)
@pytest.mark.parametrize("bias", [True, False])
def test_one_output_of_one_example(reference, write, bias):
    found = []
    for torch in (rushlight, reference):
        torch.manual_seed(0)
        layer = torch.nn.Linear(4, 1, bias=bias)
        x = torch.arange(4.0, requires_grad=True)
        out = write(torch.nn.functional, layer, x)
        out.sum().backward()
        found.append([out.item(), *x.grad.tolist(), *layer.weight.grad.flatten().tolist()])
    assert found[0] == pytest.approx(found[1], rel=1e-6)


def test_a_second_gradient_through_a_write_that_keeps_its_result():
    """The written op's node is then in the graph by itself too."""
    z = rushlight.tensor([0.5, 0.25, 0.75], dtype=rushlight.float64, requires_grad=True)

    def function(z):
        y = (z * 2).sin()
        y[1:].pow_(z[0] + 2)
        return y

    assert rushlight.autograd.gradgradcheck(function, z)


def test_the_gradient_is_a_part_of_a_larger_one():
    """cat() gives each of its inputs a view, which begins within the gradient of all."""
    x = rushlight.ones(2, 2, requires_grad=True)
    y = x * 1
    y[0].mul_(3)
    weights = rushlight.arange(6.0).view(3, 2)
    (rushlight.cat([rushlight.zeros(1, 2), y]) * weights).sum().backward()
    assert x.grad.tolist() == [[6, 9], [4, 5]]
