"""The only import of Pillow, so that its absence has one error text."""

import sys


def pillow(*modules):
    """PIL.Image, or the named modules of PIL as a tuple.

    Raises:
        ModuleNotFoundError: Pillow is not installed.
    """
    import importlib

    try:
        found = tuple(importlib.import_module(f"PIL.{name}") for name in modules or ("Image",))
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "PIL":
            raise
        raise ModuleNotFoundError(
            "No module named 'PIL'\nImages need Pillow: pip install 'rushlight[vision]'",
            name="PIL",
        ) from None
    return found if modules else found[0]


def is_pil_image(image):
    """Whether `image` is a PIL image; answered without importing Pillow."""
    module = sys.modules.get("PIL.Image")
    return module is not None and isinstance(image, module.Image)
