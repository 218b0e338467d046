# Found first on PYTHONPATH by programs that `rushlight run --children` starts: takes torch's names
# in those of the same environment, then runs the sitecustomize that it hides, if there is one.
import importlib.machinery
import importlib.util
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))
_is_pip = "pip" in sys.orig_argv[1:3] or sys.orig_argv[0].endswith("/pip")
if os.environ.get("RUSHLIGHT_CHILDREN_OF") == sys.prefix and not _is_pip:
    from rushlight._runner.alias import as_torch

    as_torch()
_paths = [path for path in sys.path if os.path.abspath(path or ".") != _here]
_hidden = importlib.machinery.PathFinder.find_spec("sitecustomize", _paths)
if _hidden is not None and _hidden.loader is not None:
    _module = importlib.util.module_from_spec(_hidden)
    _hidden.loader.exec_module(_module)
