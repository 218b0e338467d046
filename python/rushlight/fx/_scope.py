"""In which module a call was recorded."""


class Scope:
    """A module, while the calls in its forward are recorded.

    Args:
        module_path: its name in the root module.
        module_type: its class.
    """

    def __init__(self, module_path, module_type):
        self.module_path, self.module_type = module_path, module_type


class ScopeContextManager:
    """Changes a scope for the length of a `with` block.

    Args:
        scope: the scope that changes.
        current_scope: what it becomes.
    """

    def __init__(self, scope, current_scope):
        self._before = Scope(scope.module_path, scope.module_type)
        scope.module_path = current_scope.module_path
        scope.module_type = current_scope.module_type
        self._scope = scope

    def __enter__(self):
        return self._scope

    def __exit__(self, *_):
        self._scope.module_path = self._before.module_path
        self._scope.module_type = self._before.module_type
