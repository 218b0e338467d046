"""Copies of a module on several devices.

The values on the other devices are kept from call to call and copied again when the original's
version has moved or the copy was written to. Each call makes new module objects, whose parameters
are results of one Broadcast node, so that gradients of all replicas add up in the original.
"""

import weakref

from rushlight import _C
from rushlight.nn.modules._registry import KINDS, Registry
from rushlight.nn.parallel.scatter_gather import indices

_kept: "weakref.WeakKeyDictionary" = weakref.WeakKeyDictionary()  # module: {(id, device): Copy}


class _Copy:
    """A tensor's values on another device, and what they were copied from."""

    __slots__ = ("original", "state", "values", "version")

    def __init__(self, tensor, state, values):
        self.original = weakref.ref(tensor)
        self.state = state
        self.values = values
        self.version = values._version

    def is_good_for(self, tensor) -> bool:
        return (
            self.original() is tensor
            and self.state == _state(tensor)
            and self.version == self.values._version
            and _C._is_alive(self.values)
        )


def _state(tensor):
    return tensor._version, tensor.data_ptr(), tensor.shape, tensor.dtype, tensor.device


def _refresh(tensors, devices, kept):
    """Copies anew, on all devices at once, what has changed since it was last copied."""

    def is_good(tensor, device):
        copy = kept.get((id(tensor), device))
        return copy is not None and copy.is_good_for(tensor)

    stale = [
        t
        for t in tensors
        if not all(t.device == device or is_good(t, device) for device in devices)
    ]
    states = [_state(t) for t in stale]
    copies = iter(_C._copy_together([t.detach() for t in stale], devices))
    for device in devices:
        for tensor, state in zip(stale, states, strict=True):
            values = next(copies)
            if tensor.device != device:
                kept[id(tensor), device] = _Copy(tensor, state, values)


def replicate(network, devices, detach=False):
    """Copies of `network` on `devices`, for one forward and backward pass.

    A replica's parameters and buffers are found as in any module (`next(self.parameters())`).
    Gradients flow to the original's parameters. On the device where the original is, replicas share
    its buffers, so what batch norm counts there stays.

    Args:
        network: a module
        devices: indices, strings or devices
        detach: whether replicas are cut off from the original's gradients

    Shape: parameters and buffers keep their shapes.

    >>> with torch.cuda.virtual(2):
    ...     net = torch.nn.Linear(2, 1).cuda()
    ...     one, two = torch.nn.parallel.replicate(net, [0, 1])
    ...     (two(torch.ones(3, 2, device="cuda:1")).sum()).backward()
    ...     net.weight.grad
    tensor([[3., 3.]], device='cuda:0')
    """
    devices = [_C.device("cuda", index) for index in indices(devices)]
    parameters, buffers = list(network.parameters()), list(network.buffers())
    kept = _kept.setdefault(network, {})
    for key in [k for k, copy in kept.items() if copy.original() is None]:
        del kept[key]

    _refresh(parameters + buffers, devices, kept)
    per_device = []
    for device in devices:
        here = [
            p.detach() if p.device == device else value
            for p, value in zip(parameters, _foreign(parameters, device, kept), strict=True)
        ]
        per_device.append((here, _foreign(buffers, device, kept)))
    if not detach and _C.is_grad_enabled():
        trained = [i for i, p in enumerate(parameters) if p.requires_grad]
        sources = [parameters[i] for i in trained]
        targets = [values[i] for values, _ in per_device for i in trained]
        results = _C._broadcast_from(sources, targets) if sources else []
        for i_device, (values, _) in enumerate(per_device):
            for k, i in enumerate(trained):
                values[i] = results[i_device * len(trained) + k]
    modules = list(network.modules())
    return [_build(modules, parameters, buffers, *values)[0] for values in per_device]


def _foreign(tensors, device, kept):
    """For each tensor: itself where it is on the device already, else its values there."""
    return [t if t.device == device else kept[id(t), device].values for t in tensors]


def _build(modules, parameters, buffers, new_parameters, new_buffers):
    """The modules again, with other tensors."""
    replicas = {id(module): module.__new__(type(module)) for module in modules}
    tensors = {id(t): new for t, new in zip(parameters, new_parameters, strict=True)}
    tensors.update((id(t), new) for t, new in zip(buffers, new_buffers, strict=True))
    for module in modules:
        replica = replicas[id(module)]
        state = module.__dict__.copy()
        replica.__dict__ = state
        owner = weakref.ref(replica)
        for kind in KINDS:
            new = replicas if kind == "_modules" else tensors
            old = module.__dict__[kind].items()
            state[kind] = Registry(owner, {k: None if v is None else new[id(v)] for k, v in old})
        state["_is_replica"] = True
    return [replicas[id(module)] for module in modules]
