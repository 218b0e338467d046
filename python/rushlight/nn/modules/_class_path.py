"""settle: classes of several files under one module path, that of torch and its pickles."""


def settle(module):
    """Gives the classes that a module lists in __all__ the module's own path.

    Args:
        module: the globals() of the module.
    """
    for name in module["__all__"]:
        if isinstance(module[name], type):
            module[name].__module__ = module["__name__"]
