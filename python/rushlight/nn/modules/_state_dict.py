"""state_dict and load_state_dict.

Loading checks every entry of every module before it copies the first one: a wrong file leaves the
model as it was. (A subclass with its own _load_from_state_dict, or a post hook, copies at once.)
"""

import warnings
from collections import OrderedDict, namedtuple

import rushlight.__future__ as future
from rushlight import _C
from rushlight._grad_mode import no_grad
from rushlight.nn.parameter import Parameter, is_lazy

EXTRA_STATE = "_extra_state"


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    __slots__ = ()

    def __repr__(self):
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


_IncompatibleKeys.__name__ = _IncompatibleKeys.__qualname__ = "_IncompatibleKeys"


class _Problems(list):
    """The error messages of a load, and the copies to make when there are none."""

    def __init__(self):
        super().__init__()
        self.copies = []


class StateDict:
    """The part of Module that saves and restores."""

    def get_extra_state(self):
        """What a subclass saves beside tensors; it defines `set_extra_state` too."""
        raise RuntimeError(
            "Reached a code path in Module.get_extra_state() that should never be called."
        )

    def set_extra_state(self, state):
        """Restores the `state` that `get_extra_state` gave."""
        raise RuntimeError(
            "Reached a code path in Module.set_extra_state() that should never be called."
        )

    def _persistent_tensors(self):
        skip = self._non_persistent_buffers_set
        yield from ((n, t) for n, t in self._parameters.items() if t is not None)
        yield from ((n, t) for n, t in self._buffers.items() if t is not None and n not in skip)

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        for name, tensor in self._persistent_tensors():
            as_it_is = keep_vars or is_lazy(tensor)
            destination[prefix + name] = tensor if as_it_is else tensor.detach()
        if type(self).get_extra_state is not StateDict.get_extra_state:
            destination[prefix + EXTRA_STATE] = self.get_extra_state()

    def state_dict(self, *args, destination=None, prefix="", keep_vars=False):
        """An ordered dictionary from path to tensor: all parameters and persistent buffers.

        The tensors share memory with the module's.

        Args:
            destination: a dictionary to fill.
            prefix: put before every path.
            keep_vars: give the parameters themselves, not detached tensors.

        >>> list(torch.nn.Linear(2, 1).state_dict())
        ['weight', 'bias']
        """
        if args:
            destination = args[0] if destination is None else destination
            prefix = args[1] if len(args) > 1 and prefix == "" else prefix
            keep_vars = args[2] if len(args) > 2 and keep_vars is False else keep_vars
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        d = self.__dict__
        for hook in d.get("_state_dict_pre_hooks", {}).values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(
                    destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars
                )
        for hook in d.get("_state_dict_hooks", {}).values():
            changed = hook(self, destination, prefix, metadata)
            if getattr(hook, "_from_public_api", False):
                if changed is not None:
                    raise RuntimeError("state_dict post-hook must return None")
            elif changed is not None:
                destination = changed
        return destination

    def _load_from_state_dict(
        self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
    ):
        for hook in self.__dict__.get("_load_state_dict_pre_hooks", {}).values():
            hook(
                state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
                error_msgs,
            )  # fmt: skip
        local = dict(self._persistent_tensors())
        for name, tensor in local.items():
            key = prefix + name
            if key in state_dict:
                self._take(name, key, tensor, state_dict[key], local_metadata, error_msgs)
            elif strict:
                missing_keys.append(key)
        extra = prefix + EXTRA_STATE
        if type(self).set_extra_state is not StateDict.set_extra_state:
            if extra in state_dict:
                self.set_extra_state(state_dict[extra])
            elif strict:
                missing_keys.append(extra)
        elif strict and extra in state_dict:
            unexpected_keys.append(extra)
        if strict:
            for key in state_dict:
                if key.startswith(prefix) and key != extra:
                    first, dot, _ = key[len(prefix) :].partition(".")
                    if first not in (self._modules if dot else local):
                        unexpected_keys.append(key)

    _load_from_state_dict.waits = True  # type: ignore[attr-defined]

    def _take(self, name, key, tensor, new, metadata, problems):
        """Checks one entry, and copies it or lets `problems` remember the copy."""
        if not isinstance(new, _C.Tensor):
            problems.append(
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like '
                f"object from checkpoint but received {type(new)}"
            )
            return
        if not is_lazy(tensor):
            if tensor.dim() == 0 and new.dim() == 1 and new.numel() == 1:
                new = new[0]  # files of torch before 0.4 have scalars as one-element vectors
            if new.shape != tensor.shape:
                problems.append(
                    f"size mismatch for {key}: copying a param with shape {new.shape} from "
                    f"checkpoint, the shape in current model is {tensor.shape}."
                )
                return
        elif not is_lazy(new):
            tensor.materialize(new.shape)
        assign = metadata.get("assign_to_params_buffers", False)
        if tensor.is_meta and not assign and not new.is_meta:
            warnings.warn(
                f"for {key}: copying from a non-meta parameter in the checkpoint to a meta "
                "parameter in the current model, which is a no-op. (Did you mean to pass "
                "`assign=True` to assign items in the state dictionary to their corresponding key "
                "in the module instead of copying them in place?)",
                stacklevel=2,
            )

        swaps = future._swap_module_params_on_conversion

        def failed(words):
            problems.append(
                f'While {"swapping" if swaps else "copying"} the parameter named "{key}", whose '
                f"dimensions in the model are {tensor.size()} and whose dimensions in the "
                f"checkpoint are {new.size()}, an exception occurred : {words}."
            )

        if new.is_meta and not tensor.is_meta and not assign:  # before any is copied
            failed(("Cannot copy out of meta tensor; no data!",))
            return

        def copy():
            if swaps:
                _swap(tensor, new, assign)
            elif not assign:
                with no_grad():
                    tensor.copy_(new)
            elif isinstance(tensor, Parameter):
                same = isinstance(new, Parameter)
                if same and new.requires_grad != tensor.requires_grad:
                    new.requires_grad_(tensor.requires_grad)
                setattr(self, name, new if same else Parameter(new, tensor.requires_grad))
            else:
                setattr(self, name, new)

        if isinstance(problems, _Problems) and problems.copies is not None:
            problems.copies.append(copy)
            return
        try:
            copy()
        except Exception as error:
            failed(error.args)

    def load_state_dict(self, state_dict, strict=True, assign=False):
        """Copies the entries of a state dict into the parameters and buffers.

        Args:
            state_dict: paths and tensors.
            strict: refuse missing and unexpected keys.
            assign: take the given tensors themselves instead of copying their values.

        Returns: a named tuple (missing_keys, unexpected_keys).

        Raises: RuntimeError that lists everything that does not fit; nothing is changed then.

        >>> net = torch.nn.Linear(2, 1)
        >>> net.load_state_dict(torch.nn.Linear(2, 1).state_dict())
        <All keys matched successfully>
        """
        if not hasattr(state_dict, "keys") or not hasattr(state_dict, "__getitem__"):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing, unexpected, problems = [], [], _Problems()
        metadata = getattr(state_dict, "_metadata", None)
        state_dict = OrderedDict(state_dict)
        if metadata is not None:
            state_dict._metadata = metadata
        if not all(_waits(m) for m in self.modules()):
            problems.copies = None

        def load(module, entries, prefix):
            local = {} if metadata is None else metadata.get(prefix[:-1], {})
            if assign:
                local["assign_to_params_buffers"] = True
            module._load_from_state_dict(
                entries, prefix, local, True, missing, unexpected, problems
            )
            for name, child in module._modules.items():
                if child is not None:
                    inner = f"{prefix}{name}."
                    load(child, {k: v for k, v in entries.items() if k.startswith(inner)}, inner)
            keys = _IncompatibleKeys(missing, unexpected)
            for hook in module.__dict__.get("_load_state_dict_post_hooks", {}).values():
                if hook(module, keys) is not None:
                    raise AssertionError(
                        "Hooks registered with ``register_load_state_dict_post_hook`` are not "
                        "expected to return new values, if incompatible_keys need to be modified, "
                        "it should be done inplace."
                    )

        load(self, state_dict, "")
        load = None  # else it would keep itself alive, and every tensor, until a collection
        _raise_problems(self, strict, missing, unexpected, problems)
        for copy in problems.copies or ():
            copy()
        return _IncompatibleKeys(missing, unexpected)


def _swap(tensor, new, assign):
    """The tensor stays the object that it is, and becomes what its class makes of the new one."""
    from rushlight.utils import swap_tensors

    with no_grad():
        made = tensor.module_load(new, assign=assign)
        if made is new or made is tensor:
            raise RuntimeError(
                "module_load returned one of self or other, and a swap needs a third tensor\n"
                "detach() what it returns"
            )
        if isinstance(tensor, Parameter):
            if isinstance(made, Parameter):
                made.requires_grad_(tensor.requires_grad)
            else:
                made = Parameter(made, tensor.requires_grad)
        swap_tensors(tensor, made)


def _waits(module):
    ours = getattr(type(module)._load_from_state_dict, "waits", False)
    return ours and not module.__dict__.get("_load_state_dict_post_hooks")


def _raise_problems(module, strict, missing, unexpected, problems):
    lines = list(problems)
    if strict and unexpected:
        lines.insert(0, f"Unexpected key(s) in state_dict: {_quoted(unexpected)}. ")
    if strict and missing:
        lines.insert(0, f"Missing key(s) in state_dict: {_quoted(missing)}. ")
    if lines:
        raise RuntimeError(
            f"Error(s) in loading state_dict for {type(module).__name__}:\n\t" + "\n\t".join(lines)
        )


def _quoted(keys):
    return ", ".join(f'"{key}"' for key in keys)
