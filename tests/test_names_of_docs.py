"""What torch's own docstrings call and few programs do: values and words as torch's."""

import warnings

import pytest

import rushlight
from tests.conftest import ask

HASHED = [
    "T.tensor([1, -2, 3, 4])", "T.tensor([1.5, -2.0, 3.0])", "T.tensor([1.5, -0.0]).double()",
    "T.tensor([1.5, 2.0, -7.0]).half()", "T.tensor([1.5, 2.0, -7.0]).bfloat16()",
    "T.tensor([True, False])", "T.tensor([200, 7], dtype=T.uint8)", "T.tensor(5)",
    "T.tensor([-5, 7], dtype=T.int8)", "T.arange(24.0).view(2, 3, 4)",
    "T.arange(120).view(2, 3, 4, 5).mT",
]  # fmt: skip
HASHES = [
    "x.hash_tensor()", "T.hash_tensor(x, 0)", "T.hash_tensor(x, dim=-1, keepdim=True)",
    "T.hash_tensor(x, (0, 2))", "T.hash_tensor(x, [0, 0])", "T.hash_tensor(x, 3)",
    "T.hash_tensor(x, mode=2)", "T.hash_tensor(x[:0], 0)", "T.hash_tensor(x[:0])",
    "T.hash_tensor(x[:0], 1)", "T.hash_tensor(x + 0j)",
]  # fmt: skip


def answer(t, call, names):
    try:
        result = eval(call, {"T": t, **names})
    except Exception as error:
        return type(error).__name__, str(error).splitlines()[0]
    return str(result.dtype).split(".")[1], list(result.shape), result.tolist()


@pytest.mark.parametrize("made", HASHED)
def test_hashes_of_dtypes(made):
    def found(t):
        return answer(t, f"T.hash_tensor({made})", {})

    assert found(rushlight) == ask(found)


@pytest.mark.parametrize("call", HASHES)
def test_hashes_along_dimensions(call):
    def found(t):
        return answer(t, call, {"x": t.arange(24.0).view(2, 3, 4)})

    assert found(rushlight) == ask(found)


REMOVED = ["T.symeig(x)", "T.solve(x, x)", "T.lstsq(x, x)", "T.eig(x)", "T.matrix_rank(x)"]
METHODS = ["x.symeig()", "x.solve(x)", "x.lstsq(x)", "x.eig()"]


@pytest.mark.parametrize("call", REMOVED + METHODS)
def test_what_torch_has_removed_says_so(call):
    def words(t):
        return answer(t, call, {"x": t.eye(2)})

    assert words(rushlight) == ask(words)


PATTERNS = [
    "a b c -> c a b", "a b c -> (a c) b", "a b (c d) -> a c b d", "a ... -> ... a", "... -> (...)",
    "a b c -> a 1 (b c)", "a b c -> a b c ()", "(e a) b c -> a (e b) c", "a b c->c b a",
    "a b -> b a", "a b c -> a b", "a a b -> a b", "a b c", "a b c -> a b ((c))", "a b c -> a b (c",
    "... a ... -> a", "a b c -> ... a b c", "_a b c -> b c _a", "a (b ...) c -> a b c",
    "a b c -> c-b a", "a b c -> a b 2c", "a b c -> a b 2",
]  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
def test_rearrange(pattern):
    def found(t):
        sizes = {"a b (c d) -> a c b d": {"d": 2}, "(e a) b c -> a (e b) c": {"a": 1}}
        x = t.arange(24.0).view(2, 3, 4)
        names = {"x": x, "p": pattern, "sizes": sizes.get(pattern, {})}
        return answer(t, "T.func.rearrange(x, p, **sizes)", names)

    assert found(rushlight) == ask(found)


def test_rearrange_of_several_tensors():
    x = rushlight.ones(2, 3)
    assert rushlight.func.rearrange([x, x], "n a b -> a (n b)").shape == (2, 6)
    assert rushlight.func.rearrange(x, "(c a) b -> c a b", c=2, a=1).shape == (2, 1, 3)
    with pytest.raises(Exception, match="do not match"):
        rushlight.func.rearrange(x, "(c a) b -> c a b", c=2, a=3)
    with pytest.raises(Exception, match="two dimensions at once"):
        rushlight.func.rearrange(x, "(c a) b -> c a b")
    with pytest.raises(Exception, match="does not evenly fit"):
        rushlight.func.rearrange(x, "a (b c) -> a b c", b=2)
    with pytest.raises(ValueError, match="must be equal to the number of dimensions"):
        rushlight.func.rearrange(x, "a b c ... -> a b c ...")


def test_hooks_of_a_tensor():
    x = rushlight.ones(2, requires_grad=True)
    assert x._backward_hooks is None and rushlight.ones(1)._backward_hooks is None
    handle = x.register_hook(abs)
    assert list(x._backward_hooks.values()) == [abs]
    y = x * 2
    y.register_hook(len)
    assert list(y._backward_hooks.values()) == [len]
    handle.remove()
    assert not x._backward_hooks


def test_hooks_that_no_file_keeps():
    hooks = rushlight.utils.hooks
    x = rushlight.ones(2, requires_grad=True)
    x.register_hook(hooks.unserializable_hook(lambda g: g))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hooks.warn_if_has_hooks(x)
        hooks.warn_if_has_hooks(rushlight.ones(2))
    x.register_hook(lambda g: g)
    with pytest.warns(UserWarning, match="will not be serialized"):
        hooks.warn_if_has_hooks(x)


def test_data_pipes_are_data_sets():
    data = rushlight.utils.data

    class Count(data.IterDataPipe):
        def __iter__(self):
            yield from range(4)

    class Squares(data.MapDataPipe):
        def __len__(self):
            return 3

        def __getitem__(self, i):
            return i * i

    assert isinstance(Count(), data.IterableDataset)
    assert [b.tolist() for b in data.DataLoader(Count(), batch_size=2)] == [[0, 1], [2, 3]]
    assert [b.tolist() for b in data.DataLoader(Squares(), batch_size=3)] == [[0, 1, 4]]


def test_names_to_compare_with():
    import copy
    import pickle

    tag = rushlight.Tag.pt2_compliant_tag
    assert str(tag) == "Tag.pt2_compliant_tag" and pickle.loads(pickle.dumps(tag)) is tag
    scheme = rushlight.per_tensor_affine
    assert isinstance(scheme, rushlight.qscheme) and repr(scheme) == "torch.per_tensor_affine"
    assert copy.deepcopy(scheme) is scheme and pickle.loads(pickle.dumps(scheme)) is scheme


def test_small_names():
    assert rushlight.autograd._profiler_enabled() is False
    with rushlight.profiler.profile():
        assert rushlight.autograd._profiler_enabled() is True
    assert rushlight.masked._ops.sum is rushlight.masked.sum
    x = rushlight.arange(8.0).view(1, 4, 2, 1)
    assert rushlight.equal(
        rushlight.nn.functional.native_channel_shuffle(x, 2), rushlight.channel_shuffle(x, 2)
    )
    compiler = rushlight.compiler
    compiler.set_default_backend("eager")
    assert compiler.get_default_backend() == "eager"
    compiler.set_default_backend(None)
    assert compiler.get_default_backend() == "inductor"


CONVERSIONS = {
    "data": (),
    "overwrite": ("set_overwrite_module_params_on_conversion",),
    "swap": ("set_swap_module_params_on_conversion",),
}


@pytest.mark.parametrize("way", CONVERSIONS)
def test_conversion_of_parameters(way):
    def found(t):
        settings = [getattr(t.__future__, name) for name in CONVERSIONS[way]]
        layer = t.nn.Linear(2, 2)
        layer(t.ones(1, 2)).sum().backward()
        weight, data = layer.weight, layer.weight.data_ptr()
        for setting in settings:
            setting(True)
        try:
            layer.double()
        finally:
            for setting in settings:
                setting(False)
        new = layer.weight
        kinds = [new is weight, new.data_ptr() == data, type(new).__name__, new.requires_grad]
        return kinds, str(new.dtype), str(new.grad.dtype), str(weight.dtype)

    ours, theirs = found(rushlight), ask(found)
    ours, theirs = ([[*a[0]], *(d.split(".")[1] for d in a[1:])] for a in (ours, theirs))
    assert ours == theirs
    assert rushlight.__future__.get_swap_module_params_on_conversion() is False
    assert rushlight.__future__.get_overwrite_module_params_on_conversion() is False
