# %load_ext rushlight: torch's names in a notebook, and nvidia-smi for its virtual GPUs.
# RUSHLIGHT_ARGV is how `rushlight run FILE.ipynb` passes its arguments to the kernel it starts.
import os
import sys


def load_ipython_extension(shell) -> None:
    """What `%load_ext rushlight` calls: as_torch(), and the arguments of `rushlight run`.

    Args:
        shell: the IPython shell, or None.

    >>> torch.load_ipython_extension(None)
    >>> import sys
    >>> "torch" in sys.modules
    True
    """
    from .alias import as_torch

    as_torch()
    arguments = os.environ.pop("RUSHLIGHT_ARGV", None)
    if arguments is not None:
        import json

        sys.argv[:] = json.loads(arguments)


def unload_ipython_extension(shell) -> None:
    """Torch's names stay: modules that were imported under them are in use.

    Args:
        shell: the IPython shell, or None.

    >>> torch.unload_ipython_extension(None)
    """
