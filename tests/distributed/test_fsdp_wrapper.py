"""FullyShardedDataParallel, the older wrapper: losses of one process, state dictionaries, words."""

import functools

import pytest

import rushlight
import rushlight.distributed as dist
from rushlight.distributed.fsdp import (
    CPUOffload,
    FullStateDictConfig,
    FullyShardedDataParallel,
    MixedPrecision,
    ShardingStrategy,
    StateDictType,
)
from rushlight.distributed.fsdp import wrap as wrapping
from rushlight.distributed.tensor import DTensor
from tests.distributed.worlds import run

pytestmark = pytest.mark.gloo
nn = rushlight.nn


def net():
    rushlight.manual_seed(0)
    return nn.Sequential(
        nn.Linear(3, 8), nn.ReLU(), nn.Sequential(nn.Linear(8, 5), nn.Tanh()), nn.Linear(5, 2)
    )


def train(model, rank, size, clip=None):
    optimizer = rushlight.optim.AdamW(model.parameters(), lr=0.05)
    rushlight.manual_seed(1)
    found = []
    for step in range(3):
        x = rushlight.randn(8, 3)[rank * 8 // size : (rank + 1) * 8 // size]
        if size > 1 and step == 1:
            with model.no_sync():
                model(x * 2).square().mean().backward()
        elif step == 1:
            model(x * 2).square().mean().backward()
        loss = model(x).square().mean()
        loss.backward()
        if size > 1:
            found.append(model.clip_grad_norm_(0.1).item())
        else:
            found.append(nn.utils.clip_grad_norm_(model.parameters(), 0.1).item())
        optimizer.step()
        optimizer.zero_grad()
    return found, optimizer


def strategies(rank, size):
    FSDP, found = FullyShardedDataParallel, {}
    policy = functools.partial(wrapping.size_based_auto_wrap_policy, min_num_params=40)
    for name, options in {
        "full": {"auto_wrap_policy": policy, "use_orig_params": True},
        "grad": {"sharding_strategy": ShardingStrategy.SHARD_GRAD_OP},
        "none": {"sharding_strategy": ShardingStrategy.NO_SHARD, "cpu_offload": CPUOffload(True)},
        "classes": {"auto_wrap_policy": wrapping.ModuleWrapPolicy({nn.Linear})},
    }.items():
        rushlight.manual_seed(rank)
        plain = net() if rank == 0 else nn.Sequential(*net())  # rank 0's values are taken
        if rank:
            with rushlight.no_grad():
                for p in plain.parameters():
                    p.zero_()
        model = FSDP(plain, sync_module_states=True, **options)
        norms, optimizer = train(model, rank, size)
        state = {k: v.tolist() for k, v in model.state_dict().items()}
        wrapped = sum(isinstance(m, FSDP) for m in model.modules())
        own = sum(p.to_local().numel() for p in model.parameters())
        found[name] = norms, state, wrapped, own
    with FSDP.state_dict_type(
        model, StateDictType.FULL_STATE_DICT, FullStateDictConfig(True, rank0_only=True)
    ):
        found["rank 0 only"] = len(model.state_dict())
    with FSDP.state_dict_type(model, StateDictType.SHARDED_STATE_DICT):
        parts = model.state_dict()
        found["parts"] = all(isinstance(v, DTensor) for v in parts.values())
    other = FSDP(net(), auto_wrap_policy=wrapping.always_wrap_policy)
    other.load_state_dict(model.state_dict())
    found["loaded"] = {k: v.tolist() for k, v in other.state_dict().items()} == state
    with FSDP.state_dict_type(other, StateDictType.SHARDED_STATE_DICT):
        found["reloaded"] = str(other.load_state_dict(other.state_dict()))
    fresh = rushlight.optim.AdamW(other.parameters(), lr=0.05)
    named = FSDP.optim_state_dict(model, optimizer)
    fresh.load_state_dict(FSDP.optim_state_dict_to_load(other, fresh, named))
    again = FSDP.optim_state_dict(other, fresh)
    found["optimizer"] = all(
        rushlight.equal(a, named["state"][name][key])
        for name, each in again["state"].items() for key, a in each.items()
    )  # fmt: skip
    with FSDP.summon_full_params(other), rushlight.no_grad():
        found["whole"] = [list(p.shape) for p in other.parameters()]
        for p in other.parameters():
            p.fill_(0.5)
    found["written"] = {x for v in other.state_dict().values() for x in v.flatten().tolist()}
    half = FSDP(net(), mixed_precision=MixedPrecision(rushlight.bfloat16, rushlight.float32))
    found["half"] = str(half(rushlight.ones(1, 3)).dtype).rpartition(".")[2]
    with rushlight.device("meta"):
        empty = nn.Sequential(nn.Linear(3, 4), nn.ReLU())
    rushlight.manual_seed(3)
    made = FSDP(empty, auto_wrap_policy=wrapping.always_wrap_policy)
    found["meta"] = list(made(rushlight.ones(2, 3)).shape)
    with wrapping.enable_wrap(wrapper_cls=FSDP):
        found["wrap"] = type(wrapping.wrap(nn.Linear(2, 2))).__name__
    found["not wrapped"] = type(wrapping.wrap(nn.Linear(2, 2))).__name__
    return found


def test_strategies_and_state_dictionaries():
    plain = net()
    norms, _ = train(plain, 0, 1)
    expected = {k: v.tolist() for k, v in plain.state_dict().items()}
    for rank, found in enumerate(run(strategies, 2)):
        for name in ("full", "grad", "none", "classes"):
            mine, state, wrapped, own = found[name]
            assert mine == pytest.approx(norms, rel=1e-4)
            assert list(state) == list(expected)
            for key, value in state.items():
                assert rushlight.tensor(value).allclose(
                    rushlight.tensor(expected[key]), rtol=1e-4, atol=1e-5
                ), key
            assert wrapped == {"full": 2, "grad": 1, "none": 1, "classes": 4}[name]
            assert (own == 89) == (name == "none")
        assert found["rank 0 only"] == (0 if rank else 6)
        for key in ("parts", "loaded", "optimizer"):
            assert found[key], key
        assert found["reloaded"] == "<All keys matched successfully>"
        assert found["whole"][0] == [8, 3] and found["written"] == {0.5}
        assert found["half"] == "bfloat16" and found["meta"] == [2, 4]
        assert found["wrap"] == "FullyShardedDataParallel" and found["not wrapped"] == "Linear"


def test_words():
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        model = FullyShardedDataParallel(nn.Linear(2, 1))
        assert model.in_features == 2 and "(_fsdp_wrapped_module): Linear(" in repr(model)
        with pytest.raises(AttributeError, match="nothing"):
            _ = model.nothing
        with pytest.raises(NotImplementedError, match="device_mesh=init_device_mesh"):
            FullyShardedDataParallel(
                nn.Linear(2, 1), sharding_strategy=ShardingStrategy.HYBRID_SHARD
            )
        with pytest.raises(NotImplementedError, match="SHARDED_STATE_DICT"):
            FullyShardedDataParallel.set_state_dict_type(model, StateDictType.LOCAL_STATE_DICT)
        with pytest.raises(RuntimeError, match="size mismatch"):
            model.load_state_dict({"weight": rushlight.ones(3, 3), "bias": rushlight.ones(1)})
    finally:
        dist.destroy_process_group()
