"""torch.jit.save() and load(): a module's values go to a file, its program stays in the process.

A file can name no program: it holds a token, under which the process that wrote it keeps the module
without values. Elsewhere the values are read by torch.load().
"""

import copy
import os
import types

from rushlight import _C
from rushlight._serialization.devices import refuse_devices

_TOKEN = "rushlight_program"  # the key of a file's token
_programs: dict = {}  # token -> (a function or a module without values, [(name, tensor)])


class Saves:
    """`save` of what torch.jit.script() or trace() returned."""

    def __init__(self, program):
        self.program = program

    def __call__(self, f, **extra_files):
        save(self.program, f, **extra_files)


def with_save(program):
    """The module or function itself, which has save(path) from now on."""
    from rushlight.nn import Module

    is_module = isinstance(program, Module)
    if (is_module or isinstance(program, types.FunctionType)) and not hasattr(program, "save"):
        vars(program)["save"] = Saves(program)
    return program


def _named_tensors(module):
    """(name, tensor) of parameters and buffers, each tensor once."""
    found = {}
    for name, t in (*module.named_parameters(), *module.named_buffers()):
        found.setdefault(id(t), (name, t))
    return list(found.values())


def save(m, f, _extra_files=None):
    """Writes the values of a module, for torch.jit.load() in this process.

    Args:
        m: a module or function, as torch.jit.script() and trace() return it.
        f: a path, or a file open for writing.
        _extra_files: a dict of texts that go to the file too.

    Raises:
        TypeError: for anything else.

    >>> import io
    >>> file = io.BytesIO()
    >>> torch.jit.save(torch.jit.script(torch.nn.Identity()), file)
    """
    from rushlight import save as write
    from rushlight.nn import Module, Parameter

    if isinstance(m, Module):
        named = _named_tensors(m)
        memo, without = {}, []
        for name, t in named:
            empty = _C.empty_like(t, device="meta")
            empty = Parameter(empty, t.requires_grad) if isinstance(t, Parameter) else empty
            memo[id(t)] = empty
            without.append((name, empty))
        program = copy.deepcopy(m, memo)
        values = {name: t.detach() for name, t in named}
    elif isinstance(m, types.FunctionType):
        program, without, values = m, [], {}
    else:
        raise TypeError(
            f"torch.jit.save(): {type(m).__name__} is no module or function\n"
            "torch.save() writes tensors, and lists and dicts of them"
        )
    token = os.urandom(16).hex()
    extra = {str(name): text for name, text in (_extra_files or {}).items()}
    write({_TOKEN: token, "values": values, "extra_files": extra}, f)
    _programs[token] = program, without


def load(f, map_location=None, _extra_files=None, _restore_shapes=False):
    """The module that torch.jit.save() wrote in this process, with the values of the file.

    Args:
        f: a path, or a file open for reading.
        map_location: where the values go, as of torch.load().
        _extra_files: a dict whose values are replaced by those of the file.

    Raises:
        ValueError: if there is no such file.
        RuntimeError: if the file was written by another process, or by torch.save().
        NotImplementedError: for a file of PyTorch's, which holds TorchScript.

    >>> import io
    >>> file = io.BytesIO()
    >>> torch.jit.save(torch.jit.script(torch.nn.Linear(2, 1)), file)
    >>> _ = file.seek(0)
    >>> torch.jit.load(file)
    Linear(in_features=2, out_features=1, bias=True)
    """
    from rushlight import load as read
    from rushlight.nn import Parameter

    is_path = isinstance(f, str | os.PathLike)
    if is_path and not os.path.exists(f):
        raise ValueError(f"The provided filename {f} does not exist")
    if is_path and os.path.isdir(f):
        raise ValueError(f"The provided filename {f} is a directory")
    _refuse_script(f)
    found = read(f, map_location=map_location)
    if not isinstance(found, dict) or _TOKEN not in found:
        raise RuntimeError(
            "torch.jit.load(): the file holds no program, it was written by torch.save()\n"
            "read it with torch.load()"
        )
    if found[_TOKEN] not in _programs:
        raise RuntimeError(
            "torch.jit.load(): the file holds values, and its program is of another process: "
            "models run in Python here\nbuild the model, then "
            'model.load_state_dict(torch.load(f)["values"], strict=False)'
        )
    program, without = _programs[found[_TOKEN]]
    for name in _extra_files or ():
        if name in found["extra_files"]:
            text = found["extra_files"][name]
            _extra_files[name] = text.encode() if isinstance(text, str) else text
    if isinstance(program, types.FunctionType):
        return program
    memo = {}
    for name, empty in without:
        value = found["values"][name]
        if isinstance(empty, Parameter):
            value = Parameter(value, empty.requires_grad)
        memo[id(empty)] = value
    return with_save(copy.deepcopy(program, memo))


def _refuse_script(f):
    """Raises for an archive of TorchScript, which has its code in it."""
    import zipfile

    if isinstance(f, str | os.PathLike):
        with open(f, "rb") as file:
            _refuse_script(file)
        return
    refuse_devices(f)
    start = f.tell()
    try:
        with zipfile.ZipFile(f) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError):
        names = []
    finally:
        f.seek(start)
    if any("/code/" in name for name in names):
        from rushlight._importable import text

        raise NotImplementedError(text("jit.load of a program of PyTorch's", "script"))
