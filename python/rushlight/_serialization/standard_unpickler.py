"""The standard unpickler, for `weights_only=False`: it runs whatever code the file contains.

Note: PyTorch's module paths are mapped to ours, so a module saved by PyTorch becomes one of this
package, in a process without PyTorch and in one with it alike.
"""

from rushlight._serialization.names import find
from rushlight._storage_types import STORAGE_TYPES


def make_unpickler(module, file, persistent_load, arguments):
    """An unpickler of the pickle module ``module`` (None: the standard one) over ``file``."""
    if module is None:
        import pickle as module

    class TrustingUnpickler(module.Unpickler):
        def find_class(self, module_name, name):
            if module_name == "torch" and name in STORAGE_TYPES:
                return STORAGE_TYPES[name]
            found = find(module_name, name)
            return super().find_class(module_name, name) if found is None else found

    unpickler = TrustingUnpickler(file, **{"encoding": "utf-8", **arguments})
    if persistent_load is not None:
        unpickler.persistent_load = persistent_load
    return unpickler
