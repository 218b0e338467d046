# What importlib.metadata says of the packages torch and torchvision while rushlight has their
# names. No file is installed under those names: other processes, pip among them, do not see these
# packages.
import importlib.metadata
import pathlib


class AliasDistribution(importlib.metadata.Distribution):
    """The metadata of a package whose name rushlight has taken."""

    def __init__(self, root: str, version: str):
        self.texts = {
            "METADATA": f"Metadata-Version: 2.1\nName: {root}\nVersion: {version}\n"
            f"Summary: rushlight, under the name of {root}\n",
            "top_level.txt": f"{root}\n",
        }

    def read_text(self, filename):
        return self.texts.get(filename)

    def locate_file(self, path):
        return pathlib.Path(__file__).parent.parent / path
