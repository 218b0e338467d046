"""torch.distributed.checkpoint between real processes: other numbers of ranks, torch's files, and
what goes wrong."""

import contextlib
import functools
import os
import pickle
import signal

import pytest

import rushlight
import rushlight.distributed as dist
import rushlight.distributed.checkpoint as dcp
from rushlight.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_model_state_dict,
    get_optimizer_state_dict,
    get_state_dict,
    set_model_state_dict,
    set_optimizer_state_dict,
    set_state_dict,
)
from rushlight.distributed.fsdp import fully_shard
from rushlight.distributed.tensor import DTensor
from tests.distributed.worlds import run

pytestmark = pytest.mark.gloo


def trained(shards=True, steps=2, seed=0, kind="Adam"):
    nn = rushlight.nn
    rushlight.manual_seed(seed)
    model = nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 2), nn.BatchNorm1d(2))
    if shards:
        fully_shard(model[0])
        fully_shard(model)
    rate = {"lr": 0.1, **({"momentum": 0.5} if kind == "SGD" else {})}
    optimizer = getattr(rushlight.optim, kind)(model.parameters(), **rate)
    x = rushlight.arange(12.0).view(4, 3) / 10
    for _ in range(steps):
        optimizer.zero_grad()
        model(x).square().sum().backward()
        optimizer.step()
    return model, optimizer


def numbers(state):
    """The whole values of a state dictionary, as lists."""
    if isinstance(state, dict):
        return {str(k): numbers(v) for k, v in state.items()}
    if isinstance(state, list | tuple):
        return [numbers(v) for v in state]
    if isinstance(state, DTensor):
        state = state.full_tensor()
    return state.tolist() if isinstance(state, rushlight.Tensor) else state


class Progress:
    def __init__(self):
        self.epoch = 0

    def state_dict(self):
        return {"epoch": self.epoch}

    def load_state_dict(self, state):
        self.epoch = state["epoch"]


def write(rank, size, folder, later=False, kind="Adam"):
    model, optimizer = trained(kind=kind)
    progress = Progress()
    progress.epoch = 7
    parts, moments = get_state_dict(model, optimizer)
    state = {"model": parts, "optimizer": moments, "progress": progress, "names": ["a", "b"]}
    if later:
        before = numbers([parts, moments])
        future = dcp.async_save(state, checkpoint_id=folder)
        with rushlight.no_grad():
            for p in model.parameters():
                p.zero_()  # the copy was made before
        dist.barrier()  # calls of the program do not mix with the thread's
        future.result()
        return before
    dcp.save(state, checkpoint_id=folder)
    return numbers([parts, moments])


def read(rank, size, folder, kind="Adam"):
    model, optimizer = trained(steps=0, seed=rank + 5, kind=kind)
    parts, moments = get_state_dict(model, optimizer)
    progress = Progress()
    state = {"model": parts, "optimizer": moments, "progress": progress, "names": None}
    dcp.load(state, checkpoint_id=folder)
    set_state_dict(model, optimizer, model_state_dict=parts, optim_state_dict=moments)
    found = numbers(get_state_dict(model, optimizer))
    return [found, progress.epoch, state["names"]]


def alike(one, other):
    assert pickle.dumps(numbers(one)) == pickle.dumps(numbers(other)) or one == other, (one, other)


def test_saved_on_four_ranks_loaded_on_two_and_one(tmp_path):
    folder = str(tmp_path / "state")
    saved = run(functools.partial(write, folder=folder), 4)[0]
    files = sorted(os.listdir(folder))
    assert files == [".metadata", "__0_0.distcp", "__1_0.distcp", "__2_0.distcp", "__3_0.distcp"]
    for found, epoch, names in run(functools.partial(read, folder=folder), 2):
        alike(found, saved)
        assert epoch == 7 and names == ["a", "b"]
    model, optimizer = trained(shards=False, steps=0)
    parts, moments = get_state_dict(model, optimizer)
    dcp.load({"model": parts, "optimizer": moments}, checkpoint_id=folder)
    set_state_dict(model, optimizer, model_state_dict=parts, optim_state_dict=moments)
    alike(get_state_dict(model, optimizer), saved)
    file = str(tmp_path / "model.pt")
    dcp.format_utils.dcp_to_torch_save(folder, file)
    whole = rushlight.load(file)
    alike(whole["model"], saved[0])
    assert whole["progress"] == {"epoch": 7} and whole["names"] == ["a", "b"]
    dcp.format_utils.torch_save_to_dcp(file, str(tmp_path / "again"))
    again = {"model": {key: rushlight.zeros_like(v) for key, v in whole["model"].items()}}
    dcp.load(again, checkpoint_id=str(tmp_path / "again"))
    alike(again["model"], saved[0])


def more(rank, size, folder):
    saved = write(rank, size, folder, later=True, kind="SGD")
    found = [read(rank, size, folder, kind="SGD")[0] == saved or
             numbers(read(rank, size, folder, kind="SGD")[0]) == numbers(saved)]  # fmt: skip
    model, optimizer = trained()
    whole = StateDictOptions(full_state_dict=True, cpu_offload=True)
    state, moments = get_state_dict(model, optimizer, options=whole)
    found.append([len(state), len(moments)])
    other, fresh = trained(seed=3, steps=0)
    first = StateDictOptions(full_state_dict=True, broadcast_from_rank0=True)
    set_model_state_dict(other, state, options=first)
    set_optimizer_state_dict(other, fresh, moments, options=first)
    same = numbers(get_state_dict(other, fresh)) == numbers(get_state_dict(model, optimizer))
    found.append(same)
    flat = get_optimizer_state_dict(
        model, optimizer, options=StateDictOptions(flatten_optimizer_state_dict=True)
    )
    last, fresh = trained(seed=4, steps=0)
    set_optimizer_state_dict(last, fresh, flat)
    found.append(numbers(get_optimizer_state_dict(last, fresh)["state"])
                 == numbers(get_optimizer_state_dict(model, optimizer)["state"]))  # fmt: skip
    found.append("param_groups.0.weight.lr" in flat)
    try:
        fresh.load_state_dict(trained(shards=False)[1].state_dict())
        last(rushlight.ones(2, 3)).sum().backward()
        fresh.step()
    except RuntimeError as error:
        found.append(str(error))
    return found


def test_async_save_and_whole_states(tmp_path):
    for rank, found in enumerate(run(functools.partial(more, folder=str(tmp_path / "a")))):
        assert found[0] and found[1] == ([9, 2] if rank == 0 else [0, 0])
        assert found[2:5] == [True, True, True]
        assert "set_optimizer_state_dict()" in found[5]


def failing(rank, size, folder):
    state = {"x": rushlight.full((2,), 1.0 * rank), "only": {str(rank): rank}}
    dcp.save(state, checkpoint_id=folder)
    found = [sorted(os.listdir(folder)) if rank == 0 else None]
    dist.barrier()

    class Bad:
        def __reduce__(self):
            raise OSError(28, "No space left on device")

    for call in (
        lambda: dcp.save({"x": rushlight.ones(2), "y": Bad() if rank else 1}, checkpoint_id=folder),
        lambda: dcp.save({"x": rushlight.ones(2 + rank)}, checkpoint_id=folder),
        lambda: dcp.load({"x": rushlight.ones(2), f"z{rank}": 1}, checkpoint_id=folder),
        lambda: dcp.load({"x": rushlight.ones(3 - rank)}, checkpoint_id=folder),
    ):
        try:
            call()
            found.append("no error")
        except (dcp.CheckpointException, ValueError) as error:
            found.append(str(error))
    dist.barrier()
    found.append(sorted(os.listdir(folder)))
    wanted = {"x": rushlight.zeros(2), "only": {"0": None, "1": None}}
    dcp.load(wanted, checkpoint_id=folder)
    found.append(numbers(wanted))
    return found


def test_a_rank_that_fails_is_named_and_the_old_checkpoint_stays(tmp_path):
    ours = run(functools.partial(failing, folder=str(tmp_path / "a")))
    for found in ours:
        assert "ranks:[1]" in found[1] and "No space left on device" in found[1]
        assert "x differs between the ranks" in found[2]
        assert "rank 1: RuntimeError: Missing key in checkpoint state_dict: z1." in found[3]
        assert "ranks:[0]" in found[4] and "Size mismatch between saved" in found[4]
        assert found[5] == ours[0][0]
        assert found[6] == {"x": [0.0, 0.0], "only": {"0": 0, "1": 1}}


def killed(rank, size, folder):
    if rank:
        dcp.save({"x": rushlight.ones(2)}, checkpoint_id=folder)
        dist.barrier()
        writer = dcp.FileSystemWriter(folder)
        writer._write = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
        dcp.save({"x": rushlight.zeros(2), "y": rushlight.ones(1)}, storage_writer=writer)
    else:
        dcp.save({"x": rushlight.ones(2)}, checkpoint_id=folder)
        dist.barrier()
        try:
            dcp.save({"x": rushlight.zeros(2), "y": rushlight.ones(1)}, checkpoint_id=folder)
        except RuntimeError as error:
            return str(error)
    return "no error"


def test_a_killed_rank_leaves_the_old_checkpoint(tmp_path):
    folder = str(tmp_path / "a")
    found = run(functools.partial(killed, folder=folder), expect=1)
    assert "no error" not in found
    state = {"x": rushlight.zeros(2)}
    dcp.load(state, checkpoint_id=folder)
    assert state["x"].tolist() == [1.0, 1.0]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("python", ["this", "3.11.2"])
def test_torch_reads_ours_and_ours_torchs(tmp_path, peer, monkeypatch, python):
    import torch.distributed.checkpoint as theirs

    if python == "3.11.2":  # wrote a member of an enum as getattr(kind, name)
        formats = theirs.metadata._MEM_FORMAT_ENCODING
        form = lambda self, protocol: (getattr, (type(self), self.name))  # noqa: E731
        monkeypatch.setattr(formats, "__reduce_ex__", form)

    folder = str(tmp_path / "a")
    saved = run(functools.partial(write, folder=folder))[0]
    model = peer.nn.Sequential(
        peer.nn.Linear(3, 5), peer.nn.ReLU(), peer.nn.Linear(5, 2), peer.nn.BatchNorm1d(2)
    )
    state = {"model": model.state_dict(), "progress": {"epoch": 0}, "names": []}
    theirs.load(state, checkpoint_id=folder, no_dist=True)
    assert {k: v.tolist() for k, v in state["model"].items()} == saved[0]
    assert state["progress"] == {"epoch": 7} and state["names"] == ["a", "b"]
    other = str(tmp_path / "b")
    lists = {"l": [peer.ones(2), 3], "d": {0: peer.arange(3), "e": None}, "b": peer.tensor(True)}
    theirs.save({"model": state["model"], **lists}, checkpoint_id=other, no_dist=True)
    ours = {"model": trained(shards=False, steps=0)[0].state_dict(), "l": [rushlight.zeros(2), 0],
            "d": {0: rushlight.zeros(3, dtype=rushlight.int64), "e": 1},
            "b": rushlight.tensor(False)}  # fmt: skip
    dcp.load(ours, checkpoint_id=other)
    assert numbers(ours["model"]) == saved[0]
    assert numbers(ours["d"]) == {"0": [0, 1, 2], "e": None} and numbers(ours["l"]) == [[1, 1], 3]
    assert ours["b"].item() is True


def test_files_run_no_code_and_are_checked(tmp_path):
    folder = tmp_path / "a"
    dcp.save({"x": rushlight.arange(6.0).view(2, 3), "n": 3}, checkpoint_id=folder)
    metadata = folder / ".metadata"
    good = metadata.read_bytes()

    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "evil"),)

    def refused(words):
        state = {"x": rushlight.zeros(2, 3), "n": 0}
        with pytest.raises(dcp.CheckpointException, match=words):
            dcp.load(state, checkpoint_id=folder)

    for data in (pickle.dumps(Evil()), good[:-20], b"", b"\x80\x04}.", good[:300] + b"\xff" * 90):
        metadata.write_bytes(data)
        refused("no metadata of a checkpoint")
    metadata.write_bytes(b"cbuiltins\ngetattr\n(ctorch\nSize\nX\x08\0\0\0__init__tR.")
    refused("getattr was to be called of something else than the memory formats")
    for old, new in ((b"__0_0.distcp", b"../../..//ab"), (b"float32", b"float99")):
        metadata.write_bytes(good.replace(old, new))
        refused("no metadata of a checkpoint")
    assert not (tmp_path / "evil").exists()
    for i in range(60, len(good), 7):  # any byte may be wrong
        metadata.write_bytes(good[:i] + bytes([good[i] ^ 0x41]) + good[i + 1 :])
        with contextlib.suppress(dcp.CheckpointException):
            dcp.load({"x": rushlight.zeros(2, 3), "n": 0}, checkpoint_id=folder)
    metadata.write_bytes(good)
    file = folder / "__0_0.distcp"
    data = file.read_bytes()
    file.write_bytes(data[:-50])
    refused("too short")
    file.write_bytes(data[:200] + b"\0" * 30 + data[230:])
    with pytest.raises(dcp.CheckpointException):
        dcp.load({"x": rushlight.zeros(2, 3), "n": 0}, checkpoint_id=folder)
    file.unlink()
    refused("__0_0.distcp")


def test_words(tmp_path):
    folder = str(tmp_path / "a")
    dcp.save({"x": rushlight.ones(2), "e": {}, "l": [], "t": (1, 2)}, checkpoint_id=folder)
    state = {"x": rushlight.zeros(2, dtype=rushlight.float64), "l": None, "t": None}
    dcp.load(state, checkpoint_id=folder)
    assert state["x"].tolist() == [1.0, 1.0] and state["l"] == [] and state["t"] == (1, 2)
    with pytest.raises(RuntimeError, match="`checkpoint_id` must be specified"):
        dcp.save({})
    with pytest.raises(RuntimeError, match="`checkpoint_id` must be specified"):
        dcp.load({})
    with pytest.raises(TypeError, match="must be a dict, not list"):
        dcp.save([1], checkpoint_id=folder)
    with pytest.raises(dcp.CheckpointException, match="overwrite=False"):
        dcp.save({}, storage_writer=dcp.FileSystemWriter(folder, overwrite=False))
    with pytest.raises(dcp.CheckpointException, match="there is no checkpoint"):
        dcp.load({"x": 1}, checkpoint_id=str(tmp_path / "none"))
    with pytest.raises(NotImplementedError, match="planner"):
        dcp.load({}, checkpoint_id=folder, planner=1)
    with pytest.raises(ValueError, match="full_state_dict must be True"):
        get_model_state_dict(
            rushlight.nn.Linear(1, 1), options=StateDictOptions(broadcast_from_rank0=True)
        )
    found = dcp.FileSystemReader(folder).read_metadata()
    assert list(found.state_dict_metadata) == ["x", "e", "l", "t"]
    assert found.state_dict_metadata["x"].size == (2,)
    with pytest.raises(AttributeError, match="HuggingFaceStorageWriter is not in rushlight"):
        _ = dcp.HuggingFaceStorageWriter


def test_former_names(tmp_path):
    state = {"w": rushlight.arange(3.0)}
    with pytest.warns(FutureWarning, match="`save_state_dict` is deprecated"):
        dcp.save_state_dict(state, dcp.FileSystemWriter(tmp_path), no_dist=True)
    read = {"w": rushlight.zeros(3)}
    with pytest.warns(FutureWarning, match="`load_state_dict` is deprecated"):
        assert dcp.load_state_dict(read, dcp.FileSystemReader(tmp_path), no_dist=True) is None
    assert read["w"].tolist() == [0, 1, 2]
