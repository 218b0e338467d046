"""The one file that knows xoscar: its wheel has Gloo compiled in, and we load that file alone.

Importing xoscar itself would bring pandas and an actor system. Note: what Gloo does not check ends
the process, so that nothing but _collectives.py and the engine's own checks (submit) call it.
"""

import contextlib
import glob
import importlib.util
import os
import re
import resource
import socket
import struct
import sys
import weakref
import zlib
from datetime import timedelta

from rushlight import _C

KINDS = {
    _C.int8: 0, _C.uint8: 1, _C.int32: 2, _C.int64: 4, _C.float16: 6, _C.float32: 7, _C.float64: 8,
}  # fmt: skip
SUM, PRODUCT, MIN, MAX = range(4)  # of its ReduceOp
_CONNECTING = 60.0  # seconds that connecting may take, once all ranks are there
_MODULE = "xoscar_pygloo"
_ABSENT = (
    "torch.distributed on CPUs needs Gloo, which rushlight takes from the package xoscar: "
    "pip install 'rushlight[distributed]' (270 MB, with pandas and SciPy), or "
    "pip install --no-deps xoscar (19 MB), which is all that rushlight uses of it"
)


def _file():
    """The path of the compiled module, or None. xoscar is found, not imported."""
    spec = importlib.util.find_spec("xoscar")
    for folder in (spec and spec.submodule_search_locations) or ():
        for path in glob.glob(os.path.join(folder, "collective", _MODULE + "*.so")):
            return path
    return None


def is_available() -> bool:
    """Whether a wheel of xoscar is installed."""
    return _file() is not None


def _load():
    if _MODULE in sys.modules:
        return sys.modules[_MODULE]
    path = _file()
    if path is None:
        raise RuntimeError(_ABSENT)
    spec = importlib.util.spec_from_file_location(_MODULE, path)
    if spec is None or spec.loader is None:
        raise RuntimeError(_ABSENT)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except ImportError as error:
        raise RuntimeError(f"{_ABSENT}\nthe one that is installed does not load: {error}") from None
    sys.modules[_MODULE] = module
    return module


def address(store):
    """Where peers reach this process: the near end of its connection to the store, so that no name
    has to resolve; GLOO_SOCKET_IFNAME names an interface instead."""
    interface = os.environ.get("GLOO_SOCKET_IFNAME", "").split(",")[0]
    if interface:
        return _address_of(interface)
    while isinstance(store, _C._distributed.PrefixStore):
        store = store.underlying_store
    if isinstance(store, _C._distributed.TCPStore):
        return store._near_address()
    try:
        return socket.gethostbyname(socket.gethostname())
    except OSError:
        return "127.0.0.1"


def _address_of(interface):
    import fcntl

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        try:
            request = struct.pack("256s", interface.encode()[:15])
            found = fcntl.ioctl(s.fileno(), 0x8915, request)  # SIOCGIFADDR
        except OSError as error:
            names = ", ".join(name for _, name in socket.if_nameindex())
            raise RuntimeError(
                f"GLOO_SOCKET_IFNAME={interface}: {error}; this machine has {names}"
            ) from None
    return socket.inet_ntoa(found[20:24])


class _Exchange:
    """The store as Gloo uses it: each rank's addresses, under keys of its own."""

    def __init__(self, store):
        self.store = store

    def set_tcp(self, key, value):
        value = bytes(value, "latin-1") if isinstance(value, str) else bytes(value)
        self.store.set(key, zlib.crc32(value).to_bytes(4, "big") + value)

    def get_tcp(self, key):
        found = self.store.get(key)
        if zlib.crc32(found[4:]).to_bytes(4, "big") != found[:4]:  # Gloo would end the process
            raise RuntimeError(f"what the store has under {key!r} was not written by Gloo")
        return found[4:]

    def wait(self, keys):
        self.store.wait(list(keys))


def is_virtual():
    """Whether the GPUs of this process are virtual ones, whose memory is the host's."""
    return _C._distributed._gpus_are_virtual()


def _is_on_host(tensor):
    return tensor is None or tensor.device.type == "cpu" or is_virtual()


class _Staged:
    """A _Work whose result comes by a copy on the CPU."""

    def __init__(self, part, result, copy):
        self.part, self.result, self.copy, self.error = part, result, copy, part.error

    def _take(self, done):
        if done and self.copy is not None and not self.error():
            self.result.copy_(self.copy)
            self.copy = None
        return done

    def wait(self, seconds):
        return self._take(self.part.wait(seconds))

    def is_done(self):
        return self._take(self.part.is_done())


def _allow_descriptors(size):
    """Raises this process's limit of open files, usually 1024, to what a group may need."""
    needed = len(os.listdir("/proc/self/fd")) + 4 * size + 64
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft >= needed or soft == resource.RLIM_INFINITY:
        return
    if hard < needed and hard != resource.RLIM_INFINITY:
        raise RuntimeError(
            f"a group of {size} ranks needs {needed} open files in each process, which are its "
            f"connections, and this machine allows {hard}: raise it with ulimit -Hn {needed}"
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


_engines: "weakref.WeakSet[Engine]" = weakref.WeakSet()


class Engine:
    """One full mesh of connections between the ranks of a group, which have all arrived."""

    def __init__(self, store, rank, size, address, timeout):
        module = _load()
        _allow_descriptors(size)
        before = _C._distributed._open_connections()
        store.set_timeout(timedelta(seconds=_CONNECTING))
        try:
            self.device = module.transport.tcp.CreateDevice(module.transport.tcp.attr(address))
            self.context = module.rendezvous.Context(rank, size)
            self.context.setTimeout(timedelta(seconds=_CONNECTING))
            custom = module.rendezvous.CustomStore(_Exchange(store))
            self.context.connectFullMesh(custom, self.device)
            self.context.setTimeout(timedelta(milliseconds=max(1, int(timeout * 1000))))
        except RuntimeError as error:
            words = re.sub(r"^\[.*?\] ", "", str(error))  # without the path of its source
            raise _C._distributed.DistBackendError(
                f"rank {rank} at {address} cannot connect with the other {size - 1} ranks: {words}"
            ) from None
        self.size = size
        self._gloo = _C._distributed._Gloo(module.__file__, self.context, before)
        self.abort, self.broken = self._gloo.abort, self._gloo.broken
        self.overdue = self._gloo.overdue
        _engines.add(self)

    kinds = KINDS
    scatters = False  # whether it has a reduce_scatter
    together = contextlib.nullcontext

    def submit(self, call, given, result, count, tag, kind=1, reduction=0, peer=0):
        """Starts a call; returns a _Work. Memory of real GPUs goes through copies on the CPU."""
        here = given if _is_on_host(given) else given.cpu()
        there = here if result is given else result if _is_on_host(result) else result.cpu()
        part = self._gloo.submit(call, here, there, count, kind, reduction, peer, self.size, tag)
        return part if there is result else _Staged(part, result, there)

    def close(self):
        """Ends the threads, then the connections. What does not end is kept for ever."""
        self.abort("the process group was destroyed")
        if self._gloo.close(5.0):
            self.context.closeConnections()
        else:
            self.keep()
        _engines.discard(self)

    def keep(self):
        """Never freed: Gloo's own destructor would end a process, of a forked child's parent too,
        which shares the descriptors."""
        _C._distributed._keep_for_ever(self.context)
        _C._distributed._keep_for_ever(self.device)


def _after_fork():
    for engine in list(_engines):
        engine.keep()


os.register_at_fork(after_in_child=_after_fork)
