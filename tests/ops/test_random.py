"""Random numbers: on the CPU they are torch's, for the same seed, whatever was drawn before; each
virtual GPU has a stream of its own, of the same numbers. Logarithms and sines may differ in the
last bits.
"""

import copy
import pickle

import pytest

import rushlight
from tests.compare import name_of, same_as_torch
from tests.conftest import REAL, load_reference

torch = load_reference()

FLOATS = ["float32", "float64", "float16", "bfloat16"]
INTEGERS = ["uint8", "int8", "int16", "int32", "int64"]
SIZES = [0, 1, 2, 3, 15, 16, 17, 31, 32, 33, 47, 100, 1000, 4097]


def draw(code, seed=3, **names):
    """The same expression under both libraries, from the same seed."""
    results = []
    for module in (rushlight, torch):
        module.manual_seed(seed)
        results.append(eval(code, {"T": module, **names}))
    return results


def same_numbers(ours, theirs, rtol=0.0):
    """On the CPU and on virtual GPUs; a real one draws others, of the same shape and dtype."""
    if not REAL:
        same_as_torch(ours, theirs, rtol)
    assert tuple(ours.shape) == tuple(theirs.shape) and name_of(ours.dtype) == name_of(theirs.dtype)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("n", SIZES)
def test_uniform_numbers_are_torch_s(n, dtype, on_device):
    same_numbers(*draw(f"T.rand({n}, dtype=T.{dtype})"))
    same_numbers(*draw(f"T.empty({n}, dtype=T.{dtype}).uniform_(-1.3, 2.7)"))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("n", SIZES)
def test_normal_numbers_are_torch_s(n, dtype, on_device):
    same_numbers(*draw(f"T.randn({n}, dtype=T.{dtype})"), rtol=None)
    same_numbers(*draw(f"T.empty({n}, dtype=T.{dtype}).normal_(1.5, 0.3)"), rtol=None)


@pytest.mark.parametrize("n", [0, 1, 17, 1000])
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    "fill",
    ["exponential_(1.5)", "log_normal_(0.5, 0.2)", "cauchy_(1.0, 0.5)", "geometric_(0.3)",
     "bernoulli_(0.3)", "random_()", "random_(0, 100)"],
)  # fmt: skip
def test_other_distributions(fill, dtype, n, on_device):
    same_numbers(*draw(f"T.empty({n}, dtype=T.{dtype}).{fill}"), rtol=None)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize(
    "code",
    ["T.randint(0, 2, (50,), dtype=T.{0})", "T.randint(3, 100, (7, 5), dtype=T.{0})",
     "T.empty(33, dtype=T.{0}).random_()", "T.empty(33, dtype=T.{0}).bernoulli_(0.5)",
     "T.randperm(100, dtype=T.{0})"],
)  # fmt: skip
def test_integers(code, dtype, on_device):
    same_numbers(*draw(code.format(dtype)))


@pytest.mark.parametrize(
    "bounds",
    [(0, 2**28 - 1), (0, 2**28), (-5, 2**32), (-(2**40), 2**50), (-(2**63), 2**63 - 1)],
)
def test_the_choice_between_one_word_and_two(bounds, on_device):
    same_numbers(*draw(f"T.randint({bounds[0]}, {bounds[1]}, (40,))"))


def test_every_64_bit_integer(on_device):
    same_numbers(*draw(f"T.empty(20, dtype=T.int64).random_({-(2**63)}, None)"))
    same_numbers(*draw("T.empty(20, dtype=T.bool).random_()"))


@pytest.mark.parametrize("n", [0, 1, 2, 10, 1000, 70000])
def test_permutations(n, on_device):
    same_numbers(*draw(f"T.randperm({n})"))


@pytest.mark.parametrize("seed", [0, 1, -1, -(2**63), 2**63, 2**64 - 1])
def test_seeds(seed, on_device):
    same_numbers(*draw("T.rand(5)", seed))
    assert rushlight.initial_seed() == torch.initial_seed()
    assert rushlight.manual_seed(seed).initial_seed() == torch.manual_seed(seed).initial_seed()


@pytest.mark.parametrize("seed", [2**64, -(2**63) - 1])
def test_a_seed_beyond_64_bits(seed):
    with pytest.raises(ValueError, match="Overflow when unpacking long long"):
        rushlight.manual_seed(seed)


def test_kinds_mixed_in_one_stream(on_device):
    steps = [
        "T.randn(3)", "T.rand(2)", "T.randn(1)", "T.randn(20)", "T.randn(5, dtype=T.float64)",
        "T.randint(10, (3,))", "T.randn(1)", "T.bernoulli(T.full((4,), 0.5))", "T.randperm(6)",
        "T.dropout(T.ones(9), 0.5, True)", "T.randn(7)", "T.normal(T.zeros(3), T.ones(3))",
    ]  # fmt: skip
    rushlight.manual_seed(11)
    torch.manual_seed(11)
    for step in steps:
        same_numbers(eval(step, {"T": rushlight}), eval(step, {"T": torch}), 2e-6)


def test_states_are_exchanged_with_torch():
    torch.manual_seed(5)
    torch.randn(3)  # leaves one number waiting
    state = torch.get_rng_state()
    rushlight.set_rng_state(rushlight.tensor(state.tolist(), dtype=rushlight.uint8))
    assert rushlight.get_rng_state().tolist() == state.tolist()
    same_as_torch(rushlight.randn(5), torch.randn(5), 2e-6)
    torch.set_rng_state(torch.tensor(rushlight.get_rng_state().tolist(), dtype=torch.uint8))
    same_as_torch(rushlight.randn(700), torch.randn(700), 2e-6)
    rushlight.manual_seed(8)
    torch.manual_seed(8)
    assert rushlight.get_rng_state().tolist() == torch.get_rng_state().tolist()


def test_states_that_are_none():
    with pytest.raises(TypeError, match=r"RNG state must be a torch\.ByteTensor"):
        rushlight.set_rng_state(rushlight.zeros(3))
    with pytest.raises(RuntimeError, match="but found the input RNG state size to be 3"):
        rushlight.set_rng_state(rushlight.zeros(3, dtype=rushlight.uint8))
    with pytest.raises(RuntimeError, match="Invalid mt19937 state"):
        rushlight.set_rng_state(rushlight.zeros(5056, dtype=rushlight.uint8))


@pytest.mark.parametrize(
    "view",
    ["T.empty(5, 7).t()", "T.empty(6, 20)[:, ::2]", "T.empty(3, 4, 9).permute(1, 2, 0)",
     "T.empty(30)[5:]", "T.empty(4, 1, 5).transpose(0, 2)"],
)  # fmt: skip
@pytest.mark.parametrize("fill", ["uniform_()", "normal_()", "bernoulli_(0.4)", "random_(9)"])
def test_strided_outputs_are_filled_in_torch_s_order(view, fill, on_device):
    same_numbers(*draw(f"{view}.{fill}"), 2e-6)


def test_probabilities_of_their_own_for_each_element(on_device):
    for dtype in FLOATS:
        same_numbers(*draw(f"T.bernoulli(T.linspace(0, 1, 40).to(T.{dtype}))"))
    same_numbers(*draw("T.empty(4, 5).bernoulli_(T.linspace(0, 1, 5))"))
    same_numbers(*draw("T.empty(5, 4).t().bernoulli_(T.linspace(0, 1, 20).reshape(4, 5))"))


@pytest.mark.parametrize(
    "code",
    ["T.multinomial(T.tensor([0.1, 0.2, 0.7]), 1)", "T.multinomial(T.tensor([0.1, 0.2, 0.7]), 3)",
     "T.multinomial(T.ones(4, 9), 20, True)", "T.multinomial(T.ones(4, 9), 5)",
     "T.multinomial(T.ones(4, 9, dtype=T.float64), 30, replacement=True)"],
)  # fmt: skip
def test_multinomial(code, on_device):
    same_numbers(*draw(code))


@pytest.mark.parametrize(
    "code",
    ["T.normal(T.arange(5.), 2.0)", "T.normal(1.0, T.arange(5.))", "T.normal(1.0, 2.0, (3, 6))",
     "T.normal(T.ones(3, 1), T.ones(4))", "T.normal(T.zeros(20))", "T.rand_like(T.ones(3, 4).t())",
     "T.randn_like(T.ones(20))", "T.randint_like(T.ones(9), 3, 8)", "T.randint_like(T.ones(9), 8)"],
)  # fmt: skip
def test_normal_and_the_like_functions(code, on_device):
    same_numbers(*draw(code), 2e-6)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    "code",
    ["T.dropout(x, 0.3, True)", "T.dropout(x, 1.0, True)", "T.dropout(x, 0.0, True)",
     "T.dropout(x, 0.3, False)", "T.alpha_dropout(x, 0.3, True)", "T.feature_dropout(x, 0.5, True)",
     "T.feature_alpha_dropout(x, 0.5, True)", "T.dropout(x.transpose(0, 1), 0.3, True)",
     "T.dropout(x[:, ::2], 0.3, True)", "T.dropout_(x * 1, 0.3, True)",
     "T.alpha_dropout_(x * 1, 0.3, True)"],
)  # fmt: skip
def test_dropout(code, dtype, on_device):
    ours, theirs = draw(code.replace("x", f"T.ones(4, 6, 5, dtype=T.{dtype})", 1))
    same_numbers(ours, theirs, rtol=None)


def test_gradients_of_dropout_and_fills(device):
    for module, where in ((rushlight, device), (torch, "cpu")):
        x = module.ones(4, 5, device=where, requires_grad=True)
        y = module.dropout(x * 2, 0.5, True)
        assert y.grad_fn.name() == "MulBackward0"
        (y * y).sum().backward()
        assert x.grad.tolist() == (2 * y * y).tolist()  # x is 1: y is what it is multiplied by
        z = module.ones(3, device=where, requires_grad=True) * 1
        z.normal_()
        assert z.grad_fn.name() == "NormalBackward0"


@pytest.mark.parametrize(
    ("code", "error"),
    [("T.ones(3).uniform_(3, 1)", "uniform_ expects to return a [from, to) range"),
     ("T.ones(3).normal_(0, -1)", "normal expects std >= 0.0, but found std -1"),
     ("T.ones(3, dtype=T.int64).normal_()", "not implemented for 'Long'"),
     ("T.ones(3).bernoulli_(2.)", "bernoulli_ expects p to be in [0, 1], but got p=2"),
     ("T.bernoulli(T.ones(3) * 2)", "Expected p_in >= 0 && p_in <= 1 to be true"),
     ("T.randint(5, 5, (2,))", "random_ expects 'from' to be less than 'to'"),
     ("T.randint(0, 300, (2,), dtype=T.uint8)", "to - 1 is out of bounds for unsigned char"),
     ("T.randperm(-1)", "Trying to create tensor with negative dimension -1: [-1]"),
     ("T.multinomial(T.ones(3), 4)", "cannot sample n_sample > prob_dist.size(-1) samples"),
     ("T.multinomial(T.zeros(3), 1)", "sum of probabilities <= 0"),
     ("T.multinomial(-T.ones(3), 1)", "probability tensor contains either"),
     ("T.dropout(T.ones(3), 2., True)", "dropout probability has to be between 0 and 1, but got 2"),
     ("T.ones(1).expand(3).uniform_()", "more than one element of the written-to tensor"),
     ("T.ones(3, requires_grad=True).uniform_()", "a leaf Variable that requires grad"),
     ("T.feature_dropout(T.ones(3), .5, True)", "Feature dropout requires at least 2 dimensions")],
)  # fmt: skip
def test_wrong_calls_raise_torch_s_errors(code, error, on_device):
    with pytest.raises(Exception) as theirs:
        eval(code, {"T": torch})
    with pytest.raises(Exception) as ours:
        eval(code, {"T": rushlight})
    assert type(ours.value).__name__ == type(theirs.value).__name__
    assert error in str(ours.value)
    assert error in str(theirs.value)


def test_each_device_has_a_stream_of_its_own(virtual_gpus):
    rushlight.manual_seed(4)
    first = rushlight.randn(20, device="cuda:0").cpu()
    assert first.tolist() == rushlight.randn(20, device="cuda:1").cpu().tolist()
    assert first.tolist() == rushlight.randn(20).tolist()
    generator = rushlight.Generator(device="cuda:1")
    with pytest.raises(RuntimeError, match="Expected a 'cpu' device type for generator"):
        rushlight.rand(2, generator=generator)


def test_generators_from_several_threads():
    import threading

    generator = rushlight.Generator().manual_seed(1)
    parts = []

    def work():
        for _ in range(20):
            parts.append(rushlight.rand(20000, generator=generator).double().sum().item())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    whole = rushlight.rand(80 * 20000, generator=rushlight.Generator().manual_seed(1))
    assert sum(parts) == pytest.approx(whole.double().sum().item(), rel=1e-12)


def test_fork_rng_puts_the_stream_back(on_device):
    rushlight.manual_seed(1)
    with rushlight.random.fork_rng():
        rushlight.rand(5)
    after = rushlight.rand(3)
    rushlight.manual_seed(1)
    assert after.tolist() == rushlight.rand(3).tolist()


def test_generators_are_copied_and_pickled_with_their_state(on_device):
    g = rushlight.Generator(device=on_device).manual_seed(5)
    rushlight.rand(3, generator=g, device=on_device)
    others = [copy.copy(g), copy.deepcopy(g)]
    others += [pickle.loads(pickle.dumps(g, p)) for p in range(pickle.HIGHEST_PROTOCOL + 1)]
    state = g.get_state()
    drawn = rushlight.rand(3, generator=g, device=on_device)
    for other in others:
        assert other is not g and other.device == g.device and other.initial_seed() == 5
        assert other.get_state().equal(state)
        assert rushlight.rand(3, generator=other, device=on_device).equal(drawn)
    with pytest.raises(RuntimeError, match="expected \\(seed, None, state\\)"):
        g.__setstate__((1,))


@pytest.mark.parametrize("layout", ["randn(3, 4).t().expand(2, 4, 3)",
                                    "randn(3, 4).unfold(1, 3, 1)"])  # fmt: skip
@pytest.mark.parametrize("call", ["T.rand_like(x)", "F.dropout(x)", "T.bernoulli(x * 0 + 0.5)",
                                  "T.bernoulli(x, 0.5)", "F.alpha_dropout(x)"])  # fmt: skip
def test_draws_fill_the_layout_that_torch_gives_to_overlapping_inputs(call, layout, on_device):
    results = []
    for library in (rushlight, torch):
        library.manual_seed(3)
        names = {"T": library, "F": library.nn.functional, "x": eval(f"library.{layout}")}
        results.append(eval(call, names))
        assert results[-1].stride() == results[0].stride()
    same_numbers(*results, rtol=1e-6)
