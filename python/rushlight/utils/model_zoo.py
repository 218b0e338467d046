"""torch.utils.model_zoo: the old path to torch.hub's files of weights."""

from rushlight.hub import download_url_to_file as _download_url_to_file
from rushlight.hub import load_state_dict_from_url as load_url

__all__ = ["_download_url_to_file", "load_url"]
