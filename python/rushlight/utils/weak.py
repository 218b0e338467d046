"""Dictionaries with weak keys that are compared by identity, as tensors' == is elementwise."""

from __future__ import annotations

import weakref
from collections.abc import MutableMapping

__all__ = ["TensorWeakRef", "WeakIdKeyDictionary", "WeakIdRef", "WeakTensorKeyDictionary"]


class WeakIdRef(weakref.ref):
    """A weak reference whose hash and equality are its object's identity.

    Args:
        key: the object.
        callback: is called with the reference when the object is gone.
    """

    __slots__ = ["_id"]

    def __init__(self, key, callback=None):
        super().__init__(key, callback)
        self._id = id(key)

    def __call__(self):
        return super().__call__()

    def __hash__(self):
        return self._id

    def __eq__(self, other):
        mine, others = self(), other()
        if mine is not None and others is not None:
            return mine is others
        return self is other


class WeakIdKeyDictionary(MutableMapping):
    """A dictionary that keeps none of its keys alive and compares them by identity.

    Args:
        dict: a mapping whose items it has at first.
        ref_type: the class of references to keys.

    Example:
        >>> notes = torch.utils.weak.WeakIdKeyDictionary()
        >>> x = torch.ones(2)
        >>> notes[x] = "first"
        >>> torch.ones(2) in notes, notes[x]
        (False, 'first')
        >>> del x
        >>> len(notes)
        0
    """

    def __init__(self, dict=None, ref_type=WeakIdRef):
        self.data = {}
        self.ref_type = ref_type
        itself = weakref.ref(self)

        def forget(reference):
            if (owner := itself()) is not None:
                owner.data.pop(reference, None)

        self._forget = forget
        if dict is not None:
            self.update(dict)

    def __getitem__(self, key):
        return self.data[self.ref_type(key)]

    def __setitem__(self, key, value):
        self.data[self.ref_type(key, self._forget)] = value

    def __delitem__(self, key):
        del self.data[self.ref_type(key)]

    def __iter__(self):
        for reference in list(self.data):
            if (key := reference()) is not None:
                yield key

    def __len__(self):
        return len(self.data)

    def __contains__(self, key):
        try:
            return self.ref_type(key) in self.data
        except TypeError:  # of a class without weak references
            return False

    def keyrefs(self):
        """The references to the keys, some of which may be gone."""
        return list(self.data)

    def copy(self):
        """Another dictionary of the same keys and values."""
        return type(self)(self, ref_type=self.ref_type)

    def __deepcopy__(self, memo):
        from copy import deepcopy

        made = type(self)(ref_type=self.ref_type)
        for key, value in self.items():
            made[key] = deepcopy(value, memo)
        return made

    def __repr__(self):
        return f"<{type(self).__name__} at {id(self):#x}>"


WeakTensorKeyDictionary = WeakIdKeyDictionary


class TensorWeakRef:
    """A weak reference to a tensor; calling it gives the tensor, or None once it is gone.

    Args:
        tensor: the tensor.
    """

    def __init__(self, tensor):
        self.ref = weakref.ref(tensor)

    def __call__(self):
        return self.ref()
