"""ModuleTracker: which modules are running, forwards or backwards."""

import weakref

from rushlight import _C
from rushlight.autograd.graph import register_multi_grad_hook
from rushlight.nn.modules.module import (
    register_module_forward_hook,
    register_module_forward_pre_hook,
)
from rushlight.utils._pytree import tree_leaves

__all__ = ["ModuleTracker"]


class ModuleTracker:
    """A context that knows the names of the modules whose forward or backward is running.

    `parents` is the set of their names, such as "Net.layers.0", with "Global" always among them.

    >>> net = torch.nn.Sequential(torch.nn.Linear(2, 2))
    >>> with torch.utils.module_tracker.ModuleTracker() as tracker:
    ...     hook = net[0].register_forward_pre_hook(
    ...         lambda *_: print(sorted(tracker.parents))
    ...     )
    ...     out = net(torch.ones(1, 2))
    ['Global', 'Sequential', 'Sequential.0']
    """

    parents: set[str]

    def __init__(self):
        self.parents = {"Global"}
        self._names: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()
        self._named: weakref.WeakSet = weakref.WeakSet()  # whose children have names, too
        self._hooks: list = []
        self._handles: tuple = ()

    @property
    def is_bw(self):
        """Whether a backward pass is running."""
        return _C._current_graph_task_id() != -1

    def _get_mod_name(self, mod):
        name = self._names.setdefault(mod, type(mod).__name__)
        if mod not in self._named:
            self._named.add(mod)
            for child, module in mod.named_children():
                self._names[module] = f"{name}.{child}"
                self._get_mod_name(module)
        return name

    def _enter(self, name):
        if self.is_bw:
            _C._queue_callback(self._leave_all)
        self.parents.add(name)

    def _leave_all(self):
        self.parents = {"Global"}

    def _when_gradients(self, values, call):
        tensors = [x for x in tree_leaves(values) if isinstance(x, _C.Tensor) and x.requires_grad]
        if tensors:
            self._hooks.append(register_multi_grad_hook(tensors, lambda _: call()))

    def _before(self, module, inputs):
        name = self._get_mod_name(module)
        self._enter(name)
        self._when_gradients(inputs, lambda: self.parents.discard(name))

    def _after(self, module, _, output):
        name = self._get_mod_name(module)
        self.parents.discard(name)
        self._when_gradients(output, lambda: self._enter(name))

    def __enter__(self):
        self._handles = (
            register_module_forward_pre_hook(self._before),
            register_module_forward_hook(self._after),
        )
        return self

    def __exit__(self, *args):
        for handle in (*self._handles, *self._hooks):
            handle.remove()
        self._hooks.clear()
