"""Optimizers against torch: trajectories, state, files, words."""

import copy
import pickle
import warnings

import numpy as np
import pytest

import rushlight as torch
from rushlight import optim
from tests.conftest import ask

CASES = [
    ("SGD", {"lr": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.9}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.5, "dampening": 0.3, "maximize": True}),
    ("SGD", {"lr": 0.1, "weight_decay": 0.2, "foreach": True}),
    ("Adam", {}),
    ("Adam", {"lr": 0.05, "betas": (0.3, 0.7), "eps": 1e-3, "weight_decay": 0.1}),
    ("Adam", {"lr": 0.05, "amsgrad": True, "maximize": True}),
    ("Adam", {"lr": 0.05, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("AdamW", {"lr": 0.05}),
    ("AdamW", {"lr": 0.05, "amsgrad": True, "weight_decay": 0.3}),
]
OTHERS = [
    ("Adagrad", {"lr": 0.1, "lr_decay": 0.1, "weight_decay": 0.1}),
    ("Adagrad", {"initial_accumulator_value": 0.5, "maximize": True}),
    ("RMSprop", {"lr": 0.05}),
    ("RMSprop", {"lr": 0.05, "centered": True, "maximize": True}),
    ("RMSprop", {"lr": 0.05, "momentum": 0.9}),
    ("RMSprop", {"lr": 0.05, "momentum": 0.9, "centered": True, "weight_decay": 0.1}),
    ("Adadelta", {"lr": 0.5, "weight_decay": 0.1}),
    ("Adadelta", {"rho": 0.5, "eps": 1e-3, "maximize": True}),
    ("Adamax", {"lr": 0.05, "weight_decay": 0.1}),
    ("Adamax", {"lr": 0.05, "betas": (0.3, 0.7), "maximize": True}),
    ("NAdam", {"lr": 0.05}),
    ("NAdam", {"lr": 0.05, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("NAdam", {"lr": 0.05, "weight_decay": 0.1, "momentum_decay": 0.1, "maximize": True}),
    ("RAdam", {"lr": 0.05, "weight_decay": 0.1}),
    ("RAdam", {"lr": 0.05, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("RAdam", {"lr": 0.05, "betas": (0.5, 0.8), "maximize": True}),
    ("ASGD", {"lr": 0.05, "weight_decay": 0.1}),
    ("ASGD", {"lr": 0.05, "lambd": 0.1, "alpha": 0.5, "t0": 2, "maximize": True}),
    ("Rprop", {"lr": 0.05}),
    ("Rprop", {"lr": 0.05, "etas": (0.4, 1.5), "step_sizes": (1e-3, 0.2), "maximize": True}),
]
EVERY = CASES + OTHERS
SHAPES = [(3, 4), (5,), ()]


def numbers(seed, shapes=SHAPES, dtype=np.float32):
    state = np.random.RandomState(seed)
    return [np.asarray(state.standard_normal(s), dtype=dtype) for s in shapes]


def parameters(library, dtype=np.float32, device="cpu", shapes=SHAPES):
    kind = getattr(library, np.dtype(dtype).name)
    return [
        library.nn.Parameter(library.tensor(a.tolist(), dtype=kind, device=device))
        for a in numbers(0, shapes, dtype)
    ]


def give_grads(library, params, seed, dtype=np.float32):
    shapes = [tuple(p.shape) for p in params]
    for p, a in zip(params, numbers(seed, shapes, dtype), strict=True):
        p.grad = library.tensor(a.tolist(), dtype=p.dtype, device=p.device)


def values(tensor):
    return np.array(tensor.detach().cpu().tolist())


def assert_close(ours, theirs, tolerance=2e-6):
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(values(a), values(b), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name, options", EVERY)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_trajectory(reference, device, name, options, dtype):
    mine, right = parameters(torch, dtype, device), parameters(reference, dtype)
    ours = getattr(optim, name)(mine, **options)
    theirs = getattr(reference.optim, name)(right, **options)
    assert repr(ours) == repr(theirs)
    for step in range(5):
        give_grads(torch, mine, step + 1, dtype)
        give_grads(reference, right, step + 1, dtype)
        if step == 2:  # a parameter without a gradient keeps its state
            mine[1].grad = right[1].grad = None
        ours.step()
        theirs.step()
    assert_close(mine, right)
    a, b = ours.state_dict(), theirs.state_dict()
    assert a["param_groups"] == b["param_groups"]
    assert list(a["state"]) == list(b["state"])
    for key, entry in b["state"].items():
        assert list(a["state"][key]) == list(entry)
        for field, value in entry.items():
            mine_value = a["state"][key][field]
            assert str(mine_value.dtype) == str(value.dtype), field
            np.testing.assert_allclose(
                values(mine_value), values(value), rtol=2e-6, atol=2e-6, err_msg=field
            )


@pytest.mark.parametrize("name, options", EVERY)
def test_roundings(reference, name, options):
    """Twenty steps in float64 against torch's step of one tensor after another: what is left is an
    fma here and there. (float32 would hide an operation in another order.)"""
    shapes = [(67,), (33, 5)]
    mine, right = (parameters(m, np.float64, shapes=shapes) for m in (torch, reference))
    ours = getattr(optim, name)(mine, **options)
    theirs = getattr(reference.optim, name)(right, **{**options, "foreach": False})
    for step in range(20):
        give_grads(torch, mine, step + 1, np.float64)
        give_grads(reference, right, step + 1, np.float64)
        ours.step()
        theirs.step()
    assert_close(mine, right, 1e-14)


def differentiable_steps(library, name, options, w, g, plain=0, steps=1):
    """The parameter after steps of which the last ones are recorded, as a function of w and g."""
    p = w.clone()
    if p.requires_grad:
        p.retain_grad()
    opt = getattr(library.optim, name)([p], **options)
    for step in range(plain + steps):
        opt.defaults["differentiable"] = step >= plain
        opt.param_groups[0]["differentiable"] = step >= plain
        p.grad = (g if step >= plain else g.detach()) * (step + 1)
        opt.step()
    return p


@pytest.mark.parametrize("name, options", [case for case in EVERY if "foreach" not in case[1]])
def test_differentiable(device, name, options):
    """The gradients of a step after another one, which has made the state. torch computes the
    corrections in float32, and its foreach steps are not differentiable."""
    options = {**options, "differentiable": True}

    def results(library, where="cpu"):
        (w,) = parameters(library, np.float64, where, [(3, 4)])
        (g,) = numbers(1, [(3, 4)], np.float64)
        g = library.tensor(g.tolist(), dtype=library.float64, device=where, requires_grad=True)
        p = differentiable_steps(library, name, options, w, g, plain=1)
        return p, *library.autograd.grad((p * p).sum(), (w, g))

    for ours, theirs in zip(results(torch, device), ask(results), strict=True):
        np.testing.assert_allclose(values(ours), values(theirs), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name, options", OTHERS)
def test_differentiable_through_the_state(name, options):
    """Two recorded steps: torch's own writes over what its gradients need."""
    options = {**options, "differentiable": True}
    (w,) = parameters(torch, np.float64, shapes=[(5,)])
    g = torch.tensor(numbers(1, [(5,)], np.float64)[0].tolist(), dtype=torch.float64)

    def last(w, g):
        return differentiable_steps(torch, name, options, w, g, steps=2)

    assert torch.autograd.gradcheck(last, (w, g.requires_grad_()), atol=1e-4, rtol=1e-3)


def test_what_a_differentiable_step_refuses():
    (p,) = parameters(torch, shapes=[(2,)])
    give_grads(torch, [p], 0)
    rate = torch.tensor(0.1, requires_grad=True)
    with pytest.raises(NotImplementedError, match="a lr that requires grad"):
        optim.SGD([p], lr=rate, differentiable=True).step()
    with pytest.raises(RuntimeError, match="leaf"):
        optim.SGD([p], lr=0.1, differentiable=True).step()
    with pytest.raises(AssertionError, match="If capturable=True"):
        optim.Adam([p], capturable=True).step()


@pytest.mark.parametrize("name, options", EVERY)
def test_exchange(reference, name, options):
    """The middle of a run goes over to the other library and back."""
    mine, right = parameters(torch), parameters(reference)
    ours = getattr(optim, name)(mine, **options)
    theirs = getattr(reference.optim, name)(right, **options)
    for step in range(2):
        give_grads(reference, right, step)
        theirs.step()
    for p, q in zip(mine, right, strict=True):
        p.data = torch.tensor(q.tolist())
    ours.load_state_dict(translated(theirs.state_dict(), torch))
    for step in range(2, 4):
        give_grads(torch, mine, step)
        give_grads(reference, right, step)
        ours.step()
        theirs.step()
    assert_close(mine, right)
    theirs.load_state_dict(translated(ours.state_dict(), reference))


def translated(value, library):
    """A state dict with the other library's tensors."""
    if isinstance(value, dict):
        return {k: translated(v, library) for k, v in value.items()}
    if isinstance(value, list):
        return [translated(v, library) for v in value]
    if hasattr(value, "dtype"):
        return library.tensor(value.tolist(), dtype=getattr(library, str(value.dtype)[6:]))
    return value


@pytest.mark.parametrize("name", ["SGD", "Adam"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half(name, dtype):
    kind = getattr(torch, dtype)
    options = {"momentum": 0.9} if name == "SGD" else {}
    half = [torch.nn.Parameter(torch.tensor([1.0, -2.0], dtype=kind))]
    full = [torch.nn.Parameter(torch.tensor([1.0, -2.0]))]
    for params in (half, full):
        opt = getattr(optim, name)(params, lr=0.1, **options)
        for _ in range(3):
            params[0].grad = torch.tensor([0.5, 0.25], dtype=params[0].dtype)
            opt.step()
    np.testing.assert_allclose(values(half[0]), values(full[0]), rtol=2e-2)


@pytest.mark.parametrize("name", ["SGD", "Adam"])
def test_layouts(name):
    """Transposed and sliced parameters, gradients in another layout."""
    options = {"momentum": 0.9} if name == "SGD" else {"amsgrad": True}
    data = numbers(0, [(4, 6)])[0]
    plain = torch.nn.Parameter(torch.tensor(data.tolist()))
    transposed = torch.nn.Parameter(torch.tensor(data.T.tolist()).t())
    whole = torch.zeros(4, 12)
    part = whole.as_strided((4, 6), (12, 2))
    part.copy_(torch.tensor(data.tolist()))
    sliced = torch.nn.Parameter(part)
    for p in (plain, transposed, sliced):
        opt = getattr(optim, name)([p], lr=0.1, **options)
        for step in range(3):
            grad = numbers(step + 1, [(4, 6)])[0]
            p.grad = torch.tensor(grad.T.tolist()).t()
            opt.step()
    np.testing.assert_allclose(values(transposed), values(plain), rtol=1e-6)
    np.testing.assert_allclose(values(sliced), values(plain), rtol=1e-6)
    assert values(whole)[:, 1::2].sum() == 0
    expanded = torch.nn.Parameter(torch.zeros(1).expand(3))
    expanded.grad = torch.ones(3)
    with pytest.raises(RuntimeError, match="single memory location"):
        getattr(optim, name)([expanded], lr=0.1).step()


def test_nothing_is_written_when_one_does_not_fit():
    a, b = parameters(torch, shapes=[(2,), (2,)])
    opt = optim.Adam([a, b])
    give_grads(torch, [a, b], 0)
    opt.step()
    opt.state[b]["exp_avg"] = torch.zeros(3)
    before = values(a)
    give_grads(torch, [a, b], 1)
    with pytest.raises(RuntimeError, match="the exp_avg of parameter 1"):
        opt.step()
    np.testing.assert_array_equal(values(a), before)
    assert opt.state[a]["step"].item() == 1


def test_step_counts_the_version_up():
    (p,) = parameters(torch, shapes=[(2,)])
    version = p._version
    give_grads(torch, [p], 0)
    optim.SGD([p], lr=0.1).step()
    assert p._version == version + 1


def test_zero_grad():
    params = parameters(torch)
    opt = optim.SGD(params, lr=0.1)
    give_grads(torch, params, 0)
    grad = params[0].grad
    opt.zero_grad(set_to_none=False)
    assert params[0].grad is grad and values(grad).sum() == 0
    opt.zero_grad()
    assert all(p.grad is None for p in params)


def test_closure():
    (p,) = parameters(torch, shapes=[(2,)])

    def closure():
        assert torch.is_grad_enabled()
        give_grads(torch, [p], 0)
        return 5

    with torch.no_grad():
        assert optim.SGD([p], lr=0.1).step(closure) == 5
        assert optim.Adam([p]).step(closure) == 5


def test_groups_and_pickles():
    a, b, c = parameters(torch)
    opt = optim.SGD([{"params": [a]}, {"params": b, "lr": 0.5}], lr=0.1, momentum=0.9)
    opt.add_param_group({"params": (p for p in [c]), "momentum": 0})
    assert [g["lr"] for g in opt.param_groups] == [0.1, 0.5, 0.1]
    assert opt.param_groups[1]["params"] == [b] or opt.param_groups[1]["params"][0] is b
    give_grads(torch, [a, b, c], 0)
    opt.step()
    assert c not in opt.state and "momentum_buffer" in opt.state[a]
    for twin in (copy.deepcopy(opt), pickle.loads(pickle.dumps(opt))):
        assert repr(twin) == repr(opt)
        p = twin.param_groups[0]["params"][0]
        np.testing.assert_array_equal(values(twin.state[p]["momentum_buffer"]), values(a.grad))
    named = optim.SGD([("a", a)], lr=0.1)
    assert named.state_dict()["param_groups"][0]["param_names"] == ["a"]
    assert named.param_groups[0]["params"][0] is a


def test_hooks():
    (p,) = parameters(torch, shapes=[(2,)])
    opt, seen = optim.SGD([p], lr=0.1), []
    opt.register_step_pre_hook(lambda o, args, kwargs: seen.append(("pre", o is opt)))
    handle = opt.register_step_post_hook(lambda o, args, kwargs: seen.append(("post", o is opt)))
    give_grads(torch, [p], 0)
    opt.step()
    handle.remove()
    opt.step()
    assert seen == [("pre", True), ("post", True), ("pre", True)]
    opt.register_state_dict_post_hook(lambda o, state: {**state, "more": 1})
    assert opt.state_dict()["more"] == 1
    opt.register_load_state_dict_pre_hook(lambda o, state: {**state, "param_groups": []})
    with pytest.raises(ValueError, match="different number of parameter groups"):
        opt.load_state_dict(opt.state_dict())


WRONG = [
    "SGD([])",
    "SGD(p)",
    "SGD([3])",
    "SGD(3)",
    "SGD('abc')",
    "SGD([{'params': p}, {'params': [p]}])",
    "SGD([{'lr': 3}])",
    "SGD([{'params': {p}}])",
    "SGD([p], lr=-1)",
    "SGD([p], momentum=-1)",
    "SGD([p], weight_decay=-1)",
    "SGD([p], nesterov=True)",
    "SGD([p], lr=None)",
    "SGD([p, {'params': p}])",
    "SGD([('a', p), p])",
    "SGD([p], foreach=True, fused=True)",
    "SGD([p]).add_param_group(3)",
    "SGD([p]).add_param_group({'params': p})",
    "SGD([p]).load_state_dict({'state': {}, 'param_groups': []})",
    "SGD([p]).load_state_dict({'state': {}, 'param_groups': [{'params': [0, 1]}]})",
    "Optimizer([p], {}).step()",
    "Adam([p], lr=-1)",
    "Adam([p], eps=-1)",
    "Adam([p], betas=(1, 0))",
    "Adam([p], betas=(0, -1.0))",
    "Adam([p], betas=3)",
    "Adam([p], weight_decay=-1)",
    "LBFGS([{'params': [p]}, {'params': [q]}])",
    "RMSprop([p], alpha=-1)",
    "Adagrad([p], lr_decay=-1)",
    "Adadelta([p], rho=2)",
    "NAdam([p], momentum_decay=-1)",
    "Adamax([p], betas=(2, 0))",
]


@pytest.mark.parametrize("text", WRONG)
def test_wrong_call(reference, text):
    def words(library):
        p, q = (library.nn.Parameter(library.ones(2)) for _ in range(2))
        with pytest.raises(Exception) as caught, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            eval("optim." + text, {"optim": library.optim, "p": p, "q": q})
        return caught.type.__name__, str(caught.value)

    assert words(torch) == words(reference)


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
def test_lbfgs(reference, search):
    def run(library):
        x, y = (library.nn.Parameter(library.tensor([v])) for v in (-1.5, 1.0))
        opt = library.optim.LBFGS([x, y], lr=0.5, max_iter=8, line_search_fn=search)

        def closure():
            opt.zero_grad()
            loss = (1 - x) ** 2 + 3 * (y - x**2) ** 2
            loss.backward()
            return loss

        losses = [opt.step(closure).item() for _ in range(3)]
        return [*losses, x.item(), y.item(), opt.state[x]["func_evals"]]

    np.testing.assert_allclose(run(torch), run(reference), rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("flat", [{"tolerance_grad": -1.0}, {"tolerance_grad": float("inf")}])
def test_lbfgs_without_a_gradient(reference, flat):
    def run(library):
        opt = library.optim.LBFGS([library.ones(2), library.ones(3)], 0.01, **flat)
        return opt.step(lambda: library.tensor([10])).tolist()

    assert run(torch) == run(reference) == [10]


@pytest.mark.parametrize("foreach", [False, True])
def test_adagrad_starts_both_parts_of_a_complex_parameter(reference, foreach):
    def run(library):
        p = library.nn.Parameter(library.tensor([1 + 2j, -0.5j]))
        opt = library.optim.Adagrad([p], 0.1, initial_accumulator_value=0.3, foreach=foreach)
        for _ in range(3):
            opt.zero_grad()
            library.view_as_real(p).pow(2).sum().backward()
            opt.step()
        return p.detach().numpy().view("float32"), opt.state[p]["sum"].numpy().view("float32")

    for mine, theirs in zip(run(torch), run(reference), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6)


def test_missing_name():
    with pytest.raises(AttributeError, match=r"torch\.optim\.Nonsense is not in rushlight 0\.1"):
        optim.Nonsense


def test_groups_are_printed_apart():
    a, b = (torch.nn.Parameter(torch.ones(1)) for _ in range(2))
    lines = repr(torch.optim.SGD([{"params": [a]}, {"params": [b]}], lr=0.1)).split("\n")
    assert lines[1] == "Parameter Group 0" and lines[-1] == ")"
    at = lines.index("Parameter Group 1")
    assert lines[at - 1] == "" and lines[at - 2].strip() == lines[-2].strip()


def hooks_of_every_optimizer(torch):
    """What the hooks of all optimizers, and of one, are given: how many arguments, which first."""
    from importlib import import_module

    module, seen = import_module(torch.optim.SGD.__module__.rsplit(".", 1)[0] + ".optimizer"), []
    p = torch.nn.Parameter(torch.ones(1))
    old = torch.optim.SGD([p], lr=0.1)
    handles = [
        module.register_optimizer_step_pre_hook(
            lambda o, args, kwargs: seen.append(["every", len(args), args[0] is o])
        ),
        module.register_optimizer_step_post_hook(
            lambda o, args, kwargs: seen.append(["after", len(args), args[0] is o])
        ),
    ]
    new = torch.optim.Adam([p], lr=0.1)
    new.register_step_pre_hook(lambda o, args, kwargs: seen.append(["one", len(args)]))
    new.register_step_pre_hook(lambda o, args, kwargs: (args[:1], {}))
    for optimizer in (old, new, copy.deepcopy(old)):
        optimizer.step()
    for handle in handles:
        handle.remove()
    old.step()
    new.step(lambda: 3)
    return seen


def test_hooks_of_every_optimizer():
    assert hooks_of_every_optimizer(torch) == ask(hooks_of_every_optimizer)
