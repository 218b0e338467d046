"""Every public function and method, called with sparse arguments: it raises an Exception, or gives
what it gives for the dense tensors; nothing reads memory that is not there.
"""

import warnings

import numpy as np
import pytest

import rushlight as torch
from tests.compare import values_of

# What a sparse tensor answers otherwise by nature, and what draws numbers or ends something.
OTHER = set(
    """
    is_sparse is_sparse_csr layout stride is_contiguous storage_offset is_pinned sparse_dim
    dense_dim to_sparse to_sparse_coo to_sparse_csr to_sparse_csc is_coalesced coalesce indices
    values crow_indices col_indices ccol_indices row_indices empty_like new_empty new resize_as_
    type register_hook register_post_accumulate_grad_hook retain_grad backward share_memory_
    pin_memory data_ptr element_size get_device __dir__ __sizeof__ __repr__ __str__ __format__
    __reduce__ __reduce_ex__ __hash__ __init_subclass__ __subclasshook__ __new__ __class__
    __init__ __getstate__ __setattr__ __delattr__ __getattribute__ requires_grad_ sparse_resize_
    sparse_resize_and_clear_ resize_as_sparse_ sparse_mask spmm dsmm smm hspmm hsmm is_same_size
    typename manual_seed seed set_rng_state get_rng_state initial_seed save load as_torch
    set_default_tensor_type set_default_device set_default_dtype set_printoptions set_num_threads
    set_grad_enabled set_deterministic_debug_mode use_deterministic_algorithms inference_mode
    set_float32_matmul_precision set_warn_always set_flush_denormal set_num_interop_threads
    set_autocast_enabled set_autocast_cpu_enabled set_autocast_gpu_dtype set_autocast_cpu_dtype
    set_autocast_cache_enabled set_autocast_dtype autocast_increment_nesting compile
    autocast_decrement_nesting set_anomaly_enabled load_ipython_extension is_tensor
    unload_ipython_extension bernoulli rand_like randn_like randint_like dropout alpha_dropout
    feature_dropout feature_alpha_dropout multinomial normal poisson rrelu gumbel_softmax
    is_set_to as_subclass is_shared untyped_storage storage fork wait svd_lowrank pca_lowrank
    _coalesced_ _indices _values _nnz log_softmax
""".split()
)


def subjects():
    spaces = {
        "torch": torch, "F": torch.nn.functional, "linalg": torch.linalg,
        "special": torch.special, "fft": torch.fft, "sparse": torch.sparse,
    }  # fmt: skip
    for where, space in spaces.items():
        for name in sorted(n for n in dir(space) if not n.startswith("_")):
            function = getattr(space, name, None)
            if callable(function) and not isinstance(function, type) and name not in OTHER:
                yield f"{where}.{name}", function
    for name in sorted(dir(torch.Tensor)):
        function = getattr(torch.Tensor, name, None)
        if callable(function) and name not in OTHER and not isinstance(function, type):
            yield f"Tensor.{name}", function


CALLS = {k: v for k, v in subjects() if k != "sparse.softmax"}  # of the entries alone


def forms():
    """Arguments of which those with a name are sparse: (a function of s, d, c and v)."""
    return [
        lambda s, d: (s,), lambda s, d: (s, s), lambda s, d: (d, s), lambda s, d: (s, d),
        lambda s, d: (s, 1), lambda s, d: (s, 0.5), lambda s, d: (s, 0, 1), lambda s, d: ([s, s],),
        lambda s, d: (s, s, s), lambda s, d: (d, d, s), lambda s, d: (d, s, d),
        lambda s, d: (s, (0, 1)), lambda s, d: (2, s), lambda s, d: (s, torch.tensor([0, 1])),
        lambda s, d: (s, 0, torch.tensor([0, 1]), s), lambda s, d: (d, d, d, s),
        lambda s, d: ("i", s),
        lambda s, d: (torch.tensor([0, 1]), s), lambda s, d: (s, d > 0, 1.0),
    ]  # fmt: skip


def shown(x, depth=3):
    """Values alone, to compare."""
    if isinstance(x, torch.Tensor):
        x = x.detach()
        return values_of(x.to_dense() if x.layout is not torch.strided else x)
    if isinstance(x, (tuple, list)) and depth:
        return [shown(v, depth - 1) for v in x]
    if isinstance(x, (bool, int, float, complex, str)) or x is None:
        return x
    return type(x).__name__


def same(a, b):
    if isinstance(a, list) or isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.shape == b.shape and np.allclose(
            np.asarray(a, complex), np.asarray(b, complex), 1e-4, 1e-5, equal_nan=True
        )
    return a == b or (a != a and b != b)


def matrix():
    return torch.tensor([[0.25, 0.0, 0.5], [0.0, 0.75, 0.0], [0.5, 0.0, 0.25]])


def made_sparse(layout):
    x = matrix().to_sparse(layout=getattr(torch, layout))
    if layout == "sparse_coo":  # one place twice
        i = torch.cat([x.indices(), torch.tensor([[1], [1]])], 1)
        v = torch.cat([x.values() * torch.tensor([1, 1, 0.5, 1, 1]), torch.tensor([0.375])])
        x = torch.sparse_coo_tensor(i, v, (3, 3))
    return x


def outcome(function, arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = function(*arguments)
            return True, shown(result), [shown(a) for a in arguments if isinstance(a, torch.Tensor)]
        except Exception as error:
            return False, error, None


@pytest.mark.parametrize("layout", ["sparse_coo", "sparse_csr", "sparse_csc"])
@pytest.mark.parametrize("name", CALLS)
def test_raises_or_is_right(name, layout):
    for make in forms():
        ours = outcome(CALLS[name], make(made_sparse(layout), matrix()))
        if not ours[0]:
            assert isinstance(ours[1], Exception)
            continue
        dense = outcome(CALLS[name], make(matrix(), matrix()))
        if isinstance(dense[1], TypeError):
            continue  # such arguments are of no such call
        assert dense[0], (name, layout, ours, dense)
        assert same(ours[1], dense[1]), (name, layout, ours[1], dense[1])
        assert same(ours[2], dense[2]), (name, layout, ours[2], dense[2])


def test_a_refusal_says_what_to_do():
    with pytest.raises(NotImplementedError, match=r"(?s)exp.*torch\.sparse_coo.*to_dense"):
        made_sparse("sparse_coo").exp()
    with pytest.raises(NotImplementedError, match=r"(?s)exp.*torch\.sparse_csr.*to_dense"):
        made_sparse("sparse_csr").exp()
