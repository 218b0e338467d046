# The alias in Python programs that this one starts, such as those of `accelerate launch`: a folder
# with a sitecustomize.py goes first on their PYTHONPATH. Programs of another environment keep their
# own torch, and pip never sees the alias, so that it does not take torch for installed.
import os
import pathlib
import sys

FOLDER = str(pathlib.Path(__file__).parent / "site")
HOME = str(pathlib.Path(__file__).parent.parent.parent)


def carry_to_programs() -> None:
    """Has the Python programs that this process starts from now on begin with the alias."""
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    if FOLDER not in paths:
        paths.insert(0, FOLDER)
    if HOME not in paths:
        paths.append(HOME)  # where rushlight itself is, if not in site-packages
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    os.environ["RUSHLIGHT_CHILDREN_OF"] = sys.prefix
