"""DataParallel: one module on several GPUs, each with its part of the batch."""

import warnings

from rushlight import _C
from rushlight.nn.modules.module import Module
from rushlight.nn.parallel.parallel_apply import parallel_apply
from rushlight.nn.parallel.replicate import replicate
from rushlight.nn.parallel.scatter_gather import gather, indices, scatter_kwargs


def _warn_of_imbalance(device_ids) -> None:
    from rushlight.cuda import get_device_properties

    properties = [get_device_properties(index) for index in device_ids]
    for figure in ("total_memory", "multi_processor_count"):
        values = [getattr(p, figure) for p in properties]
        low, high = values.index(min(values)), values.index(max(values))
        if values[low] < 0.75 * values[high]:
            warnings.warn(
                "There is an imbalance between your GPUs. You may want to exclude GPU "
                f"{device_ids[low]} which has less than 75% of the memory or cores of GPU "
                f"{device_ids[high]}. You can do so by setting the device_ids argument to "
                "DataParallel, or by setting the CUDA_VISIBLE_DEVICES environment variable.",
                stacklevel=4,
            )
            return


def _check_devices(module, home) -> None:
    if _C._lies_on(module, home):
        return
    for kind, named in (
        ("parameter", module.named_parameters()),
        ("buffer", module.named_buffers()),
    ):
        for name, tensor in named:
            if tensor.device != home:
                raise RuntimeError(
                    "module must have its parameters and buffers on device "
                    f"{home} (device_ids[0]) but found one of them on device: {tensor.device}\n"
                    f"{kind} {name} is on {tensor.device}; move the module with "
                    f".to('{home}'), or choose device_ids that begin with its device"
                )


class DataParallel(Module):
    """Splits each batch over GPUs, runs a copy of `module` on each, and joins the results.

    Without a GPU it calls `module` as it is; with one it moves it there and calls it. Gradients add
    up in `module`, as if one device had seen the whole batch. A batch splits as `chunk` splits: 10
    over 4 GPUs is 3, 3, 3, 1.

    Args:
        module: what to run.
        device_ids: GPUs; all if None. The module must be on the first.
        output_device: where results go; the first if None.
        dim: the dimension of the batch.

    Shape: whatever `module` takes and returns; see `scatter` and `gather` for tuples, dicts,
        keywords and values that are no tensors.

    Raises: RuntimeError, if a parameter or buffer is not on the first device. What a replica raises
        keeps its type, and the message names the replica.

    >>> with torch.cuda.virtual(2):
    ...     net = torch.nn.DataParallel(torch.nn.Linear(5, 2)).cuda()
    ...     y = net(torch.ones(3, 5))
    ...     y.shape, y.device, [name for name, _ in net.named_parameters()]
    (torch.Size([3, 2]), device(type='cuda', index=0), ['module.weight', 'module.bias'])
    """

    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__()
        from rushlight import cuda

        self.module = module
        self.dim = dim
        if not cuda.is_available():
            self.device_ids = []
            return
        self.device_ids = indices(range(cuda.device_count()) if device_ids is None else device_ids)
        if not self.device_ids:
            raise RuntimeError("device_ids is empty: name at least one GPU, or None for all")
        output_device = self.device_ids[0] if output_device is None else output_device
        self.output_device = indices([output_device])[0]
        self.src_device_obj = _C.device("cuda", self.device_ids[0])
        if len(self.device_ids) == 1:
            module.to(self.src_device_obj)
        else:
            _warn_of_imbalance(self.device_ids)

    def forward(self, *inputs, **kwargs):
        if not self.device_ids:
            return self.module(*inputs, **kwargs)
        _check_devices(self.module, self.src_device_obj)
        if len(self.device_ids) == 1 and not kwargs and type(self).scatter is _scatter:
            if _C._are_plainly_on(inputs, self.src_device_obj):  # as a rule: nothing to send
                return self.module(*inputs)
        inputs, kwargs = self.scatter(inputs, kwargs, self.device_ids)
        if len(self.device_ids) == 1:
            return self.module(*inputs[0], **kwargs[0])
        replicas = self.replicate(self.module, self.device_ids[: len(inputs)])
        outputs = self.parallel_apply(replicas, inputs, kwargs)
        return self.gather(outputs, self.output_device)

    def replicate(self, module, device_ids):
        """Copies of `module` on `device_ids`; a subclass may make them otherwise."""
        return replicate(module, device_ids, not _C.is_grad_enabled())

    def scatter(self, inputs, kwargs, device_ids):
        """`inputs` and `kwargs` of each replica on `device_ids`; a subclass may split otherwise."""
        return scatter_kwargs(inputs, kwargs, device_ids, dim=self.dim)

    def parallel_apply(self, replicas, inputs, kwargs):
        """The results of `replicas` for their `inputs` and `kwargs`."""
        return parallel_apply(replicas, inputs, kwargs, self.device_ids[: len(replicas)])

    def gather(self, outputs, output_device):
        """One result on `output_device` from the replicas' `outputs`; a subclass may join
        otherwise.
        """
        return gather(outputs, output_device, dim=self.dim)


_scatter = DataParallel.scatter


def data_parallel(module, inputs, device_ids=None, output_device=None, dim=0, module_kwargs=None):
    """Runs `module` once as `DataParallel` would.

    Args:
        module: what is run, on the first of the devices.
        inputs: a tuple of arguments, or one argument.
        device_ids: GPUs; all if None.
        output_device: where results go; the first if None.
        dim: the dimension of the batch.
        module_kwargs: keyword arguments.

    Shape: whatever `module` takes and returns, cut and joined along dim.

    >>> with torch.cuda.virtual(2):
    ...     net = torch.nn.Linear(5, 2).cuda()
    ...     torch.nn.parallel.data_parallel(net, torch.ones(3, 5, device="cuda")).shape
    torch.Size([3, 2])
    """
    from rushlight import cuda

    inputs = inputs if isinstance(inputs, tuple) else () if inputs is None else (inputs,)
    if not cuda.is_available():
        return module(*inputs, **(module_kwargs or {}))
    device_ids = indices(range(cuda.device_count()) if device_ids is None else device_ids)
    output_device = device_ids[0] if output_device is None else output_device
    _check_devices(module, _C.device("cuda", device_ids[0]))
    parts, keywords = scatter_kwargs(inputs, module_kwargs, device_ids, dim)
    if len(device_ids) == 1:
        return module(*parts[0], **keywords[0])
    devices = device_ids[: len(parts)]
    outputs = parallel_apply(replicate(module, devices), parts, keywords, devices)
    return gather(outputs, output_device, dim)
