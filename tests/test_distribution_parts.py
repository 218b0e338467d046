"""What libraries subclass of torch.distributions: constraints that depend on parameters, joined
constraints and transforms, transforms to matrices, ExponentialFamily, helpers."""

import pytest

import rushlight
from tests.conftest import ask


def joined(torch):
    """Values, inverses and Jacobians of transforms that are made of others, or make matrices."""
    D = torch.distributions
    C = D.constraints
    x = torch.tensor([[0.3, -0.5, 0.8], [1.0, 0.2, -0.4]], dtype=torch.float64)
    parts = [D.ExpTransform(), D.AffineTransform(1.0, 2.0)]
    answers = []
    for transform, value in (
        (D.CatTransform(parts, dim=-1, lengths=[1, 2]), x),
        (D.StackTransform(parts, dim=0), x),
        (D.CorrCholeskyTransform(), x),
        (D.PositiveDefiniteTransform(), x.new_tensor([[0.3, 0.0], [0.4, -0.2]])),
        (D.CumulativeDistributionTransform(D.Normal(torch.zeros(()).double(), 1.0)), x),
        (
            D.biject_to(C.interval(torch.zeros(2).double(), torch.tensor([1.0, 2.0]).double())),
            x[:, :2],
        ),
        (D.transform_to(C.cat([C.positive, C.interval(0, 2)], -1, [1, 2])), x),
        (D.biject_to(C.stack([C.positive, C.real], 0)), x),
    ):
        y = transform(value)
        answers += [y.tolist(), transform.inv(y).tolist(), transform.bijective]
        answers.append(transform.codomain.check(y).tolist())
        if not isinstance(transform, D.PositiveDefiniteTransform):
            answers.append(transform.log_abs_det_jacobian(value, y).tolist())
    return answers


def test_joined_and_matrix_transforms():
    def flat(values):
        for value in values:
            yield from flat(value) if isinstance(value, list) else [value]

    ours, theirs = list(flat(joined(rushlight))), list(flat(ask(joined)))
    assert ours == pytest.approx(theirs, abs=1e-9)


def dependent(torch):
    C = torch.distributions.constraints

    class Below(torch.distributions.Distribution):
        arg_constraints = {"high": C.dependent(is_discrete=False, event_dim=0)}

        def __init__(self, high):
            self.high = high
            super().__init__(high.shape)

        @C.dependent_property(is_discrete=False, event_dim=0)
        def support(self):
            return C.less_than(self.high)

    d = Below(torch.ones(2))
    answers = [C.is_dependent(Below.support), C.is_dependent(C.real), Below.support.event_dim]
    answers += [
        d.support.check(torch.tensor([0.0, 2.0])).tolist(),
        C.dependent(event_dim=2).event_dim,
    ]
    for call in (lambda: C.dependent.event_dim, lambda: C.dependent.check(1)):
        with pytest.raises((NotImplementedError, ValueError)) as error:
            call()
        answers.append(str(error.value))
    matrix = torch.tensor([[2.0, 1.0], [1.0, 0.5]])
    answers += [C.positive_semidefinite.check(matrix - torch.eye(2)).item(), sorted(C.__all__)]
    answers += [C.lower_triangular.check(matrix).item(), C.cat([C.positive, C.real], 1).event_dim]
    return answers


def test_dependent_constraints():
    assert dependent(rushlight) == ask(dependent)


def family(torch):
    class Coin(torch.distributions.ExponentialFamily):
        arg_constraints = {}
        _mean_carrier_measure = 0

        def __init__(self, logits):
            self.logits = logits
            super().__init__(logits.shape, validate_args=False)

        @property
        def _natural_params(self):
            return (self.logits,)

        def _log_normalizer(self, x):
            return torch.log1p(torch.exp(x))

    logits = torch.tensor([[0.5, -1.0]], dtype=torch.float64)
    plain = torch.distributions.Bernoulli(logits=logits)
    return torch.stack([Coin(logits).entropy(), plain.entropy()]).flatten().tolist()


def test_exponential_family():
    assert family(rushlight) == pytest.approx(ask(family), abs=1e-12)


def helpers(torch):
    U = torch.distributions.utils
    x = torch.arange(12.0).reshape(3, 4)
    vector = U.tril_matrix_to_vec(x[:, :3], diag=-1)
    answers = [vector.tolist(), U.vec_to_tril_matrix(x[:, :3], diag=-1).tolist()]
    answers += [U.clamp_probs(torch.tensor([0.0, 0.5, 1.0])).tolist()]
    answers += [U._sum_rightmost(x, 0).tolist(), U._sum_rightmost(x, 1).tolist()]
    for call in (
        lambda: U.tril_matrix_to_vec(x, diag=9),
        lambda: U.vec_to_tril_matrix(torch.ones(5), -1),
    ):
        with pytest.raises(ValueError) as error:
            call()
        answers.append(str(error.value))
    return answers


def test_helpers():
    assert helpers(rushlight) == ask(helpers)


def other_forms(torch):
    """The parameter that was not given: computed once, with a gradient, and shown from then on."""
    D = torch.distributions
    half = torch.full((3,), 0.5, requires_grad=True)
    eye = torch.eye(2, requires_grad=True)
    answers = []
    for family, parameters, other in (
        (D.Categorical, {"probs": half}, "logits"),
        (D.Categorical, {"logits": half}, "probs"),
        (D.Bernoulli, {"probs": half}, "logits"),
        (D.Binomial, {"total_count": 3, "logits": half}, "probs"),
        (D.MultivariateNormal, {"loc": torch.zeros(2), "scale_tril": eye}, "precision_matrix"),
        (D.MultivariateNormal, {"loc": torch.zeros(2), "covariance_matrix": eye}, "scale_tril"),
        (D.Wishart, {"df": torch.tensor(3.0), "scale_tril": eye}, "covariance_matrix"),
    ):
        d = family(**parameters)
        before = repr(d)
        with torch.no_grad():
            first = getattr(d, other)
        wide = d.expand((4, *d.batch_shape))
        answers += [before, repr(d), first is getattr(d, other), first.requires_grad]
        answers += [repr(wide), tuple(getattr(wide, other).shape)]
    return answers


def test_parameters_in_their_other_forms():
    assert other_forms(rushlight) == ask(other_forms)


@pytest.mark.parametrize("scale", ["-1.0", "float('nan')", "0.0", "torch.tensor([1.0, -2.0])"])
@pytest.mark.parametrize("name", ["HalfNormal", "HalfCauchy"])
def test_a_scale_that_is_not_positive(name, scale):
    def refused(torch):
        D = torch.distributions
        value = eval(scale, {"torch": torch})
        D.Distribution.set_default_validate_args(True)  # torch's compiler switches it off
        getattr(D, name)(value, validate_args=False)
        with pytest.raises(ValueError, match="Expected parameter scale") as error:
            getattr(D, name)(value)
        return str(error.value).splitlines()[0]

    assert refused(rushlight) == ask(refused)


def bare(torch):
    """What a program's family without constraints or support says."""
    import re
    import warnings

    D = torch.distributions.Distribution

    class Other:
        def __init__(self):
            self.other = True

    class Bare(D, Other):
        pass

    class Checked(D):
        arg_constraints = {}

        def log_prob(self, value):
            self._validate_sample(value)
            return value

    def said(call):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                found = call()
            except (NotImplementedError, ValueError) as error:
                found = type(error).__name__
        words = [re.search("does not define `[a-z_]+`", str(w.message))[0] for w in caught]
        return str(found), words, [w.category.__name__ for w in caught]

    answers = [type(vars(D)[name]).__name__ for name in ("support", "arg_constraints")]
    answers += [Bare(validate_args=False).other]
    calls = (
        lambda: Bare().batch_shape,
        lambda: Bare(validate_args=False).support,
        lambda: Bare(validate_args=False).arg_constraints,
        lambda: repr(Bare(validate_args=False)),
        lambda: Checked().log_prob(torch.ones(2)).tolist(),
        lambda: Checked(validate_args=False).event_shape,
        lambda: Bare(validate_args=False).expand((2,)),
        lambda: Checked().expand((2,)),
    )
    return answers + [said(call) for call in calls]


def test_families_without_constraints():
    assert bare(rushlight) == ask(bare)


FAMILIES = """
Bernoulli(torch.tensor(0.25))
Beta(torch.tensor(1.5), torch.tensor(2.0))
Binomial(3, torch.tensor(0.25))
Categorical(torch.tensor([0.25, 0.75]))
Chi2(torch.tensor(3.0))
Dirichlet(torch.tensor([0.25, 0.75]))
FisherSnedecor(torch.tensor(3.0), torch.tensor(4.0))
Gamma(torch.tensor(3.0), torch.tensor(4.0))
GeneralizedPareto(torch.tensor(0.0), torch.tensor(1.0), torch.tensor(0.5))
Gumbel(torch.tensor(0.5), torch.tensor(1.0))
HalfNormal(torch.tensor(2.0))
Independent(D.Normal(torch.zeros(2), torch.ones(2)), 1)
Independent(D.Bernoulli(torch.tensor(0.25)), 0)
Kumaraswamy(torch.tensor(0.5), torch.tensor(1.0))
LogNormal(torch.tensor(0.5), torch.tensor(1.0))
MixtureSameFamily(D.Categorical(torch.ones(2)), D.Normal(torch.zeros(2), torch.ones(2)))
Multinomial(3, torch.tensor([0.25, 0.75]))
MultivariateNormal(torch.zeros(2), torch.eye(2))
Normal(torch.tensor(0.5), torch.tensor(1.0))
OneHotCategorical(torch.tensor([0.25, 0.75]))
Pareto(torch.tensor(0.5), torch.tensor(1.0))
StudentT(torch.tensor(3.0))
TransformedDistribution(D.Normal(torch.tensor(0.5), torch.tensor(1.0)), [])
Uniform(torch.tensor(0.5), torch.tensor(1.0))
Weibull(torch.tensor(0.5), torch.tensor(1.0))
""".strip().splitlines()


def expanded(torch, text):
    """expand() of a subclass with a constructor of its own, as libraries write it."""
    D = torch.distributions
    plain = eval(f"D.{text}", {"D": D, "torch": torch})
    base = type(plain)

    class Named(base):
        arg_constraints = {"name": D.constraints.dependent}  # and not those of the base

        def __init__(self, name, *args):
            self.name = name
            super().__init__(*args)

    class Own(Named):
        def expand(self, batch_shape, _instance=None):
            new = self._get_checked_instance(Own, _instance)
            new.name = f"{self.name} {batch_shape}"
            return super().expand(batch_shape, _instance=new)

    arguments = eval(f"list(({text.partition('(')[2][:-1]},))", {"D": D, "torch": torch})
    answers = [type(base.support).__name__.lstrip("_"), plain.has_enumerate_support]
    for word in ("is_discrete", "event_dim"):
        try:
            answers.append(getattr(base.support, word))
        except NotImplementedError:
            answers.append(None)
    own = Own("a", *arguments)
    larger = own.expand((3, 2))
    checked = plain.expand((3, 2))
    answers += [type(larger) is Own, larger.name, own.name, larger._validate_args]
    answers += [list(larger.batch_shape), list(larger.event_shape), checked._validate_args]
    draw = plain.sample()
    answers += [torch.allclose(larger.log_prob(draw), plain.log_prob(draw).expand(3, 2))]
    if hasattr(plain, "param_shape"):
        answers += [list(larger.param_shape), list(checked.param_shape)]
    answers += [type(checked) is base, list(checked.batch_shape)]
    try:
        Named("a", *arguments).expand((2,))
    except NotImplementedError as error:
        answers.append(str(error))
    try:
        answers.append(plain.enumerate_support().tolist())
    except NotImplementedError as error:
        answers.append(str(error))
    return answers


@pytest.mark.parametrize("text", FAMILIES)
def test_expand_of_subclasses(text):
    assert expanded(rushlight, text) == ask(lambda torch: expanded(torch, text))
