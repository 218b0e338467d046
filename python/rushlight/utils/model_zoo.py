"""torch.utils.model_zoo: the old path to torch.hub's files of weights."""

from rushlight.hub import download_url_to_file as _download_url_to_file
from rushlight.hub import load_state_dict_from_url as load_url

__all__ = ["_download_url_to_file", "load_url"]


def __getattr__(name):
    if name == "tqdm":  # of its package, where that is installed
        from rushlight.hub import tqdm

        return tqdm
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
