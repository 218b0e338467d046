"""settle: classes of several files under the one module path that torch, and its pickles, know."""


def settle(module):
    """Gives the classes that a module lists in __all__ the module's own path.

    Args:
        module: the globals() of the module.
    """
    for name in module["__all__"]:
        module[name].__module__ = module["__name__"]
