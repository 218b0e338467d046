"""Writes scikit-learn's handwritten digits in CIFAR-10's published format, for use offline.

    python digits_as_cifar10.py FOLDER             the unpacked files, in FOLDER/cifar-10-batches-py
    python digits_as_cifar10.py FOLDER --archive   FOLDER/cifar-10-python.tar.gz, a mirror's archive

1,797 real images of 8 x 8 grey pixels become 32 x 32 in colour: 1,500 to train with, 297 to test.
"""

import argparse
import io
import os
import pickle
import tarfile

import numpy

FOLDER = "cifar-10-batches-py"
TRAIN_BATCHES = 5
TRAIN_IMAGES = 1500


def as_rows(images):
    """8 x 8 images of 0 to 16 as CIFAR's rows: 32 x 32 red bytes, then green, then blue."""
    large = numpy.kron(images, numpy.ones((1, 4, 4)))
    grey = (large * (255 / 16)).round().astype(numpy.uint8)
    return numpy.repeat(grey.reshape(len(grey), 1, 1024), 3, axis=1).reshape(len(grey), 3072)


def batches(seed=0):
    """File name and contents of each of CIFAR-10's seven files."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    order = numpy.random.default_rng(seed).permutation(len(digits.images))
    rows, labels = as_rows(digits.images[order]), digits.target[order]
    parts = numpy.split(numpy.arange(TRAIN_IMAGES), TRAIN_BATCHES)
    named = [
        (f"data_batch_{i}", part, f"training batch {i} of {TRAIN_BATCHES}")
        for i, part in enumerate(parts, 1)
    ]
    named.append(("test_batch", numpy.arange(TRAIN_IMAGES, len(rows)), "testing batch 1 of 1"))
    for name, part, label in named:
        yield (
            name,
            {
                "batch_label": label,
                "labels": [int(value) for value in labels[part]],
                "data": rows[part],
                "filenames": [f"digit_{index:04d}.png" for index in order[part]],
            },
        )
    names = [f"digit {number}" for number in range(10)]
    yield "batches.meta", {"num_cases_per_batch": 300, "label_names": names, "num_vis": 3072}


def write_folder(root, seed=0):
    """Write the unpacked files below `root`; their folder."""
    folder = os.path.join(root, FOLDER)
    os.makedirs(folder, exist_ok=True)
    for name, contents in batches(seed):
        with open(os.path.join(folder, name), "wb") as file:
            pickle.dump(contents, file, protocol=2)
    return folder


def write_archive(root, seed=0):
    """Write the archive that RUSHLIGHT_DATA_MIRROR=`root` offers; its path."""
    os.makedirs(root, exist_ok=True)
    path = os.path.join(root, "cifar-10-python.tar.gz")
    with tarfile.open(path, "w:gz") as tar:
        for name, contents in batches(seed):
            data = pickle.dumps(contents, protocol=2)
            member = tarfile.TarInfo(f"{FOLDER}/{name}")
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return path


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--archive", action="store_true")
    arguments = parser.parse_args()
    write = write_archive if arguments.archive else write_folder
    print(write(arguments.folder))
