"""torch.jit.ScriptModule as a base class: its methods run in Python, as all do here."""

import rushlight
from rushlight.nn import Module

__all__ = ["ScriptModule"]


class ScriptModule(Module):
    """A module whose methods TorchScript would compile; here it is a Module that can be saved.

    What torch.jit.script() and trace() return is no ScriptModule, but the module that they got.

    >>> class Net(torch.jit.ScriptModule):
    ...     @torch.jit.script_method
    ...     def forward(self, x):
    ...         return x + 1
    >>> Net()(torch.ones(2))
    tensor([2., 2.])
    """

    def save(self, f, **kwargs):
        """torch.jit.save() of this module.

        Args:
            f: a path or a file.
            kwargs: of torch.jit.save().
        """
        rushlight.jit.save(self, f, **kwargs)
