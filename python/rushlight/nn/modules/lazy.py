"""LazyModuleMixin: modules that learn sizes from their first input, then become ordinary ones."""

from rushlight.nn.parameter import is_lazy

__all__ = ["LazyModuleMixin"]


class LazyModuleMixin:
    """What lazy modules share: parameters are made from the first input, then the class becomes
    `cls_to_become`.

    A subclass names this class before the module's, and defines `initialize_parameters(*args)`.
    """

    cls_to_become: type | None = None

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._initialize_hook = self.register_forward_pre_hook(
            self._infer_parameters, with_kwargs=True
        )

    def initialize_parameters(self, *args, **kwargs):
        """Gives the parameters their shapes from the first input."""
        raise NotImplementedError(
            f"initialize_parameters is not implemented for {type(self).__name__}"
        )

    def has_uninitialized_params(self):
        """Whether a parameter or buffer has no shape yet."""
        return any(
            is_lazy(value) for value in [*self._parameters.values(), *self._buffers.values()]
        )

    @staticmethod
    def _infer_parameters(module, args, kwargs=None):
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {module._get_name()} has not been fully initialized")
        module._initialize_hook.remove()
        del module._initialize_hook
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become

    def __setstate__(self, state):
        state = dict(state)
        handle = state.pop("_initialize_hook", None)
        if handle is not None:
            for name in ("_forward_pre_hooks", "_forward_pre_hooks_with_kwargs"):
                state[name] = {k: v for k, v in state[name].items() if k != handle.id}
        super().__setstate__(state)
        if handle is not None:
            self._initialize_hook = self.register_forward_pre_hook(
                self._infer_parameters, with_kwargs=True
            )
