"""DeviceMesh between real processes: coordinates, groups and words are torch's."""

import pytest

import rushlight
import rushlight.distributed as dist
from tests.conftest import ask
from tests.distributed.worlds import library, run

pytestmark = pytest.mark.skipif(
    not dist.is_gloo_available(), reason="needs Gloo: pip install --no-deps xoscar"
)


def meshes(rank, size):
    torch = library()
    from importlib import import_module

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


def test_meshes_are_those_of_torch(reference):
    expected = ask(lambda torch: run(meshes, 4, torch=True))
    ours = run(meshes, 4)
    for mine, theirs in zip(ours, expected, strict=True):
        text = [each.replace("rushlight.", "torch.") if isinstance(each, str) else each
                for each in mine]  # fmt: skip
        assert text == [list(t) if isinstance(t, tuple) else t for t in theirs]


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
