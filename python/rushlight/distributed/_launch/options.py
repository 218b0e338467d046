"""torchrun's command line: every option with - and with _, and from the environment as PET_NAME."""

from __future__ import annotations

import argparse
import os
import uuid
from dataclasses import dataclass, field

DESCRIPTION = "Starts a program in several processes, here or on several hosts."
_REFUSED = {
    "etcd": "no rendezvous over etcd", "etcd-v2": "no rendezvous over etcd",
}  # fmt: skip


@dataclass
class Job:
    """What is to be started on this host."""

    command: list[str]
    mode: str  # "script", "module" or "program"
    processes: int
    nodes: int
    node: int | None  # None: in the order of arrival
    host: str
    port: int  # 0: a free one
    run_id: str
    role: str
    max_restarts: int
    interval: float
    patience: float  # seconds between SIGTERM and SIGKILL
    log_dir: str | None
    redirects: dict[int, int]
    tee: dict[int, int]
    shown: set[int] | None  # local ranks whose output is shown; None: all
    aliased: bool = False  # `import torch` is rushlight
    environment: dict[str, str] = field(default_factory=dict)


class _FromEnvironment(argparse.Action):
    def __init__(self, dest, default=None, required=False, **options):
        default = os.environ.get("PET_" + dest.upper(), default)
        super().__init__(dest=dest, default=default, required=required and not default, **options)

    def __call__(self, parser, namespace, values, option_string=None):
        setattr(namespace, self.dest, values)


class _FlagFromEnvironment(_FromEnvironment):
    def __init__(self, dest, **options):
        super().__init__(dest=dest, nargs=0, **options)
        self.default = str(self.default).lower() in ("1", "true")

    def __call__(self, parser, namespace, values, option_string=None):
        setattr(namespace, self.dest, True)


def get_args_parser(prog="torchrun") -> argparse.ArgumentParser:
    """The parser of torchrun's command line.

    Args:
        prog: the name in the usage.
    """
    parser = argparse.ArgumentParser(prog=prog, description=DESCRIPTION, allow_abbrev=False)

    def option(name, default, text, **options):
        names = dict.fromkeys(["--" + name, "--" + name.replace("-", "_")])
        short = options.pop("short", None)
        parser.add_argument(
            *((short,) if short else ()), *names, action=_FromEnvironment, default=default,
            help=text, **options,
        )  # fmt: skip

    def flag(name, text, short=None):
        names = dict.fromkeys(["--" + name, "--" + name.replace("-", "_")])
        parser.add_argument(
            *((short,) if short else ()), *names, action=_FlagFromEnvironment, default=False,
            help=text,
        )  # fmt: skip

    option("nnodes", "1", "how many hosts")
    option("nproc-per-node", "1", "processes on each: a number, auto, cpu or gpu")
    option("rdzv-backend", "static", "static: ranks by --node-rank; c10d: in the order of arrival")
    option("rdzv-endpoint", "", "HOST:PORT of the first host")
    option("rdzv-id", "none", "a name of the job")
    option("rdzv-conf", "", "accepted, not used")
    flag("standalone", "one host, a free port")
    option("max-restarts", 0, "how often all are started again after a failure", type=int)
    option("monitor-interval", 0.1, "seconds between two looks at the processes", type=float)
    option("start-method", "spawn", "accepted: a process is always a new one",
           choices=["spawn", "fork", "forkserver"])  # fmt: skip
    option("role", "default", "a name of the processes")
    flag("module", "the program is a module, as with python -m", short="-m")
    flag("no-python", "the program is no Python program")
    flag("run-path", "accepted, not used: a script has its own __main__ anyway")
    option("log-dir", None, "the folder of the logs of --redirects and --tee")
    option("redirects", "0", "0 none, 1 stdout, 2 stderr, 3 both into files; or 0:1,1:3 by rank",
           short="-r")  # fmt: skip
    option("tee", "0", "the same, and to the console too", short="-t")
    option("local-ranks-filter", "", "the local ranks whose output is shown: 0,1")
    option("node-rank", None, "the index of this host", type=int)
    option("master-addr", "127.0.0.1", "the host of rank 0")
    option("master-port", 0, "its port; a free one where it is not given", type=int)
    option("local-addr", None, "accepted, not used: a host is reached where it connects from")
    option("shutdown-timeout", 30.0, "seconds between SIGTERM and SIGKILL", type=float)
    parser.add_argument("training_script", help="the program")
    parser.add_argument("training_script_args", nargs=argparse.REMAINDER, help="its arguments")
    return parser


def virtual_gpus(args: argparse.Namespace) -> str:
    """How many GPUs the host has where `--gpus` says how many each process does. "gpu" or "auto"
    processes are one for each GPU.

    Args:
        args: with `gpus`, and nproc_per_node, which may change.
    """
    if str(args.nproc_per_node) in ("gpu", "auto") and args.gpus != "0":
        args.nproc_per_node = args.gpus
        return args.gpus
    if not args.gpus.isdigit() or not str(args.nproc_per_node).isdigit():
        return args.gpus  # what is wrong, check_options() says
    return str(int(args.gpus) * int(args.nproc_per_node))


def count_processes(text) -> int:
    """A number, "cpu", "gpu" or "auto" (GPUs if there are any).

    Args:
        text: what --nproc-per-node was given.
    """
    if text in ("auto", "gpu"):
        from rushlight import cuda

        count = cuda.device_count() if cuda.is_available() else 0
        if count == 0 and text == "gpu":
            raise ValueError("--nproc-per-node gpu: Cuda is not available.")
        if count:
            return count
    if text in ("auto", "cpu"):
        return os.cpu_count() or 1
    if not str(text).isdigit() or int(text) < 1:
        raise ValueError(f"Unsupported nproc_per_node value: {text}")
    return int(text)


def _by_rank(text, processes):
    """{local rank: 0 to 3} of "3" or "0:1,1:3"."""
    found = {}
    for part in str(text).split(","):
        rank, colon, value = part.partition(":")
        if not colon:
            rank, value = "", rank
        if value not in "0 1 2 3".split() or (colon and not rank.isdigit()):
            raise ValueError(f"{text!r}: 0 to 3, or RANK:0 to 3 for some ranks, such as 0:1,1:3")
        ranks = [int(rank)] if colon else range(processes)
        found.update(dict.fromkeys(ranks, int(value)))
    return found


def read_job(args: argparse.Namespace) -> Job:
    """What the options mean together.

    Args:
        args: of get_args_parser().

    Raises:
        ValueError: they contradict each other, or need what is not there.
    """
    if args.rdzv_backend not in ("static", "c10d"):
        what = _REFUSED.get(args.rdzv_backend, "unknown")
        raise ValueError(f"--rdzv-backend {args.rdzv_backend}: {what}; there are static and c10d")
    low, colon, high = str(args.nnodes).partition(":")
    if (colon and low != high) or not low.isdigit() or int(low) < 1:
        raise ValueError(
            f"--nnodes {args.nnodes}: a number of hosts is needed; it cannot change while they run"
        )
    nodes, processes = int(low), count_processes(args.nproc_per_node)
    host, port, node = args.master_addr, int(args.master_port), args.node_rank
    if args.rdzv_endpoint:
        host, colon, text = str(args.rdzv_endpoint).rpartition(":")
        if not colon:
            host, text = args.rdzv_endpoint, "29400"
        if not text.isdigit():
            raise ValueError(f"--rdzv-endpoint {args.rdzv_endpoint}: HOST:PORT is needed")
        port = int(text)
    if args.standalone or nodes == 1:
        if args.standalone and nodes > 1:
            raise ValueError(f"--standalone is for one host, --nnodes says {nodes}")
        node, host = 0, host or "127.0.0.1"
        port = 0 if args.standalone else port
    elif port == 0:
        raise ValueError("several hosts need --master-addr and --master-port, or --rdzv-endpoint")
    if args.rdzv_backend == "static" and node is None:
        raise ValueError("--node-rank says which of the hosts this is, 0 for the first")
    if node is not None and not 0 <= int(node) < nodes:
        raise ValueError(f"--node-rank {node}: hosts are 0 to {nodes - 1}")
    named = args.rdzv_id not in (None, "", "none")
    return Job(
        command=[args.training_script, *args.training_script_args],
        mode="program" if args.no_python else "module" if args.module else "script",
        processes=processes, nodes=nodes, node=None if node is None else int(node), host=host,
        port=port, run_id=str(args.rdzv_id) if named or nodes > 1 else str(uuid.uuid4()),
        role=args.role, max_restarts=int(args.max_restarts), interval=float(args.monitor_interval),
        patience=float(args.shutdown_timeout), log_dir=args.log_dir,
        redirects=_by_rank(args.redirects, processes), tee=_by_rank(args.tee, processes),
        shown={int(r) for r in str(args.local_ranks_filter).split(",") if r.strip()} or None,
    )  # fmt: skip
