"""Where processes meet: env://, tcp://HOST:PORT, file:///PATH become a store, a rank and a size."""

from __future__ import annotations

import os
from datetime import timedelta
from urllib.parse import parse_qs, urlparse

from rushlight import _C
from rushlight.distributed import _job
from rushlight.distributed._waiting import say, slices

default_pg_timeout = timedelta(minutes=30)
_handlers = {}
_served = {}  # servers stay until the process ends: others may init again before we do


def register_rendezvous_handler(scheme, handler):
    """Adds a scheme to init_process_group's init_method.

    Args:
        scheme: the part before "://".
        handler: called with the URL, rank, world_size and timeout; yields (store, rank, size).

    >>> torch.distributed.register_rendezvous_handler("mine", handler)  # doctest: +SKIP
    """
    if scheme in _handlers:
        raise RuntimeError(f"Rendezvous handler for {scheme}:// already registered")
    _handlers[scheme] = handler


def rendezvous(url: str, rank: int = -1, world_size: int = -1, **kwargs):
    """An iterator over (store, rank, world size) for a URL.

    Args:
        url: env://, tcp://HOST:PORT or file:///PATH, with ?rank= and &world_size= if wanted.
        rank: this process.
        world_size: how many there are.
        kwargs: timeout, a timedelta.

    >>> next(torch.distributed.rendezvous("file:///a?rank=0&world_size=1"))  # doctest: +SKIP
    """
    if not isinstance(url, str):
        raise RuntimeError(f"`url` must be a string. {type(url)}: {url}")
    scheme = urlparse(url).scheme
    if scheme not in _handlers:
        raise RuntimeError(
            f"No rendezvous handler for {scheme}://\nthere are env://, tcp://HOST:PORT and "
            "file:///PATH"
        )
    return _handlers[scheme](url, rank, world_size, kwargs.get("timeout", default_pg_timeout))


def _of_query(url, rank, world_size, scheme):
    query = {key: values[0] for key, values in parse_qs(urlparse(url).query).items()}
    for name, value in (("rank", rank), ("world_size", world_size)):
        if value == -1 and name not in query:
            raise ValueError(
                f"Error initializing torch.distributed using {scheme}:// rendezvous: "
                f"{name.replace('_', ' ')} parameter missing\ngive {name}= to init_process_group"
            )
    numbers = [int(query[name]) if value == -1 else int(value)
               for name, value in (("rank", rank), ("world_size", world_size))]  # fmt: skip
    return numbers[0], numbers[1]


def _file(url, rank, world_size, timeout):
    parsed = urlparse(url)
    if not parsed.path:
        raise ValueError(
            "Error initializing torch.distributed using file:// rendezvous: path missing"
        )
    rank, world_size = _of_query(url, rank, world_size, "file")
    store = _C._distributed.FileStore(parsed.path, world_size)
    store.set_timeout(timeout)
    yield store, rank, world_size


def _tcp(url, rank, world_size, timeout):
    parsed = urlparse(url)
    if parsed.port is None or not parsed.hostname:
        raise ValueError(
            "Error initializing torch.distributed using tcp:// rendezvous: port number missing"
        )
    rank, world_size = _of_query(url, rank, world_size, "tcp")
    yield _store(parsed.hostname, parsed.port, rank, world_size, timeout), rank, world_size


def _env(url, rank, world_size, timeout):
    def variable(name):
        if (value := os.environ.get(name) or _job.variable(name)) is not None:
            return value
        more = f"\n{starter} started it: set {name} there" if (starter := _job.program()) else ""
        raise ValueError(
            "Error initializing torch.distributed using env:// rendezvous: environment "
            f"variable {name} expected, but not set{more}"
        )

    rank = int(variable("RANK")) if rank == -1 else rank
    world_size = int(variable("WORLD_SIZE")) if world_size == -1 else world_size
    host, port = variable("MASTER_ADDR"), int(variable("MASTER_PORT"))
    yield _store(host, port, rank, world_size, timeout), rank, world_size


def _store(host, port, rank, world_size, timeout):
    agent = os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True"
    serves = rank == 0 and not agent
    made = None
    for waited, more in slices(timeout.total_seconds()):
        try:
            made = _C._distributed.TCPStore(
                host, port, world_size, serves, timedelta(seconds=more), False, multi_tenant=True
            )
            break
        except _C._distributed.DistNetworkError:
            if serves or timeout.total_seconds() - waited - more < 1e-3:
                raise
        if rank == 1:
            say(f"waiting for rank 0 at {host}:{port} since {waited + more:.0f} s")
    made.set_timeout(timeout)
    if serves:
        _served[host, port] = made
    if agent:  # the keys of an attempt that failed are still there
        attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
        return _C._distributed.PrefixStore(f"/worker/attempt_{attempt}", made)
    return made


for _scheme, _handler in (("env", _env), ("tcp", _tcp), ("file", _file)):
    register_rendezvous_handler(_scheme, _handler)
