"""torch.cuda.comm and torch.cuda.nccl: sums, copies and parts over several GPUs, and what is said
where a library that something needs is not there.
"""

import pytest

import rushlight as torch
from rushlight.cuda import comm, nccl
from tests.conftest import REAL
from tests.devices.test_provider import run


@pytest.fixture(autouse=True)
def two_gpus():
    if REAL:
        if torch.cuda.device_count() < 2:
            pytest.skip("needs two GPUs")
        yield
    else:
        with torch.cuda.virtual(2):
            yield


def places(tensors):
    return [str(tensor.device) for tensor in tensors]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64])
def test_broadcast(dtype):
    x = torch.arange(6).reshape(2, 3).to(dtype)
    for source in (x, x.to("cuda:0"), x.to("cuda:1"), x.to("cuda:0").t()):
        copies = comm.broadcast(source, ["cuda:0", 1])
        assert isinstance(copies, tuple) and places(copies) == ["cuda:0", "cuda:1"]
        assert all(torch.equal(copy.cpu(), source.cpu()) for copy in copies)
    out = [torch.zeros(2, 3, dtype=dtype, device=i) for i in (1, 0)]
    returned = comm.broadcast(x, out=out)
    assert all(a is b for a, b in zip(returned, out, strict=True))
    assert all(torch.equal(t.cpu(), x) for t in out)
    with pytest.raises(RuntimeError, match="Exactly one of 'devices' and 'out'"):
        comm.broadcast(x)
    with pytest.raises(RuntimeError, match="Exactly one of 'devices' and 'out'"):
        comm.broadcast(x, [0], out=out)


def test_broadcast_coalesced():
    tensors = [torch.ones(3, device=0), torch.arange(4, device=0), torch.zeros((), device=0)]
    for index, copies in enumerate(comm.broadcast_coalesced(tensors, [0, 1])):
        assert places(copies) == [f"cuda:{index}"] * 3
        assert all(torch.equal(c.cpu(), t.cpu()) for c, t in zip(copies, tensors, strict=True))


def test_sums():
    x = [torch.full((2, 2), float(i + 1), device=i) for i in range(2)]
    total = comm.reduce_add(x)
    assert total.device == torch.device("cuda:0") and total.tolist() == [[3, 3], [3, 3]]
    assert comm.reduce_add(x, 1).device.index == 1
    assert comm.reduce_add(x[:1], 0).data_ptr() != x[0].data_ptr()
    sums = comm.reduce_add_coalesced([[a, a[0]] for a in x], "cuda:1")
    assert [s.tolist() for s in sums] == [[[3, 3], [3, 3]], [3, 3]]
    assert places(sums) == ["cuda:1"] * 2
    with pytest.raises(AssertionError, match="input 1 is on CPU"):
        comm.reduce_add([x[0], x[1].cpu()])
    with pytest.raises(ValueError, match="input 1 has invalid size"):
        comm.reduce_add([x[0], x[1][0]])
    with pytest.raises(IndexError):
        comm.reduce_add([])


def test_scatter_and_gather():
    x = torch.arange(10.0).reshape(5, 2)
    for given in ({}, {"chunk_sizes": [1, 4]}, {"streams": [torch.cuda.Stream(0), None]}):
        parts = comm.scatter(x, [0, 1], **given)
        torch.cuda.synchronize(0)
        assert places(parts) == ["cuda:0", "cuda:1"]
        assert len(parts[0]) == (1 if "chunk_sizes" in given else 3)
        assert comm.gather(parts, destination=1).device.index == 1
        assert torch.equal(comm.gather(parts, destination="cpu"), x)
    out = [torch.zeros(5, 1, device=i) for i in range(2)]
    comm.scatter(x, dim=1, out=out)
    assert torch.equal(comm.gather(out, dim=1, destination=-1), x)
    joined = torch.zeros(5, 2, device=1)
    assert comm.gather(out, dim=1, out=joined) is joined and torch.equal(joined.cpu(), x)
    with pytest.raises(RuntimeError, match="same length"):
        comm.scatter(x, [0, 1], [5])
    with pytest.raises(RuntimeError, match="'destination' must not be specified"):
        comm.gather(out, destination=0, out=joined)


def test_collectives_by_nccls_names():
    x = [torch.full((4,), float(i + 1), device=i) for i in range(2)]
    nccl.all_reduce(x)
    assert [t.tolist() for t in x] == [[3.0] * 4] * 2
    x[1].zero_()
    nccl.reduce(x, root=1)
    assert x[1].tolist() == [3.0] * 4
    x[0].zero_()
    nccl.broadcast(x, root=1)
    assert x[0].tolist() == [3.0] * 4
    wide = [torch.zeros(2, 4, device=i) for i in range(2)]
    nccl.all_gather(x, wide)
    assert all(t.tolist() == [[3.0] * 4] * 2 for t in wide)
    narrow = [torch.zeros(2, device=i) for i in range(2)]
    nccl.reduce_scatter(x, narrow)
    assert [t.tolist() for t in narrow] == [[6.0] * 2] * 2
    with pytest.raises(RuntimeError, match="on one GPU together"):
        nccl.all_reduce([x[0], x[0]])
    assert not nccl.is_available([x[0], torch.ones(1)]) and nccl.is_available(x)


def test_preferred_libraries():
    prefer = torch.backends.cuda.preferred_blas_library
    before = prefer()
    try:
        assert str(before) == "_BlasBackend.Cublas" and str(prefer("default")).endswith("Default")
        with pytest.raises(RuntimeError, match="Choose from: default, cublas"):
            prefer("mkl")
        with pytest.raises(RuntimeError, match="AMD"):
            prefer("ck")
        assert str(torch.backends.cuda.preferred_linalg_library("magma")).endswith("Magma")
    finally:
        prefer(before)
        torch.backends.cuda.preferred_linalg_library("default")
    if not REAL:
        assert str(prefer("cublaslt")) == "_BlasBackend.Cublaslt"
        prefer(before)
        assert str(torch.backends.cuda.preferred_linalg_library("cusolver")).endswith("Cusolver")
        torch.backends.cuda.preferred_linalg_library("default")


@pytest.mark.emulated
@pytest.mark.parametrize(
    ("call", "library", "file"),
    [
        ("torch.cuda.nccl.version()", "NCCL", "libnccl.so.2"),
        ("torch.backends.cuda.preferred_blas_library('cublaslt')", "cuBLASLt", "libcublasLt.so.13"),
        (
            "torch.backends.cuda.preferred_linalg_library('cusolver')",
            "cuSOLVER",
            "libcusolver.so.12",
        ),
    ],
)
def test_a_library_that_is_needed_and_absent(call, library, file, tmp_path):
    program = f"""
        import rushlight as torch
        x = torch.ones(2, 2, device="cuda")
        assert (x @ x).sum().item() == 8  # what needs no library still works
        try:
            {call}
        except RuntimeError as error:
            print(error)
    """
    variable = f"RUSHLIGHT_{library.upper()}_LIBRARY"
    absent = run(program, **{variable: ""})
    if absent:  # else this machine has one
        assert call.removeprefix("torch.backends.cuda.") in absent
        assert f"needs {library}" in absent
        for words in (file, "in this process", "cuda-pathfinder", "system's loader", "pip install"):
            assert words in absent, words
    assert f"switched off by {variable}=none" in run(program, **{variable: "none"})
    assert str(tmp_path) in run(program, **{variable: str(tmp_path / "not_there.so")})
