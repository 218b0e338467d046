"""DatasetFolder and ImageFolder: one folder a class."""

import os

from .._pillow import pillow
from .vision import VisionDataset

IMG_EXTENSIONS = (
    ".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp",
)  # fmt: skip
kMaxLinks = 10_000  # those that lead to one another multiply


def has_file_allowed_extension(filename, extensions):
    """Whether a name ends with one of the extensions, in any case."""
    return filename.lower().endswith(
        extensions if isinstance(extensions, str) else tuple(extensions)
    )


def is_image_file(filename):
    """Whether a name ends as an image's does."""
    return has_file_allowed_extension(filename, IMG_EXTENSIONS)


def find_classes(directory):
    """The folders' names in order, and each one's number.

    Raises:
        FileNotFoundError: there is no folder.
    """
    classes = sorted(entry.name for entry in os.scandir(directory) if entry.is_dir())
    if not classes:
        raise FileNotFoundError(
            f"Couldn't find any class folder in {directory}.\n"
            "Each class needs a folder there, with its images in it."
        )
    return classes, {name: i for i, name in enumerate(classes)}


def _identity(path):
    try:
        found = os.stat(path)
    except OSError:  # os.walk() passes over it
        return path
    return found.st_dev, found.st_ino


def _walk(top):
    """os.walk() through links, but for those that lead back to a folder on the way to them."""
    ways, links = {top: (_identity(top),)}, 0
    for folder, names, files in os.walk(top, followlinks=True):
        way, kept = ways.pop(folder), []
        for name in names:
            path = os.path.join(folder, name)
            here = _identity(path)
            if here in way:
                continue
            links += os.path.islink(path)
            if links > kMaxLinks:
                raise ValueError(f"{top}: there are more than {kMaxLinks} links to folders in it")
            ways[path] = (*way, here)
            kept.append(name)
        names[:] = kept
        yield folder, names, files


def make_dataset(
    directory, class_to_idx=None, extensions=None, is_valid_file=None, allow_empty=False
):
    """List (path, class number) of all files below a folder a class.

    Args:
        directory: the folder of the classes' folders.
        class_to_idx: number by class; found if None.
        extensions: endings of the files to take.
        is_valid_file: tells whether to take a path; instead of `extensions`.
        allow_empty: whether a class may have no file.

    Raises:
        ValueError: both or none of `extensions` and `is_valid_file`.
        FileNotFoundError: a class without files.
    """
    directory = os.path.expanduser(directory)
    if class_to_idx is None:
        _, class_to_idx = find_classes(directory)
    elif not class_to_idx:
        raise ValueError("'class_to_index' must have at least one entry to collect any samples.")
    if (extensions is None) == (is_valid_file is None):
        raise ValueError(
            "Both extensions and is_valid_file cannot be None or not None at the same time"
        )
    if is_valid_file is None:

        def is_valid_file(path):
            return has_file_allowed_extension(path, extensions)

    samples, empty = [], []
    for name in sorted(class_to_idx):
        count = len(samples)
        for folder, _, files in sorted(_walk(os.path.join(directory, name))):
            paths = (os.path.join(folder, file) for file in sorted(files))
            samples += [(path, class_to_idx[name]) for path in paths if is_valid_file(path)]
        if len(samples) == count:
            empty.append(name)
    if empty and not allow_empty:
        text = f"Found no valid file for the classes {', '.join(empty)}. "
        if extensions is not None:
            known = extensions if isinstance(extensions, str) else ", ".join(extensions)
            text += f"Supported extensions are: {known}"
        raise FileNotFoundError(text)
    return samples


class DatasetFolder(VisionDataset):
    """Files in one folder a class.

    Args:
        root: the folder of the classes' folders.
        loader: makes a sample of a path.
        extensions: endings of the files to take.
        transform: takes the sample.
        target_transform: takes the class number.
        is_valid_file: tells whether to take a path; instead of `extensions`.
        allow_empty: whether a class may have no file.

    Raises:
        FileNotFoundError: no class, or a class without files.
    """

    def __init__(
        self,
        root,
        loader,
        extensions=None,
        transform=None,
        target_transform=None,
        is_valid_file=None,
        allow_empty=False,
    ):
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.classes, self.class_to_idx = self.find_classes(self.root)
        self.samples = self.make_dataset(
            self.root,
            class_to_idx=self.class_to_idx,
            extensions=extensions,
            is_valid_file=is_valid_file,
            allow_empty=allow_empty,
        )
        self.loader = loader
        self.extensions = extensions
        self.targets = [target for _, target in self.samples]

    @staticmethod
    def make_dataset(
        directory, class_to_idx, extensions=None, is_valid_file=None, allow_empty=False
    ):
        """See the function of this name; a subclass may override it."""
        if class_to_idx is None:
            raise ValueError("The class_to_idx parameter cannot be None.")
        return make_dataset(directory, class_to_idx, extensions, is_valid_file, allow_empty)

    def find_classes(self, directory):
        """See the function of this name; a subclass may override it."""
        return find_classes(directory)

    def __getitem__(self, index):
        path, target = self.samples[index]
        sample = self.loader(path)
        if self.transform is not None:
            sample = self.transform(sample)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return sample, target

    def __len__(self):
        return len(self.samples)


def pil_loader(path):
    """The image at a path, in RGB."""
    image_module = pillow()
    with open(path, "rb") as file:
        try:
            return image_module.open(file).convert("RGB")
        except (OSError, SyntaxError, ValueError) as error:
            error.add_note(f"while reading the image {path}")
            raise


default_loader = pil_loader


class ImageFolder(DatasetFolder):
    """Images in one folder a class: `root/dog/1.png`, `root/cat/2.png`.

    Args:
        root: the folder of the classes' folders.
        transform: takes the PIL image (RGB).
        target_transform: takes the class number.
        loader: makes an image of a path.
        is_valid_file: whether to take a path; else its ending decides.
        allow_empty: whether a class may have no file.

    Raises:
        FileNotFoundError: no class, or a class without images.
    """

    def __init__(
        self,
        root,
        transform=None,
        target_transform=None,
        loader=default_loader,
        is_valid_file=None,
        allow_empty=False,
    ):
        super().__init__(
            root,
            loader,
            IMG_EXTENSIONS if is_valid_file is None else None,
            transform=transform,
            target_transform=target_transform,
            is_valid_file=is_valid_file,
            allow_empty=allow_empty,
        )
        self.imgs = self.samples
