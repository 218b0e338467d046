"""Worlds of real processes on loopback, for the tests.

run(function, size) calls function(rank, size) in each, with its process group, and returns what
they return.
"""

import importlib
import multiprocessing
import os
import queue
import signal
import time
import traceback
import warnings
from datetime import timedelta

# By the process that all ranks are forks of: half a second of the processor for each rank, three
# where the world is torch's. Rushlight is not among them; what is not installed is passed over.
LOADED_ONCE = [
    "numpy", "pytest", "hypothesis", "torch.distributed.fsdp", "torch.distributed.tensor",
]  # fmt: skip
_library = "rushlight"


def _child(function, rank, size, port, answers, options, torch, backend):
    signal.alarm(60)  # nothing of a test lasts longer
    global _library
    if torch:
        _library = "torch"
        warnings.simplefilter("ignore")
    dist = importlib.import_module(f"{_library}.distributed")
    if backend == "nccl":
        cuda = library().cuda
        if cuda.device_count() < size:
            cuda.virtual(size)
        cuda.set_device(rank)
        library().set_default_device("cuda")
    try:
        store = dist.TCPStore("127.0.0.1", port)
        if not options.pop("bare", False):
            seconds = options.pop("seconds", 20)
            dist.init_process_group(
                backend, store=store, rank=rank, world_size=size,
                timeout=timedelta(seconds=seconds), **options,
            )  # fmt: skip
            arguments = (rank, size)
        else:
            arguments = (rank, size, port)
        answers.put((rank, function(*arguments)))
        if dist.is_initialized():
            dist.destroy_process_group()
    except BaseException:
        answers.put((rank, "RAISED " + traceback.format_exc()))


def run(function, size=2, expect=None, torch=False, backend="gloo", **options):
    """The results by rank; of `expect` ranks, where others are to die. With "nccl", each rank's
    current and default device is a GPU of its own, a virtual one where there are no others."""
    if torch:
        import torch.distributed as dist
    else:
        import rushlight.distributed as dist

    server = dist.TCPStore("127.0.0.1", 0, is_master=True)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(LOADED_ONCE)
    answers = context.Queue()
    processes = [
        context.Process(
            target=_child,
            args=(function, r, size, server.port, answers, dict(options), torch, backend),
        )
        for r in range(size)
    ]
    found = {}
    try:
        for each in processes:
            each.start()
        end = time.monotonic() + 60
        while len(found) < (size if expect is None else expect):
            rank, value = answers.get(timeout=max(0.1, end - time.monotonic()))
            found[rank] = value
            if isinstance(value, str) and value.startswith("RAISED"):
                break
        for each in processes:
            each.join(10 if len(found) == size else 0)
    except queue.Empty:
        found["missing"] = [p.exitcode for p in processes]
    finally:
        for each in processes:
            if each.is_alive():
                os.kill(each.pid, signal.SIGKILL)
                each.join()
        answers.close()
        answers.join_thread()
    for value in found.values():
        if isinstance(value, str) and value.startswith("RAISED"):
            raise AssertionError(value)
    return [found.get(r) for r in range(size)] if "missing" not in found else found


def library():
    """torch in torch's worlds, rushlight in ours."""
    return importlib.import_module(_library)


def outcome(call):
    """What a call returns, or the name of its error's type."""
    try:
        return call()
    except Exception as error:
        return type(error).__name__
