"""What nodes that are made now keep in `meta`: annotations, and where they come from."""

import contextlib
import copy
import threading
import traceback as _standard

__all__ = [
    "annotate",
    "annotate_fn",
    "format_stack",
    "get_current_meta",
    "has_preserved_node_meta",
    "preserve_node_meta",
    "set_current_meta",
    "set_stack_trace",
]


class _State(threading.local):
    meta: dict = {}
    preserve = False

    def __init__(self):
        self.meta = {}


_state = _State()


@contextlib.contextmanager
def preserve_node_meta(enable=True):
    """Has nodes that are made in a `with` block take over the current meta.

    Args:
        enable: False leaves everything as it is.
    """
    if not enable:
        yield
        return
    before, kept = _state.preserve, _state.meta
    _state.preserve, _state.meta = True, copy.copy(kept)
    try:
        yield
    finally:
        _state.preserve, _state.meta = before, kept


def has_preserved_node_meta():
    """Whether new nodes take over the current meta."""
    return _state.preserve


def get_current_meta():
    """The dict that new nodes take over."""
    return _state.meta


@contextlib.contextmanager
def set_current_meta(node, pass_name=""):
    """Has new nodes take over the meta of a node, in a `with` block.

    Args:
        node: the node.
        pass_name: accepted.
    """
    if not (_state.preserve and node.meta):
        yield
        return
    before, _state.meta = _state.meta, node.meta.copy()
    try:
        yield
    finally:
        _state.meta = before


def set_stack_trace(stack):
    """Sets where new nodes say that they come from.

    Args:
        stack: the lines of a stack.
    """
    if _state.preserve and stack:
        _state.meta["stack_trace"] = "".join(stack)


@contextlib.contextmanager
def annotate(annotation_dict):
    """Has nodes that are made in a `with` block carry a dict in `meta["custom"]`.

    Args:
        annotation_dict: the dict.

    >>> with torch.fx.traceback.preserve_node_meta(), torch.fx.traceback.annotate({"stage": 1}):
    ...     traced = torch.fx.symbolic_trace(lambda x: x + 1)
    >>> [node.meta.get("custom") for node in traced.graph.nodes][1]
    {'stage': 1}
    """
    had, before = "custom" in _state.meta, _state.meta.get("custom", {})
    _state.meta["custom"] = {**before, **annotation_dict}
    try:
        yield
    finally:
        if had:
            _state.meta["custom"] = before
        else:
            del _state.meta["custom"]


def annotate_fn(annotation_dict):
    """A decorator that calls its function inside `annotate`.

    Args:
        annotation_dict: the dict.
    """
    from functools import wraps

    def decorate(function):
        @wraps(function)
        def annotated(*args, **kwargs):
            with annotate(annotation_dict):
                return function(*args, **kwargs)

        return annotated

    return decorate


def format_stack():
    """Where the current nodes come from, as a list of texts."""
    if _state.preserve:
        return [_state.meta.get("stack_trace", "")]
    return _standard.format_list(_standard.extract_stack()[:-1])
