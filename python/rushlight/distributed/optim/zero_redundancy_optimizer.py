"""ZeroRedundancyOptimizer: each rank updates a part of the parameters, and sends it to the others.

Parameters are given to the ranks from the largest on, each to the rank that has least.
"""

from __future__ import annotations

import copy

import rushlight
from rushlight import _C
from rushlight.distributed import _world
from rushlight.distributed._collectives import broadcast
from rushlight.distributed._objects import broadcast_object_list
from rushlight.distributed.algorithms.join import Join, Joinable, JoinHook
from rushlight.optim.optimizer import Optimizer

__all__ = ["ZeroRedundancyOptimizer"]


class _Steps(JoinHook):
    """A rank without inputs steps as the others do, for its parameters are its alone."""

    def __init__(self, optimizer):
        self.optimizer = optimizer

    def main_hook(self):
        """One step."""
        self.optimizer.step()


class ZeroRedundancyOptimizer(Optimizer, Joinable):
    """Divides the state of an optimizer among the ranks (Rajbhandari and others, 2020).

    Every rank has all parameters and gradients, as in DistributedDataParallel; it updates its part
    of the parameters, and sends them to the others.

    Args:
        params: parameters, or groups of them, the same on all ranks.
        optimizer_class: what updates them, as torch.optim.Adam.
        process_group: the default group where it is None.
        parameters_as_bucket_view: parameters become views of the memory that is sent, which saves
            a copy.
        overlap_with_ddp: must be False.
        defaults: the arguments of optimizer_class.

    >>> optimizer = ZeroRedundancyOptimizer(
    ...     model.parameters(), torch.optim.Adam, lr=0.01)  # doctest: +SKIP
    """

    def __init__(
        self, params, optimizer_class, process_group=None, parameters_as_bucket_view=False,
        overlap_with_ddp=False, **defaults,
    ):  # fmt: skip
        if overlap_with_ddp:
            raise NotImplementedError(
                "ZeroRedundancyOptimizer(overlap_with_ddp=True) is not in rushlight\n"
                "call optimizer.step() after backward()"
            )
        if not (isinstance(optimizer_class, type) and issubclass(optimizer_class, Optimizer)):
            raise TypeError(f"optimizer_class must be an Optimizer, not {optimizer_class!r}")
        self._group = _world._group_of(process_group)
        if self._group is None:
            raise ValueError("Invalid process group specified: this process is not in it")
        self.process_group, self.rank = self._group, self._group.rank()
        self.world_size = self._group.size()
        self.parameters_as_bucket_view = parameters_as_bucket_view
        self._class, self._settings = optimizer_class, defaults
        self._loads = [0] * self.world_size  # elements that each rank has
        self._owners, self._gathered, self._buffers = {}, None, {}
        self._ready = False
        params = list(params) if not isinstance(params, _C.Tensor) else params
        if isinstance(params, _C.Tensor):
            raise TypeError(
                "params argument should be an iterable of Tensors, but got a single Tensor"
            )
        Joinable.__init__(self)
        Optimizer.__init__(self, params, defaults)
        self.optim = optimizer_class(self._own_groups(), **defaults)
        for whole, own in zip(self.param_groups, self.optim.param_groups, strict=True):
            for key, value in own.items():  # the defaults of the class itself
                whole.setdefault(key, value)
        self._ready = True
        self._make_buffers()

    def _divide(self, group):
        ordered = sorted(group["params"], key=lambda p: p.numel(), reverse=True)
        for each in ordered:
            rank = self._loads.index(min(self._loads))
            self._owners[each] = rank
            self._loads[rank] += each.numel()

    def _own(self, group):
        return {**group, "params": [p for p in group["params"] if self._owners[p] == self.rank]}

    def _own_groups(self):
        return [self._own(group) for group in self.param_groups]

    def _all(self):
        return [p for group in self.param_groups for p in group["params"]]

    def add_param_group(self, param_group):
        """Adds parameters, which are divided among the ranks.

        Args:
            param_group: a dict with "params", the same on all ranks.
        """
        Optimizer.add_param_group(self, param_group)
        self._divide(self.param_groups[-1])
        if self._ready:
            self.optim.add_param_group(self._own(self.param_groups[-1]))
            for key, value in self.optim.param_groups[-1].items():
                self.param_groups[-1].setdefault(key, value)
            self._make_buffers()

    def _make_buffers(self):
        """The parameters of each rank and kind, one behind the other."""
        kinds = {}
        for each in self._all():
            key = self._owners[each], each.dtype, each.device
            kinds.setdefault(key, []).append(each)
        ordered = sorted(kinds.items(), key=lambda pair: (pair[0][0], str(pair[0])))
        self._buffers = {key: [same, None] for key, same in ordered}
        if not self.parameters_as_bucket_view:
            return
        with rushlight.no_grad():
            for pair in self._buffers.values():
                same = pair[0]
                pair[1] = rushlight.cat([p.detach().reshape(-1) for p in same])
                parts = pair[1].split([p.numel() for p in same])
                for p, part in zip(same, parts, strict=True):
                    p.data = part.view(p.shape)

    def step(self, closure=None, **kwargs):
        """Updates this rank's parameters, and takes the others from their ranks.

        Args:
            closure: computes the loss again, and returns it.
            kwargs: for the step() of the optimizer class.

        Returns: the loss of the closure, or None.
        """
        Join.notify_join_context(self)
        _copy_settings(self.param_groups, self.optim.param_groups)
        loss = self.optim.step(closure, **kwargs) if closure else self.optim.step(**kwargs)
        _copy_settings(self.optim.param_groups, self.param_groups)
        if self.world_size > 1:
            self._exchange()
        return loss

    def _exchange(self):
        started = []
        for (rank, *_), (same, buffer) in self._buffers.items():
            joined = buffer
            if joined is None:
                joined = rushlight.cat([p.detach().reshape(-1) for p in same])
            work = broadcast(joined, group=self._group, group_src=rank, async_op=True)
            started.append((rank, same, buffer, joined, work))
        with rushlight.no_grad():
            for rank, same, buffer, joined, work in started:
                work.wait()
                if buffer is not None or rank == self.rank:
                    continue
                parts = joined.split([p.numel() for p in same])
                for p, part in zip(same, parts, strict=True):
                    p.copy_(part.view(p.shape))

    def consolidate_state_dict(self, to=0):
        """Gathers the state of all ranks on one, whose state_dict() has it then.

        Args:
            to: the rank.
        """
        _copy_settings(self.param_groups, self.optim.param_groups)
        gathered = []
        for rank in range(self.world_size):
            own = [_on_cpu(self.optim.state_dict())] if rank == self.rank else [None]
            if self.world_size > 1:
                broadcast_object_list(own, group=self._group, group_src=rank)
            gathered.append(own[0] if self.rank == to else None)
        self._gathered = gathered if self.rank == to else None

    def state_dict(self):
        """The state of all parameters, as the optimizer class alone would have it.

        Raises:
            RuntimeError: consolidate_state_dict() was not called for this rank.
        """
        if self._gathered is None:
            raise RuntimeError(
                "Optimizer state has not been consolidated on this rank. Please call "
                f"`consolidate_state_dict(to={self.rank})` on all ranks beforehand if you meant to "
                "save the global state."
            )
        whole = Optimizer.state_dict(self)
        index = {id(p): i for i, p in enumerate(self._all())}
        state = {}
        for rank, own in enumerate(self._gathered):
            of_rank = [p for p in self._all() if self._owners[p] == rank]
            for i, p in enumerate(of_rank):
                if i in own["state"]:
                    state[index[id(p)]] = own["state"][i]
        whole["state"] = dict(sorted(state.items()))
        return whole

    def load_state_dict(self, state_dict):
        """Takes a state of all parameters; each rank keeps its part.

        Args:
            state_dict: what state_dict() returned.
        """
        groups = state_dict["param_groups"]
        lengths = [len(group["params"]) for group in self.param_groups]
        if [len(group["params"]) for group in groups] != lengths:
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of "
                "optimizer's group"
            )
        numbers = [i for group in groups for i in group["params"]]
        own, state = {}, state_dict["state"]
        mine = [(i, p) for i, p in zip(numbers, self._all(), strict=True)
                if self._owners[p] == self.rank]  # fmt: skip
        for at, (i, _) in enumerate(mine):
            if i in state:
                own[at] = copy.copy(state[i])
        loaded = self.optim.state_dict()
        for into, group in zip(loaded["param_groups"], groups, strict=True):
            into.update({key: value for key, value in group.items() if key != "params"})
        loaded["state"] = own
        self.optim.load_state_dict(loaded)
        _copy_settings(self.optim.param_groups, self.param_groups)
        self._gathered = None

    def join_hook(self, **kwargs):
        """What a rank does that has no more inputs; for Join.

        Args:
            kwargs: not used.
        """
        return _Steps(self)

    @property
    def join_device(self):
        """The device of the first parameter."""
        return self._all()[0].device

    @property
    def join_process_group(self):
        """The group."""
        return self._group


def _copy_settings(source, target):
    """Learning rates and what else may change between steps."""
    for given, taken in zip(source, target, strict=True):
        for key, value in given.items():
            if key != "params":
                taken[key] = value


def _on_cpu(state_dict):
    state = {
        i: {key: v.cpu() if isinstance(v, _C.Tensor) else v for key, v in values.items()}
        for i, values in state_dict["state"].items()
    }
    return {**state_dict, "state": state}
