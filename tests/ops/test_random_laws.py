"""Draws with parameters for each element: on the CPU torch's numbers, on every device the laws."""

import math

import pytest

import rushlight

LAWS = [
    ("_standard_gamma", [0.05, 0.5, 1.0, 3.0, 1e3, 1e6]),
    ("poisson", [0.0, 0.5, 9.9, 10.0, 1e3, 1e6]),
]


@pytest.mark.parametrize("name, values", LAWS)
def test_the_stream_is_torchs(reference, name, values):
    for value in values:
        drawn = []
        for torch, home in ((rushlight, rushlight._C), (reference, reference)):
            torch.manual_seed(1)
            drawn.append(getattr(home, name)(torch.full((6, 30), value, dtype=torch.float64)))
        assert drawn[0].flatten().tolist() == pytest.approx(drawn[1].flatten().tolist(), rel=1e-6)


@pytest.mark.parametrize("count, p", [(5, 0.3), (5, 0.9), (100, 0.5), (1000, 0.7), (1e5, 1e-5)])
def test_the_stream_of_binomial_is_torchs(reference, count, p):
    drawn = []
    for torch in (rushlight, reference):
        torch.manual_seed(1)
        like = {"dtype": torch.float64}
        drawn.append(torch.binomial(torch.full((100,), count, **like), torch.tensor([p], **like)))
    assert drawn[0].tolist() == drawn[1].tolist()


def gamma_share(shape):
    p = rushlight.tensor(shape, dtype=rushlight.float64)
    return lambda x: rushlight.special.gammainc(p.expand_as(x), x)


def counted_share(log_chance, most):
    """The share of draws up to x of a law on 0, 1, ..., from the logarithm of each one's chance."""
    chances = [math.exp(log_chance(k)) for k in range(most + 1)]
    sums = rushlight.tensor(chances, dtype=rushlight.float64).cumsum(0)
    return lambda x: sums[x.long().clamp(max=most)]


def poisson_share(rate):
    return counted_share(
        lambda k: k * math.log(rate) - rate - math.lgamma(k + 1), int(rate + 12 * rate**0.5 + 20)
    )


def binomial_share(n, p):
    def log_chance(k):
        ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
        return ways + k * math.log(p) + (n - k) * math.log1p(-p)

    return counted_share(log_chance, n)


# One for each way that a law is drawn.
EXACT = {
    "gamma 0.3": ("_standard_gamma", [0.3], gamma_share(0.3)),
    "gamma 1": ("_standard_gamma", [1.0], gamma_share(1.0)),
    "gamma 40": ("_standard_gamma", [40.0], gamma_share(40.0)),
    "poisson 0.7": ("poisson", [0.7], poisson_share(0.7)),
    "poisson 8": ("poisson", [8.0], poisson_share(8.0)),
    "poisson 300": ("poisson", [300.0], poisson_share(300.0)),
    "binomial 9, 0.2": ("binomial", [9.0, 0.2], binomial_share(9, 0.2)),
    "binomial 5, 0.9": ("binomial", [5.0, 0.9], binomial_share(5, 0.9)),
    "binomial 700, 0.4": ("binomial", [700.0, 0.4], binomial_share(700, 0.4)),
    "binomial 700, 0.95": ("binomial", [700.0, 0.95], binomial_share(700, 0.95)),
}


def drawn_by(name, numbers, size, device, dtype=rushlight.float64):
    parameters = [rushlight.full(size, v, dtype=dtype, device=device) for v in numbers]
    return getattr(rushlight._C, name)(*parameters)


@pytest.mark.parametrize("law", EXACT)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_share_of_draws_below_each_number_is_the_law_s(law, dtype, device):
    name, numbers, share = EXACT[law]
    rushlight.manual_seed(5)
    n = 20000
    dtype = getattr(rushlight, dtype)
    drawn = drawn_by(name, numbers, (n,), device, dtype).cpu().double().sort().values
    points = (drawn.unique() if name != "_standard_gamma" else drawn).contiguous()
    below = rushlight.searchsorted(drawn, points, right=True).double() / n
    # Kolmogorov's statistic: this far once in 5000 seeds
    assert (below - share(points)).abs().max().item() < 2.15 / math.sqrt(n)


def test_neighbours_and_later_draws_are_independent(device):
    rushlight.manual_seed(2)
    first, second = (
        drawn_by("_standard_gamma", [3.0], (40000,), device).cpu() - 3 for _ in range(2)
    )
    for a, b in ((first[1:], first[:-1]), (first, second)):
        assert abs((a * b).mean().item()) < 3 * 5 / math.sqrt(40000)  # 5 deviations; variance 3
    assert first.unique().numel() == first.numel()


def test_a_seed_gives_the_same_draws_wherever_an_element_stands(device):
    rates = rushlight.linspace(0.1, 200, 3000, dtype=rushlight.float64, device=device)
    rushlight.manual_seed(7)
    first = rushlight.poisson(rates)
    assert not rushlight.equal(first, rushlight.poisson(rates))
    rushlight.manual_seed(7)
    assert rushlight.equal(first, rushlight.poisson(rates))
    generator = rushlight.Generator(device=device).manual_seed(7)
    assert rushlight.equal(first, rushlight.poisson(rates, generator=generator))
    assert not rushlight.equal(first, rushlight.poisson(rates, generator=generator))


@pytest.mark.parametrize("shape", [0.05, 0.7, 1.0, 3.0, 45.0, 2000.0])
def test_a_gamma_number_rises_with_its_shape_as_its_law_says(shape, device):
    rushlight.manual_seed(1)
    p = rushlight.full((1000,), shape, dtype=rushlight.float64, device=device, requires_grad=True)
    drawn = rushlight._C._standard_gamma(p)
    drawn.sum().backward()
    step, x = shape * 1e-4, drawn.detach()
    share = rushlight.special.gammainc
    by_shape = (share(p.detach() + step, x) - share(p.detach() - step, x)) / (2 * step)
    density = ((shape - 1) * x.log() - x - rushlight.lgamma(p.detach())).exp()
    good = density > 1e-6
    assert rushlight.allclose(p.grad[good], (-by_shape / density)[good], rtol=2e-3, atol=1e-6)


@pytest.mark.parametrize("value", [float("inf"), float("nan"), -1.0, 0.0, 1e308, 5e-324, 1e16])
def test_wild_parameters_are_answered(value, device):
    x = rushlight.tensor([value], dtype=rushlight.float64, device=device, requires_grad=True)
    rushlight._C._standard_gamma(x).sum().backward()
    for p in (float("inf"), float("nan"), -1.0, 0.0, 1e-300, 0.5, 1.0, 2.0):
        rushlight.binomial(x, rushlight.full_like(x, p))
    if value >= 0:
        rushlight.poisson(x)
    else:
        with pytest.raises(RuntimeError, match="invalid Poisson rate, expected rate to be non-neg"):
            rushlight.poisson(x)
    if value > 0:
        assert x.grad.device == x.device


def test_dtypes_layouts_and_errors(device):
    x = rushlight.full((3, 2), 2.0, device=device)
    assert rushlight.poisson(x).device == x.device
    assert rushlight.poisson(x.half()).dtype == rushlight.float16
    assert rushlight.poisson(x.t()).shape == (2, 3)
    counts = rushlight.tensor([[10.0], [1000.0]], device=device)
    some = rushlight.binomial(counts, rushlight.tensor([0.0, 0.5, 1.0], device=device))
    assert some[:, 0].tolist() == [0, 0] and some[:, 2].tolist() == [10, 1000]
    with pytest.raises(NotImplementedError, match="not implemented for 'Long'"):
        rushlight.poisson(rushlight.tensor([1], device=device))
    if device != "cpu":
        with pytest.raises(RuntimeError, match="same device"):
            rushlight.binomial(x, x.cpu())
    with pytest.raises(ValueError, match="binomial only supports floating-point dtypes for count"):
        rushlight.binomial(rushlight.tensor([1], device=device), x)
