"""DeviceMesh and DTensor between real processes: coordinates, parts and words are torch's."""

from importlib import import_module

import pytest

import rushlight
import rushlight.distributed as dist
from rushlight.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from tests.conftest import ask
from tests.distributed.worlds import library, run

pytestmark = pytest.mark.gloo


def meshes(rank, size):
    torch = library()
    module = import_module(f"{torch.__name__}.distributed.device_mesh")
    init_device_mesh, DeviceMesh = module.init_device_mesh, module.DeviceMesh
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
    line = init_device_mesh("cpu", (size,))
    ranks = torch.distributed.get_process_group_ranks
    dp = mesh["dp"]
    some = DeviceMesh("cpu", [3, 1])
    found = [
        repr(mesh), repr(line), repr(dp), repr(mesh["dp", "tp"]), repr(some),
        mesh.get_coordinate(), mesh.get_rank(), mesh.get_local_rank("tp"), mesh.get_local_rank(0),
        mesh.size(), mesh.size(1), mesh.ndim, list(mesh.shape), mesh.mesh.tolist(),
        str(mesh.mesh.dtype), list(mesh.mesh_dim_names), mesh.device_type,
        dp.mesh.tolist(), dp.get_local_rank(), dp.get_coordinate(), ranks(dp.get_group()),
        ranks(mesh.get_group("tp")), ranks(mesh.get_group(0)), len(mesh.get_all_groups()),
        ranks(line.get_group()), some.get_coordinate(),
        mesh["dp"] == dp, hash(mesh["dp"]) == hash(dp), mesh == line,
        ranks(mesh._flatten("all").get_group()), mesh["all"].mesh.tolist(),
        repr(DeviceMesh.from_group(dp.get_group(), "cpu")), repr(dp["dp"]),
    ]  # fmt: skip
    x = torch.tensor([float(rank)])
    torch.distributed.all_reduce(x, group=mesh.get_group("dp"))
    found.append(x.item())
    for call in (
        lambda: mesh["zz"],
        lambda: mesh["tp", "dp"],
        lambda: dp["tp"],
        lambda: line["dp"],
        lambda: mesh.get_group(),
        lambda: mesh.get_local_rank(),
        lambda: mesh.get_group("zz"),
        lambda: init_device_mesh("cpu", (2, 2), mesh_dim_names=("a", "a")),
        lambda: init_device_mesh("cpu", (2, 2), mesh_dim_names=("a",)),
        lambda: init_device_mesh("cpu", (4, 4)),
        lambda: init_device_mesh("cuda:1", (4,)),
        lambda: DeviceMesh("cpu", [0, 0, 1]),
    ):
        try:
            call()
            found.append("no error")
        except (KeyError, RuntimeError, ValueError) as error:
            found.append([type(error).__name__, str(error)])
    return found


def tensors(rank, size):
    torch = library()
    tensor = import_module(f"{torch.__name__}.distributed.tensor")
    init = import_module(f"{torch.__name__}.distributed.device_mesh").init_device_mesh
    of = import_module(f"{tensor.__name__}._utils").compute_local_shape_and_global_offset
    S, R, P = tensor.Shard, tensor.Replicate, tensor.Partial
    mesh, grid = init("cpu", (size,)), init("cpu", (2, 2))
    x = torch.arange(35.0).view(5, 7) + 100 * rank  # rank 0's is taken
    one = tensor.distribute_tensor(x, mesh, [S(0)])
    two = tensor.distribute_tensor(x, grid, [S(1), S(0)])
    summed = tensor.DTensor.from_local(torch.tensor([1.0, rank]), mesh, [P()])
    found = [
        repr(one.placements), one.to_local().tolist(), one.full_tensor().tolist(),
        two.to_local().tolist(), two.full_tensor().tolist(),
        one.redistribute(mesh, [S(1)]).to_local().tolist(),
        two.redistribute(grid, [R(), S(1)]).to_local().tolist(),
        summed.full_tensor().tolist(), summed.redistribute(mesh, [R()]).to_local().tolist(),
        summed.redistribute(mesh, [S(0)]).to_local().tolist(),
        round(one.norm().full_tensor().item(), 3), one.sum().full_tensor().item(),
        one.mean().full_tensor().item(), (one * 2 + one).to_local().tolist(),
        one.to(torch.float64).full_tensor().sum().item(),
        list(one.shape), one.numel(), list(one.stride()), str(S(1)), str(R()), repr(P("avg")),
        S(0) == S(0), S(0) == S(1), S(0) == R(), S(0).is_shard(), R().is_replicate(),
        tensor.DTensor.from_local(torch.ones(2, 3), mesh, [S(1)]).shape[1],
        of((5, 7), mesh, [S(0)]), of((5, 7), grid, [S(1), S(0)]), of((6,), grid, [S(0), S(0)]),
        [torch.equal(one, each) for each in (
            tensor.distribute_tensor(x, mesh, [S(0)]), one + int(rank == 2),
            tensor.distribute_tensor(x, mesh, [R()]), tensor.distribute_tensor(x[1:], mesh, [S(0)]),
        )],
        of((5, 7), grid, [R(), S(1)]), S.local_shard_size_and_offset(5, size, rank),
    ]  # fmt: skip
    return [str(each).replace("rushlight.", "torch.") for each in found]


def both(rank, size):
    return [meshes(rank, size), tensors(rank, size)]


def test_meshes_and_placements_are_those_of_torch(reference):
    expected = ask(lambda torch: run(both, 4, torch=True))
    for mine, theirs in zip(run(both, 4), expected, strict=True):
        text = [each.replace("rushlight.", "torch.") if isinstance(each, str) else each
                for each in mine[0]]  # fmt: skip
        assert text == [list(t) if isinstance(t, tuple) else t for t in theirs[0]]
        assert mine[1] == list(theirs[1])


def test_one_process_and_no_world():
    with pytest.raises(ValueError, match="environment variable"):
        dist.device_mesh.init_device_mesh("cpu", (1,))
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        with dist.init_device_mesh("cpu", (1, 1), mesh_dim_names=("a", "b")) as mesh:
            assert mesh["b"].get_group().size() == 1 and mesh.get_coordinate() == [0, 0]
        with pytest.raises(NotImplementedError, match="backend_override"):
            dist.init_device_mesh("cpu", (1,), backend_override={0: "gloo"})
        with pytest.raises(ValueError, match="positive"):
            dist.init_device_mesh("cpu", (1.0,))
        assert rushlight.distributed.DeviceMesh is dist.device_mesh.DeviceMesh
    finally:
        dist.destroy_process_group()


def test_refusals_of_placements():
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        mesh = dist.init_device_mesh("cpu", (1,))
        x = distribute_tensor(rushlight.ones(2, 3), mesh, [Shard(-1)])
        assert x.placements == (Shard(1),)
        assert "DTensor(local_tensor=" in repr(x)
        with pytest.raises(RuntimeError, match="Can not redistribute to Partial"):
            x.redistribute(mesh, [Partial()])
        with pytest.raises(NotImplementedError, match=r"forward_dtype .* cast the tensor"):
            x.redistribute(mesh, [Shard(0)], forward_dtype=rushlight.float64)
        with pytest.raises(ValueError, match="same length"):
            x.redistribute(mesh, [Shard(0), Replicate()])
        with pytest.raises(IndexError, match="2 dimensions"):
            distribute_tensor(rushlight.ones(2, 3), mesh, [Shard(2)])
        with pytest.raises(TypeError, match="from_local"):
            DTensor(rushlight.ones(2))
        with pytest.raises(ValueError, match="this rank's part"):
            DTensor.from_local(rushlight.ones(2), mesh, [Shard(0)], shape=(3,))
        with pytest.raises(NotImplementedError, match="alike by redistribute"):
            x + x.redistribute(mesh, [Replicate()])
        with pytest.raises(RuntimeError, match="got mixed"):
            rushlight.equal(x, rushlight.ones(2, 3))
        with pytest.raises(RuntimeError, match="got mixed"):
            rushlight.equal(rushlight.ones(2, 3), x)
        with pytest.raises(NotImplementedError, match="has no such operation"):
            rushlight.allclose(x, x)  # whose answer is no tensor
        with pytest.raises(AttributeError, match="tensor parallelism"):
            _ = dist.tensor.parallelize_module
    finally:
        dist.destroy_process_group()
