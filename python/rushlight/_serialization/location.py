"""Which device a stored tensor goes to: location tags, the registry of devices, `map_location`.

Note: entries are tried by rising priority until one answers; programs may register their own in
front of ours.
"""

from rushlight import _C
from rushlight.storage import TypedStorage, UntypedStorage


def _cpu_tag(storage):
    return "cpu" if storage.device.type == "cpu" else None


def _cpu_restore(storage, location):
    return storage if location == "cpu" else None


def _cuda_tag(storage):
    device = storage.device
    return f"cuda:{device.index}" if device.type == "cuda" else None


def _cuda_restore(storage, location):
    name, colon, number = location.partition(":")
    if name != "cuda" or (colon and not number.isdecimal()):
        return None
    return storage.to(validate_cuda_device(location))


def _meta_tag(storage):
    return "meta" if storage.device.type == "meta" else None


def _meta_restore(storage, location):
    if location != "meta":
        return None
    return UntypedStorage._around(_C.empty((storage.nbytes(),), dtype=_C.uint8, device="meta"))


_registry = [
    (10, _cpu_tag, _cpu_restore),
    (20, _cuda_tag, _cuda_restore),
    (22, _meta_tag, _meta_restore),
]


def register_package(priority, tagger, deserializer):
    """Registers a kind of device for :func:`save` and :func:`load`.

    Args:
        priority: position in the order of entries; the smallest number first. The CPU
            has 10, CUDA 20, meta 22.
        tagger: given a storage, returns its location tag or None.
        deserializer: given a storage on the CPU and a tag, returns the storage moved, or None.
    """
    _registry.append((priority, tagger, deserializer))
    _registry.sort(key=lambda entry: entry[0])


def validate_cuda_device(location):
    """Returns the device that "cuda" or "cuda:1" names, if it exists.

    Raises:
        RuntimeError: when there is no GPU, or none of that number.
    """
    from rushlight import cuda

    if not cuda.is_available():
        raise RuntimeError(
            "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is "
            "False. If you are running on a CPU-only machine, please use torch.load with "
            "map_location=torch.device('cpu') to map your storages to the CPU.\n"
            f"the file has tensors on {location[:40]}; virtual GPUs can hold them: "
            "torch.cuda.virtual(1)"
        )
    index = location.partition(":")[2]
    index = int(index) if index else cuda.current_device()
    count = cuda.device_count()
    if index >= count:
        raise RuntimeError(
            f"Attempting to deserialize object on CUDA device {index} but "
            f"torch.cuda.device_count() is {count}. Please use torch.load with map_location to map "
            "your storages to an existing device.\n"
            f"for example map_location={{'cuda:{index}': 'cuda:0'}}"
        )
    return _C.device("cuda", index)


def location_tag(storage):
    """Returns the location tag of ``storage``: the text in a file for its device."""
    for _, tagger, _ in _registry:
        tag = tagger(storage)
        if tag:
            return tag
    raise RuntimeError(
        f"don't know how to determine data location of torch.storage.{type(storage).__name__}"
    )


def default_restore_location(storage, location):
    """Returns ``storage`` moved to the device that the tag ``location`` names.

    Raises:
        RuntimeError: when the device is absent or the tag is unknown.
    """
    for _, _, restore in _registry:
        result = restore(storage, location)
        if result is not None:
            return result
    raise RuntimeError(
        f"don't know how to restore data location of torch.storage.{type(storage).__name__} "
        f"(tagged with {location[:80]})\nname a device that exists with map_location, or teach "
        "torch.serialization.register_package about this one"
    )


def _checked(storage):
    if isinstance(storage, TypedStorage):
        return storage._untyped_storage
    if not isinstance(storage, UntypedStorage):
        raise TypeError(f"map_location must return a storage or None, got {type(storage).__name__}")
    return storage


def restorer(map_location):
    """Makes any form of ``map_location`` a function (storage, tag) -> storage."""
    if map_location is None:
        return lambda storage, location: _checked(default_restore_location(storage, location))
    if isinstance(map_location, dict):

        def restore(storage, location):
            return default_restore_location(storage, str(map_location.get(location, location)))

    elif isinstance(map_location, bytes):
        return restorer(map_location.decode("ascii"))
    elif isinstance(map_location, str | _C.device):

        def restore(storage, location):
            return default_restore_location(storage, str(map_location))

    elif callable(map_location):

        def restore(storage, location):
            result = map_location(storage, location)
            return default_restore_location(storage, location) if result is None else result

    else:
        raise TypeError(
            "load(): map_location must be a device, a string, a dict, a function or None, not "
            f"{type(map_location).__name__}"
        )
    return lambda storage, location: _checked(restore(storage, location))
