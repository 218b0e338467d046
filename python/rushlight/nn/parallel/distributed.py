"""DistributedDataParallel: a replica of a module in each process, whose gradients are averaged."""

from __future__ import annotations

import contextlib

from rushlight import _C
from rushlight.distributed import _world
from rushlight.distributed._model_checks import Watch, check_alike, take_from
from rushlight.distributed._reducer import Reducer, tensors_in
from rushlight.distributed.algorithms.join import Join, Joinable
from rushlight.nn.modules.module import Module
from rushlight.nn.parallel import _distributed_checks as checks
from rushlight.nn.parallel._distributed_join import DDPJoinHook, shares_sync, take_buffers


class DistributedDataParallel(Module, Joinable):
    """Averages the gradients of `module` over the processes of a group while backward runs.

    Every process makes its own, with the same module and a share of each batch of its own. All
    begin with the parameters and buffers of rank 0.

    Args:
        module: what each process trains.
        device_ids: None on the CPU; the one GPU of the module elsewhere, to which inputs are moved.
        output_device: accepted, not used.
        dim: accepted, not used.
        broadcast_buffers: take rank 0's buffers before each forward.
        init_sync: take rank 0's parameters and buffers at the start.
        process_group: the default group where it is None.
        bucket_cap_mb: size of the pieces that gradients are reduced in; None for 25, and 1 for the
            first.
        find_unused_parameters: a forward need not use all parameters.
        check_reduction: accepted, not used.
        gradient_as_bucket_view: `.grad` is the memory that is reduced, which saves a copy.
        static_graph: each forward uses the same parameters, as often; which, the first step tells.
        delay_all_reduce_named_params, param_to_hook_all_reduce: must be None.
        mixed_precision: must be None: torch.autocast around the forward, or a communication hook
            in half precision, serves the same purpose.
        device_mesh: a DeviceMesh of one dimension, instead of process_group.
        skip_all_reduce_unused_params: accepted, not used.
        bucket_cap_mb_list: must be None.
        batched_grad_copy: accepted, not used.
        forward_sync_buffers: broadcast_buffers, by its new name.

    Shape: whatever `module` takes and returns.

    Raises:
        RuntimeError: the module has no parameter that requires a gradient; the ranks have other
            parameters; a parameter got no gradient, or was added, frozen or replaced, at the next
            forward, which names it.
        NotImplementedError: an argument that must be None.

    >>> model = torch.nn.parallel.DistributedDataParallel(net)  # doctest: +SKIP
    """

    def __init__(
        self, module, device_ids=None, output_device=None, dim=0, broadcast_buffers=None,
        init_sync=True, process_group=None, bucket_cap_mb=None, find_unused_parameters=False,
        check_reduction=False, gradient_as_bucket_view=False, static_graph=False,
        delay_all_reduce_named_params=None, param_to_hook_all_reduce=None, mixed_precision=None,
        device_mesh=None, skip_all_reduce_unused_params=False, bucket_cap_mb_list=None,
        batched_grad_copy=False, forward_sync_buffers=None,
    ):  # fmt: skip
        Module.__init__(self)
        Joinable.__init__(self)
        checks.refuse(
            delay_all_reduce_named_params=delay_all_reduce_named_params,
            param_to_hook_all_reduce=param_to_hook_all_reduce,
            mixed_precision=mixed_precision,
            bucket_cap_mb_list=bucket_cap_mb_list,
        )
        group = checks.group_of(process_group, device_mesh)
        ignored = set(getattr(module, "_ddp_params_and_buffers_to_ignore", ()))
        every = [(name, p) for name, p in module.named_parameters() if name not in ignored]
        named = [(name, p) for name, p in every if p.requires_grad]
        checks.check_module(named, every, device_ids, output_device)
        self.module, self.process_group = module, group
        self.device, self.dim = named[0][1].device, dim
        self.device_type = self.device.type
        self.device_ids = [checks.index_of(i) for i in device_ids] if device_ids else None
        self.output_device = output_device
        self.forward_sync_buffers = checks.syncs_buffers(broadcast_buffers, forward_sync_buffers)
        self.find_unused_parameters = find_unused_parameters
        self.static_graph, self.gradient_as_bucket_view = static_graph, gradient_as_bucket_view
        self.require_backward_grad_sync = True
        self.parameters_to_ignore = ignored
        if init_sync:
            check_alike(every, group)
            take_from(0, [*(p for _, p in every), *self._buffers_to_sync()], group)
        self._limit = None if bucket_cap_mb is None else int(bucket_cap_mb * (1 << 20))
        self._make_reducer()

    def _make_reducer(self):
        named = [(n, p) for n, p in self.module.named_parameters() if p.requires_grad]
        self.reducer = Reducer(
            [(n, p) for n, p in named if n not in self.parameters_to_ignore], self.process_group,
            self._limit, self.gradient_as_bucket_view, self.find_unused_parameters,
            self.static_graph,
        )  # fmt: skip
        self._watch = Watch(self.module, self.parameters_to_ignore)

    def __getstate__(self):
        """For copies and files: without the group, which must be the default one."""
        if self.process_group is not _world.GroupMember.WORLD:
            raise RuntimeError(
                "DDP Pickling/Unpickling are only supported when using DDP with the default "
                "process group\ncopy or save model.module instead"
            )
        state = dict(self.__dict__)
        for name in ("process_group", "reducer", "_watch"):
            del state[name]
        return state

    def __setstate__(self, state):
        super().__setstate__(state)
        self.process_group = checks.group_of(None, None)
        self._make_reducer()

    @property
    def broadcast_buffers(self):
        """Whether rank 0's buffers are taken before each forward."""
        return self.forward_sync_buffers

    def _buffers_to_sync(self):
        return [b for n, b in self.module.named_buffers() if n not in self.parameters_to_ignore]

    def forward(self, *inputs, **kwargs):
        joins = self._join_config.enable
        work = Join.notify_join_context(self) if joins else None
        if work is not None:
            work.wait()
            if not self._divides_by_initial_world_size:
                self.reducer.divisor = int(work.result()[0])
        syncs = _C.is_grad_enabled() and self.require_backward_grad_sync
        syncs = syncs and self._watch.check(self.find_unused_parameters)
        if joins:
            shares_sync(self, syncs)
        if syncs:
            self.reducer.check_finished()
            self.reducer.rebuild_once()
            if self.forward_sync_buffers:
                take_buffers(self, True)
        if self.device_ids:
            inputs, kwargs = checks.moved((inputs, kwargs), self.device)
        output = self.module(*inputs, **kwargs)
        if syncs:
            self.reducer.prepare(tensors_in(output))
        elif _C.is_grad_enabled() and not self.require_backward_grad_sync:
            self.reducer.stop()
        return output

    @contextlib.contextmanager
    def no_sync(self):
        """Gradients of forwards within add up here alone; the next one outside sends them all.

        >>> with model.no_sync():  # doctest: +SKIP
        ...     loss(model(x), y).backward()
        """
        before = self.require_backward_grad_sync
        self.require_backward_grad_sync = False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    def register_comm_hook(self, state, hook) -> None:
        """Has `hook(state, bucket)` reduce the gradients, instead of an average over the ranks.

        Args:
            state: what the hook is given each time.
            hook: a function of state and a GradBucket, whose gradients are not divided yet. It
                returns a torch.futures.Future of the tensor that takes the place of
                bucket.buffer().

        >>> from rushlight.distributed.algorithms.ddp_comm_hooks import default_hooks
        >>> model.register_comm_hook(None, default_hooks.fp16_compress_hook)  # doctest: +SKIP
        """
        checks.check_comm_hook(hook)
        if self.reducer.hook is not None:
            raise RuntimeError(
                "register_comm_hook or register_builtin_comm_hook can only be called once."
            )
        self.reducer.hook, self.reducer.state = hook, state

    def _get_ddp_logging_data(self):
        """What Lightning and others read of it, under torch's names."""
        parameters = [p for p in self.module.parameters() if p.requires_grad]
        data = {
            "backend_name": self.process_group.name(),
            "module_name": type(self.module).__name__,
            "dtypes": " ".join(sorted({str(p.dtype).removeprefix("torch.") for p in parameters})),
            "world_size": self.process_group.size(),
            "rank": self.process_group.rank(),
            "num_parameter_tensors": len(parameters),
            "total_parameter_size_bytes": sum(p.numel() * p.element_size() for p in parameters),
            "bucket_cap_bytes": 25 << 20 if self._limit is None else self._limit,
        }
        for name in ("broadcast_buffers", "find_unused_parameters", "gradient_as_bucket_view"):
            data[name] = int(bool(getattr(self, name)))
        return data

    def load_state_dict(self, state_dict, strict=True, assign=False):
        """Module.load_state_dict, whose error says when only the prefix "module." is missing.

        Args:
            state_dict: names, which begin with "module.", to tensors.
            strict: raise for names that do not fit.
            assign: take the tensors, instead of copying from them.
        """
        try:
            return super().load_state_dict(state_dict, strict, assign)
        except RuntimeError as error:
            if any(key.startswith("module.") for key in state_dict):
                raise
            raise RuntimeError(
                f"{error}\nthe keys lack 'module.': load them with "
                "model.module.load_state_dict(state_dict)"
            ) from None

    def join(
        self, divide_by_initial_world_size=True, enable=True, throw_on_early_termination=False
    ):
        """A context in which ranks may have different numbers of batches.

        A rank that has left its loop takes part in the calls of the others, until all have left
        theirs; then all take the parameters and buffers of the last.

        Args:
            divide_by_initial_world_size: False divides by the number of ranks that have batches.
            enable: False does nothing.
            throw_on_early_termination: raise on all ranks when one has left its loop.

        >>> with model.join():  # doctest: +SKIP
        ...     for x, y in batches:
        ...         loss(model(x), y).backward()
        """
        return Join(
            [self], enable, throw_on_early_termination,
            divide_by_initial_world_size=divide_by_initial_world_size,
        )  # fmt: skip

    def join_hook(self, **kwargs):
        """What a rank does that has no more batches; for Join.

        Args:
            kwargs: divide_by_initial_world_size, as of join().
        """
        return DDPJoinHook(self, kwargs.get("divide_by_initial_world_size", True))

    @property
    def join_device(self):
        """The device of the parameters."""
        return self.device

    @property
    def join_process_group(self):
        """The group."""
        return self.process_group
