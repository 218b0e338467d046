"""torch.compiler: what programs call of a compiler. There is none: code runs as it is written."""

from contextlib import ContextDecorator

from rushlight._compile_options import _check

__path__ = []  # of modules in rushlight._importable
__all__ = [
    "disable", "get_default_backend", "is_compiling", "is_dynamo_compiling", "is_exporting",
    "list_backends", "reset", "set_default_backend", "set_stance",
]  # fmt: skip


def is_compiling() -> bool:
    """False: nothing is ever compiled.

    >>> torch.compiler.is_compiling()
    False
    """
    return False


def is_dynamo_compiling() -> bool:
    """False: nothing is ever compiled.

    >>> torch.compiler.is_dynamo_compiling()
    False
    """
    return False


def is_exporting() -> bool:
    """False: nothing is ever exported.

    >>> torch.compiler.is_exporting()
    False
    """
    return False


def disable(fn=None, recursive=True, *, reason=None):
    """Returns the function as it is: there is no compiler to keep away from it.

    Args:
        fn: the function; None for a decorator.
        recursive, reason: are for a compiler.

    >>> torch.compiler.disable(abs)(-1)
    1
    """
    return fn if fn is not None else lambda function: function


def list_backends(exclude_tags=("debug", "experimental")) -> list[str]:
    """[]: nothing compiles, whatever backend torch.compile is given.

    Args:
        exclude_tags: are for a compiler.

    >>> torch.compiler.list_backends()
    []
    """
    return []


def reset() -> None:
    """Has no effect: there are no compiled functions to forget.

    >>> torch.compiler.reset()
    """


def compile(
    model=None, *, fullgraph=False, dynamic=None, backend=None, mode=None, options=None,
    name=None, disable=False, recompile_limit=None, isolate_recompiles=False, shapes_spec=None,
):  # fmt: skip
    """Returns the function itself, or a module that calls the given one: there is no compiler
    here, and results are the same.

    Args:
        model: a function or module, which becomes `_orig_mod` of the result; None for a decorator.
        backend: a name; a function, which would be called with a graph, is refused.
        mode, options: what is optimised; one of them at most.
        disable: returns a module itself too.
        fullgraph, dynamic, name, recompile_limit, isolate_recompiles, shapes_spec: are for a
            compiler.

    Raises:
        NotImplementedError: for a backend that is a function.
        RuntimeError: for a mode that does not exist, or both a mode and options.

    >>> square = torch.compile(lambda x: x * x)
    >>> square(torch.tensor(3.0))
    tensor(9.)
    """
    _check(backend=backend, mode=mode, options=options)
    if model is None:
        return lambda function: compile(function, disable=disable)
    from rushlight._dynamo.eval_frame import OptimizedModule
    from rushlight.nn import Module

    if disable or not isinstance(model, Module) or isinstance(model, OptimizedModule):
        return model
    return OptimizedModule(model)


_backend = "inductor"


def set_default_backend(backend=None) -> None:
    """What get_default_backend() gives; there is no compiler to choose.

    Args:
        backend: a name or a function; None is "inductor".

    >>> torch.compiler.set_default_backend(None)
    """
    global _backend
    _backend = "inductor" if backend is None else backend


def get_default_backend():
    """What set_default_backend() was given.

    >>> torch.compiler.get_default_backend()
    'inductor'
    """
    return _backend


def __getattr__(name):
    from rushlight._importable import find

    return find(__name__, name)


_STANCES = (
    "default eager_then_compile aot_eager_then_compile force_eager eager_on_recompile "
    "fail_on_recompile".split()
)


class set_stance(ContextDecorator):
    """What a compiler should do, as a call, a decorator or in a `with`: there is none, so that it
    is checked and has no effect.

    Args:
        stance: "default" or another of torch's.
        skip_guard_eval_unsafe, force_backend: are for a compiler.

    Raises:
        RuntimeError: if there is no such stance.

    >>> with torch.compiler.set_stance("force_eager"):
    ...     torch.ones(2).sum()
    tensor(2.)
    """

    def __init__(self, stance="default", *, skip_guard_eval_unsafe=False, force_backend=None):
        if stance not in _STANCES:
            raise RuntimeError(f"invalid torch.compile stance '{stance}'\nuse one of {_STANCES}")
        if force_backend is not None and stance != "default":
            raise RuntimeError("non-default stance cannot have force_backend set")

    def __enter__(self):
        return None

    def __exit__(self, *reason):
        return None
