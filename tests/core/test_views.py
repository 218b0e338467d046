"""Hypothesis: chains of views and broadcast operands against NumPy, written through and with
gradients. RUSHLIGHT_HYPOTHESIS=thorough tries more."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rushlight as torch

sizes = st.lists(st.integers(0, 4), max_size=4)


def dims(rank):
    return st.integers(-rank, rank - 1)


@st.composite
def steps(draw):
    """A start and views of it, each as one function for both libraries: (tensor's, array's)."""
    shape = draw(sizes)
    chain, x = [], np.empty(shape)
    for _ in range(draw(st.integers(1, 5))):
        rank = x.ndim
        names = ["unsqueeze", "reshape", "squeeze"]
        names += ["transpose", "permute", "slice", "select", "flat_expand"] if rank else []
        names += ["diagonal"] if rank > 1 else []
        names = [n for n in names if not (n == "unsqueeze" and rank > 6)]
        step = draw(st.sampled_from(names))
        if step == "unsqueeze":
            d = draw(st.integers(-rank - 1, rank))
            chain.append((lambda t, d=d: t.unsqueeze(d), lambda a, d=d: np.expand_dims(a, d)))
        elif step == "squeeze":
            chain.append((lambda t: t.squeeze(), lambda a: a.squeeze()))
        elif step == "reshape":
            to = draw(st.sampled_from([(x.size,), (1, x.size), x.shape[::-1], (*x.shape, 1)]))
            chain.append((lambda t, to=to: t.reshape(to), lambda a, to=to: a.reshape(to)))
        elif step == "transpose":
            d, e = draw(dims(rank)), draw(dims(rank))
            chain.append(
                (lambda t, d=d, e=e: t.transpose(d, e), lambda a, d=d, e=e: a.swapaxes(d, e))
            )
        elif step == "permute":
            p = draw(st.permutations(range(rank)))
            chain.append((lambda t, p=p: t.permute(*p), lambda a, p=p: a.transpose(p)))
        elif step == "slice":
            d, start = draw(st.integers(0, rank - 1)), draw(st.integers(-5, 5))
            cut = (slice(None),) * d + (slice(start, None, draw(st.integers(1, 3))),)
            chain.append((lambda t, cut=cut: t[cut], lambda a, cut=cut: a[cut]))
        elif step == "select":
            full = [d for d in range(rank) if x.shape[d]]
            if not full:
                continue
            d = draw(st.sampled_from(full))
            i = draw(st.integers(-x.shape[d], x.shape[d] - 1))
            cut = (slice(None),) * d + (i,)
            chain.append((lambda t, d=d, i=i: t.select(d, i), lambda a, cut=cut: a[cut]))
        elif step == "diagonal":
            offset = draw(st.integers(-3, 3))
            chain.append(
                (lambda t, o=offset: t.diagonal(o), lambda a, o=offset: a.diagonal(o, 0, 1))
            )
        else:
            to = tuple(3 if n == 1 else n for n in x.shape)
            chain.append((lambda t, to=to: t.expand(to), lambda a, to=to: np.broadcast_to(a, to)))
        x = chain[-1][1](x)
    return shape, chain


@given(steps())
def test_chains_of_views(case):
    shape, chain = case
    array = np.arange(float(np.prod(shape))).reshape(shape)
    tensor = torch.arange(float(array.size)).double().view(shape).requires_grad_()
    shown, view = array, tensor
    for of_tensor, of_array in chain:
        view, shown = of_tensor(view), of_array(shown)
        assert tuple(view.shape) == shown.shape
        np.testing.assert_array_equal(view.detach().numpy(), shown)
    # The gradient of a sum of the view: how often it shows each element, times the weights.
    weights = np.arange(1.0, shown.size + 1).reshape(shown.shape)
    (view * torch.from_numpy(weights)).sum().backward()
    places = np.arange(array.size).reshape(shape)
    for _, of_array in chain:
        places = of_array(places)
    wanted = np.zeros(array.size)
    np.add.at(wanted, places.reshape(-1), weights.reshape(-1))
    found = np.zeros(shape) if tensor.grad is None else tensor.grad.numpy()
    np.testing.assert_array_equal(found, wanted.reshape(shape))


@given(steps())
def test_writes_through_views(case):
    shape, chain = case
    base = torch.zeros(shape, dtype=torch.int64)
    places = np.arange(base.numel()).reshape(shape)
    view = base
    for of_tensor, of_array in chain:
        view, places = of_tensor(view), of_array(places)
    shares = view.numel() > 0 and view.untyped_storage().data_ptr() == (
        base.untyped_storage().data_ptr()
    )
    overlaps = np.unique(places).size != places.size
    try:
        view += 7
    except RuntimeError as error:
        assert overlaps and "more than one element of the written-to tensor" in str(error)
        return
    wanted = np.zeros(base.numel(), dtype=np.int64)
    if shares:
        wanted[places.reshape(-1)] = 7
    assert base.flatten().tolist() == wanted.tolist()
    assert view.flatten().tolist() == [7] * view.numel()


@st.composite
def operands(draw):
    """Two or three arrays whose sizes broadcast most of the time, in some layout."""
    full = draw(st.lists(st.integers(0, 3), max_size=4))
    made = []
    for i in range(3):
        shape = [draw(st.sampled_from([n, n, 1])) for n in full[draw(st.integers(0, len(full))) :]]
        if shape and draw(st.integers(0, 9)) == 0:
            shape[draw(st.integers(0, len(shape) - 1))] = 5
        order = draw(st.permutations(range(len(shape))))
        values = np.arange(float(np.prod(shape))) * (i + 1) - 3
        back = np.argsort(order).astype(int)
        made.append(values.reshape([shape[d] for d in order]).transpose(*back))
    return made


OPS = {
    2: [
        (lambda t, a, b: a + b, lambda a, b: a + b),
        (lambda t, a, b: t.maximum(a, b), np.maximum),
        (lambda t, a, b: a < b, lambda a, b: a < b),
    ],
    3: [
        (lambda t, a, b, c: t.where(a > 0, b, c), lambda a, b, c: np.where(a > 0, b, c)),
        (lambda t, a, b, c: t.addcmul(a, b, c), lambda a, b, c: a + b * c),
    ],
}


@given(operands(), st.sampled_from([(n, i) for n in OPS for i in range(len(OPS[n]))]))
def test_broadcasting(arrays, which):
    count, i = which
    of_tensors, of_arrays = OPS[count][i]
    arrays = arrays[:count]
    tensors = [torch.from_numpy(a) for a in arrays]
    try:
        wanted = of_arrays(*arrays)
    except ValueError:
        try:
            found = of_tensors(torch, *tensors)
        except RuntimeError as error:
            assert "must match" in str(error)
            return
        raise AssertionError(f"{[a.shape for a in arrays]} gave {found.shape}") from None
    found = of_tensors(torch, *tensors)
    np.testing.assert_array_equal(found.numpy(), wanted)


@given(operands())
def test_gradients_of_broadcast_operands(arrays):
    a, b, _ = arrays
    tensors = [torch.from_numpy(x).clone().requires_grad_() for x in (a, b)]
    try:
        weights = np.arange(float((a + b).size)).reshape((a + b).shape)
    except ValueError:
        return
    (tensors[0] * tensors[1] * torch.from_numpy(weights)).sum().backward()
    for own, other, tensor in [(a, b, tensors[0]), (b, a, tensors[1])]:
        slope = np.broadcast_to(other, weights.shape) * weights
        lead = slope.ndim - own.ndim
        slope = slope.sum(tuple(range(lead)))
        kept = tuple(d for d in range(own.ndim) if own.shape[d] == 1)
        np.testing.assert_allclose(tensor.grad.numpy(), slope.sum(kept, keepdims=True), rtol=1e-12)


def test_transposed_scalars_are_themselves():
    x = torch.tensor(3.0, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # said once in a process
        for name in ("T", "mT", "H", "mH"):
            assert getattr(x, name).item() == 3
        assert x.mT is x and x.mH is x and x.H is x
    for name in ("mT", "mH", "H"):
        with pytest.raises(RuntimeError, match=rf"tensor\.{name} is only supported on .* Got 1-D"):
            getattr(torch.ones(2), name)
    with pytest.raises(RuntimeError, match=r"consider using tensor\.mH"):
        torch.ones(1, 2, 3).H
