# Found first on PYTHONPATH by programs that `rushlight run --children` or the pytest plugin starts:
# takes torch's names, then runs the sitecustomize that it hides, if there is one.
import importlib.machinery
import importlib.util
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))
if "pip" not in sys.orig_argv[1:3] and not sys.orig_argv[0].endswith("/pip"):
    from rushlight._runner.alias import as_torch

    as_torch()
_paths = [path for path in sys.path if os.path.abspath(path or ".") != _here]
_hidden = importlib.machinery.PathFinder.find_spec("sitecustomize", _paths)
if _hidden is not None and _hidden.loader is not None:
    _module = importlib.util.module_from_spec(_hidden)
    _hidden.loader.exec_module(_module)
