"""check_sparse_tensor_invariants: torch's switch for checks, which are always made here."""

import functools


class check_sparse_tensor_invariants:
    """Switches checks of sparse tensors on or off, as a context or decorator.

    Here the parts of a sparse tensor are always checked; the switch is only remembered.

    Args:
        enable: the switch inside.

    >>> with torch.sparse.check_sparse_tensor_invariants():
    ...     torch.sparse.check_sparse_tensor_invariants.is_enabled()
    True
    """

    _enabled = False

    def __init__(self, enable=True):
        self._state = enable
        self._before = None

    @staticmethod
    def is_enabled():
        """Whether the switch is on."""
        return check_sparse_tensor_invariants._enabled

    @staticmethod
    def enable():
        """Switches on."""
        check_sparse_tensor_invariants._enabled = True

    @staticmethod
    def disable():
        """Switches off."""
        check_sparse_tensor_invariants._enabled = False

    def __enter__(self):
        if self._before is not None:
            raise RuntimeError(
                "This context manager instance is already activated. Use a different context "
                "manager instance for context nesting."
            )
        self._before = self.is_enabled()
        check_sparse_tensor_invariants._enabled = bool(self._state)

    def __exit__(self, kind, value, traceback):
        check_sparse_tensor_invariants._enabled, self._before = self._before, None

    def __call__(self, function):
        """A function that runs with the switch set.

        Args:
            function: any function.
        """

        @functools.wraps(function)
        def inside(*args, **kwargs):
            with type(self)(self._state):
                return function(*args, **kwargs)

        return inside
