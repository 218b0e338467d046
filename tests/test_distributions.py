"""torch.distributions: draws, densities, entropies, gradients and words of torch."""

import pytest

import rushlight

MADE = {
    "normal": "D.Normal(T([0.5, -1.0]), T([1.0, 2.5]))",
    "normal of numbers": "D.Normal(0, 2)",
    "uniform": "D.Uniform(T([0.0, -1.0]), T([1.0, 4.0]))",
    "exponential": "D.Exponential(T([0.5, 2.0]))",
    "laplace": "D.Laplace(T([0.5, -1.0]), T([1.0, 2.5]))",
    "bernoulli": "D.Bernoulli(T([0.2, 0.9]))",
    "bernoulli of logits": "D.Bernoulli(logits=T([0.2, -0.9]))",
    "categorical": "D.Categorical(T([[0.2, 0.3, 0.5], [1.0, 1.0, 2.0]]))",
    "categorical of logits": "D.Categorical(logits=T([0.2, 0.3, 0.5]))",
    "one hot": "D.OneHotCategorical(T([[0.2, 0.3, 0.5], [1.0, 1.0, 2.0]]))",
    "geometric": "D.Geometric(T([0.25, 0.75]))",
    "binomial": "D.Binomial(5, T([0.25, 0.75]))",
    "multinomial": "D.Multinomial(4, T([0.25, 0.25, 0.5]))",
    "independent": "D.Independent(D.Normal(torch.zeros(2, 3), torch.ones(2, 3)), 1)",
}
# Binomial draws by single tries here, and torch by the inverse: other numbers of the same law.
OTHER_DRAWS = ("binomial",)


def make(torch, text):
    return eval(text, {"torch": torch, "D": torch.distributions, "T": torch.tensor})


def assert_same(ours, theirs):
    assert tuple(ours.shape) == tuple(theirs.shape) and str(ours.dtype) == str(theirs.dtype)
    assert ours.tolist() == pytest.approx(theirs.tolist(), rel=2e-5, abs=1e-6, nan_ok=True)


def flat(value):
    return value.reshape(-1)


@pytest.mark.parametrize("name", MADE)
def test_same_as_torch(reference, name):
    drawn = {}
    for torch in (rushlight, reference):
        torch.manual_seed(7)
        drawn[torch] = make(torch, MADE[name]).sample((3,))
    ours, theirs = make(rushlight, MADE[name]), make(reference, MADE[name])
    if name not in OTHER_DRAWS:
        assert_same(flat(drawn[rushlight]), flat(drawn[reference]))
    assert drawn[rushlight].shape == tuple(drawn[reference].shape)
    if name != "one hot":  # torch's shows no parameter
        assert repr(ours) == repr(theirs)
    assert ours.batch_shape == tuple(theirs.batch_shape)
    assert ours.event_shape == tuple(theirs.event_shape)
    values = drawn[reference]
    assert_same(
        flat(ours.log_prob(rushlight.tensor(values.tolist(), dtype=drawn[rushlight].dtype))),
        flat(theirs.log_prob(values)),
    )
    for what in ("mean", "variance", "stddev", "mode"):
        try:
            expected = getattr(theirs, what)
        except NotImplementedError:
            continue
        assert_same(flat(getattr(ours, what)), flat(expected))
    try:
        expected = theirs.entropy()
    except NotImplementedError:
        return
    if name not in ("binomial", "multinomial"):
        assert_same(flat(ours.entropy()), flat(expected))


@pytest.mark.parametrize("name", ["normal", "uniform", "exponential", "laplace"])
def test_rsample_cdf_and_icdf(reference, name):
    results = []
    for torch in (rushlight, reference):
        torch.manual_seed(3)
        made = make(torch, MADE[name])
        x = made.rsample((4,))
        results.append((x, made.cdf(x), made.icdf(made.cdf(x))))
    for ours, theirs in zip(*results, strict=True):
        assert_same(flat(ours), flat(theirs))


def test_gradients_of_draws_and_densities(reference):
    grads = []
    for torch in (rushlight, reference):
        torch.manual_seed(3)
        loc = torch.tensor([0.5, 1.0], requires_grad=True)
        scale = torch.tensor([1.0, 2.0], requires_grad=True)
        normal = torch.distributions.Normal(loc, scale)
        normal.rsample((5,)).square().sum().backward()
        logits = torch.tensor([[0.1, 0.2, 0.3]], requires_grad=True)
        classes = torch.distributions.Categorical(logits=logits)
        (classes.log_prob(torch.tensor([[2], [0]])).sum() + classes.entropy().sum()).backward()
        grads.append((loc.grad, scale.grad, flat(logits.grad)))
    for ours, theirs in zip(*grads, strict=True):
        assert_same(ours, theirs)


def test_binomial_has_the_right_law():
    rushlight.manual_seed(0)
    made = rushlight.distributions.Binomial(5, rushlight.tensor([0.25, 0.75]))
    drawn = made.sample((4000,))
    assert drawn.mean(0).tolist() == pytest.approx(made.mean.tolist(), abs=0.08)
    assert drawn.var(0).tolist() == pytest.approx(made.variance.tolist(), abs=0.08)


KL = [
    ("D.Normal(0.0, 1.0)", "D.Normal(1.0, 2.0)"),
    ("D.Bernoulli(T([0.2, 0.0]))", "D.Bernoulli(T([0.6, 0.5]))"),
    ("D.Categorical(T([0.2, 0.8]))", "D.Categorical(T([0.5, 0.5]))"),
    ("D.Uniform(0.0, 1.0)", "D.Uniform(-1.0, 1.0)"),
    ("D.Uniform(0.0, 1.0)", "D.Uniform(0.5, 1.0)"),
    ("D.Exponential(1.0)", "D.Exponential(2.5)"),
    ("D.Laplace(0.0, 1.0)", "D.Laplace(1.0, 2.0)"),
]


@pytest.mark.parametrize("p, q", KL)
def test_kl(reference, p, q):
    ours, theirs = (
        t.distributions.kl_divergence(make(t, p), make(t, q)) for t in (rushlight, reference)
    )
    assert_same(flat(ours), flat(theirs))


WRONG = [
    "D.Normal(0.0, -1.0)",
    "D.Normal(T([float('nan')]), T([1.0]))",
    "D.Normal('a', 1.0)",
    "D.Uniform(1.0, 1.0)",
    "D.Bernoulli(1.5)",
    "D.Bernoulli()",
    "D.Bernoulli(0.5, 0.5)",
    "D.Categorical(T(1.0))",
    "D.Categorical(T([-1.0, 2.0]))",
    "D.Categorical(T([0.5, 0.5])).log_prob(T(2))",
    "D.Bernoulli(0.5).log_prob(T(0.5))",
    "D.Normal(0.0, 1.0).log_prob(1.0)",
    "D.Exponential(1.0).log_prob(T(-1.0))",
    "D.Normal(torch.zeros(2), torch.ones(2)).log_prob(torch.zeros(3))",
    "D.Independent(D.Normal(0.0, 1.0), 1)",
]


@pytest.mark.parametrize("call", WRONG)
def test_wrong_calls_say_what_torch_says(reference, call):
    said = []
    for torch in (rushlight, reference):
        with pytest.raises((ValueError, NotImplementedError, AttributeError)) as caught:
            make(torch, call)
        said.append((caught.type, str(caught.value)))
    (our_kind, ours), (kind, theirs) = said
    assert our_kind is kind and ours.split("\n")[0] == theirs.split("\n")[0]


def test_unchecked_where_asked():
    made = rushlight.distributions.Normal(0.0, -1.0, validate_args=False)
    assert made.scale.item() == -1.0


def test_on_virtual_gpus(virtual_gpus):
    made = rushlight.distributions.Categorical(logits=rushlight.zeros(3, device="cuda:1"))
    drawn = made.sample((5,))
    assert str(drawn.device) == "cuda:1" and made.log_prob(drawn).shape == (5,)
    normal = rushlight.distributions.Normal(rushlight.zeros(2, device="cuda:1"), 1.0)
    assert str(normal.rsample().device) == "cuda:1"


def test_a_missing_family_says_so():
    families = rushlight.distributions
    with pytest.raises(NotImplementedError, match="p type Normal and q type Laplace"):
        families.kl_divergence(families.Normal(0.0, 1.0), families.Laplace(0.0, 1.0))
    with pytest.raises(AttributeError, match=r"torch\.distributions\.Wishart is not in"):
        rushlight.distributions.Wishart
