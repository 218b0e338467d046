"""The note that an error raised inside a module carries: where in the model it was.

Each level rewrites the note of the level below, so that the path grows outwards:
"in Net.features.0: Conv2d(...)".
"""


def add_path(module, error):
    """Adds or extends the note; called while `error` passes through `module`."""
    if isinstance(error, RecursionError):  # thousands of levels, and little stack to describe one
        return
    try:
        trail = error.__dict__.get("_module_trail")
        if trail is None:
            trail = error._module_trail = {"path": "", "note": None, "what": _describe(module)}
        else:
            name = _name_of(module, trail["id"])
            if name is not None:
                trail["path"] = f".{name}{trail['path']}"
            elif trail["id"] != id(module):
                return
        trail["id"], trail["top"] = id(module), type(module).__name__
        notes = error.__dict__.setdefault("__notes__", [])
        if trail["note"] in notes:
            notes.remove(trail["note"])
        trail["note"] = f"in {trail['top']}{trail['path']}: {trail['what']}"
        notes.append(trail["note"])
    except Exception:  # a note must never replace the error it explains
        return


def _name_of(module, child):
    for name, inner in module.named_modules():
        if id(inner) == child and name:
            return name
    return None


def _describe(module):
    """The innermost module: its line, and its own parameters with dtype, shape and device."""
    line = repr(module).split("\n")[0]
    line = line if line.endswith(")") else line + "...)"
    tensors = [(n, p) for n, p in module._parameters.items() if p is not None]
    shown = [f"{n}: {list(p.shape)} {p.dtype} on {p.device}" for n, p in tensors[:4]]
    return "; ".join([line, *shown])
