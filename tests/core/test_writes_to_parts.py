"""Writes through views that show complex numbers as real ones, or real ones as complex."""

import pytest

import rushlight


def parts(torch, z):
    y = z * (2 + 1j)
    y.real.mul_(3)
    y.imag[0].add_(y.real[0].detach().clone())
    return y


def pairs(torch, z):
    y = z * (2 + 1j)
    p = torch.view_as_real(y.t())
    p[1, :, 0].mul_(z.abs().sum())
    p.add_(1)
    return y, p


def written_base(torch, z):
    y = z * (1 - 2j)
    real, row = y.real, y[1]
    row.mul_(3j)
    y.add_(1)
    return real * 2, y


def one_number(torch, z):
    y = z[0, 0].clone()
    y.imag.mul_(4)
    return y


def complex_of_real(torch, z):
    x = torch.view_as_real(z) * 2
    p = torch.view_as_complex(x)
    p[:, 1].mul_(1 + 2j)
    back = torch.view_as_real(p)
    back[0].mul_(back[1].detach().clone())
    return x, p


def a_part_of_real(torch, z):
    x = torch.view_as_real(z) * 2
    torch.view_as_complex(x[1:])[:, 0].mul_(z[0, 0])
    return x


def of_complex_only(torch, z):
    y = z * 2
    y[1:].mul_(z[0, 0])
    y.square_()
    y[0].div_(z[1] + 3)
    return y


def strided(torch, z):
    y = (z * 2).t()
    y = y.contiguous().t()
    y.imag[:, ::2].mul_(5)
    return y


CASES = [
    parts, pairs, written_base, one_number, complex_of_real, a_part_of_real,
    of_complex_only, strided,
]  # fmt: skip


def flat(torch, out):
    out = out if isinstance(out, tuple) else (out,)
    return torch.cat([(torch.view_as_real(x) if x.is_complex() else x).reshape(-1) for x in out])


@pytest.mark.parametrize("write", CASES)
def test_both_gradients(reference, write):
    found = []
    for torch in (rushlight, reference):
        z = torch.tensor([[1 + 2j, 3 - 1j], [0.5j, 2.0]], dtype=torch.complex128)
        z = torch.cat([z, z * (1 - 0.5j)]).requires_grad_()
        out = flat(torch, write(torch, z))
        weight = torch.arange(1.0, out.numel() + 1, dtype=torch.float64)
        (g,) = torch.autograd.grad((out * out * weight).sum(), z, create_graph=True)
        (gg,) = torch.autograd.grad((flat(torch, g) * 3).sum(), z)
        found.append([x.detach().tolist() for x in (out, torch.view_as_real(g))])
        found[-1].append(torch.view_as_real(gg).tolist())
    ours, theirs = found
    for mine, wanted in zip(ours, theirs, strict=True):
        assert rushlight.tensor(mine).flatten().tolist() == pytest.approx(
            rushlight.tensor(wanted).flatten().tolist()
        )


def test_a_view_whose_geometry_changed():
    """torch takes the gradient of the base by the new geometry, and gets another shape."""
    z = rushlight.tensor([[1 + 2j, 3 - 1j]], dtype=rushlight.complex128, requires_grad=True)

    def swapped(z):
        y = z * 1
        p = rushlight.view_as_real(y)
        p.transpose_(0, 1)
        p.mul_(y.detach().abs().sum())
        return y

    out = swapped(z)
    (g,) = rushlight.autograd.grad(out, z, rushlight.ones_like(out))
    assert g.tolist() == [[pytest.approx(z.detach().abs().sum().item())] * 2]


def test_what_cannot_be_recorded():
    """The geometry of eight dimensions of complex numbers has nine of real ones."""
    x = rushlight.ones(1, 1, 1, 1, 1, 1, 1, 2, dtype=rushlight.complex64, requires_grad=True) * 1
    with pytest.raises(RuntimeError, match="cannot be recorded\nwork on a clone"):
        rushlight.view_as_real(x.view(2)).add_(1)


def test_without_history():
    z = rushlight.ones(2, dtype=rushlight.complex64)
    z.real.mul_(3)
    z.imag[1] = 2
    assert z.tolist() == [3, 3 + 2j]
