"""Contexts that are decorators, too: what libraries derive their own modes from."""

from rushlight._contextlib import decorated

__all__ = ["_DecoratorContextManager", "_NoParamDecoratorContextManager"]


class _DecoratorContextManager:
    """A context manager that also decorates: the function then runs inside a clone() of it."""

    def __call__(self, orig_func):
        return decorated(self, orig_func)

    def __enter__(self):
        raise NotImplementedError(f"{type(self).__name__}.__enter__(): a subclass defines it")

    def __exit__(self, exc_type, exc_value, traceback):
        raise NotImplementedError(f"{type(self).__name__}.__exit__(): a subclass defines it")

    def clone(self):
        """A context like this one; a subclass whose __init__ takes arguments defines its own."""
        return type(self)()


class _NoParamDecoratorContextManager(_DecoratorContextManager):
    """One that takes no arguments, and decorates a function without parentheses."""

    def __new__(cls, orig_func=None):
        return super().__new__(cls) if orig_func is None else cls()(orig_func)
