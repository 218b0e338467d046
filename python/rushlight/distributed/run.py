"""torchrun: starts a program in several processes, watches them, reports what failed.

    python -m rushlight.distributed.run --nproc-per-node 4 train.py --epochs 3
    rushlight launch --nproc-per-node 4 train.py  # where the program says `import torch`

Each process finds RANK, LOCAL_RANK, WORLD_SIZE, MASTER_ADDR and the others of torchrun's variables
in its environment.
"""

from __future__ import annotations

import sys

from rushlight.distributed._launch.options import get_args_parser, read_job

__all__ = ["get_args_parser", "main", "parse_args", "run"]


def parse_args(args=None):
    """The options of torchrun's command line.

    Args:
        args: the words after the program's name; sys.argv's where it is None.

    >>> torch.distributed.run.parse_args(["--nproc-per-node", "2", "train.py"]).nproc_per_node
    '2'
    """
    return get_args_parser().parse_args(args)


def run(args, aliased=False, environment=None):
    """Runs what parse_args() has read; ends this process where a process of it fails.

    Args:
        args: of parse_args().
        aliased: in the program `import torch` means rushlight.
        environment: further variables of the processes.

    Raises:
        SystemExit: the exit code: 1 after a failure, 128 and the number after a signal.
    """
    from rushlight.distributed._launch.agent import Failed, Stopped, launch

    try:
        job = read_job(args)
    except ValueError as error:
        print(f"torchrun: error: {error}", file=sys.stderr)
        sys.exit(2)
    job.aliased, job.environment = aliased, dict(environment or {})
    try:
        launch(job)
    except (ValueError, RuntimeError) as error:
        print(f"torchrun: error: {error}", file=sys.stderr)
        sys.exit(1)
    except Failed as failed:
        print(failed, file=sys.stderr)
        sys.exit(1)
    except Stopped as stopped:
        print(f"torchrun: {stopped}", file=sys.stderr)
        sys.exit(128 + stopped.number)


def main(args=None):
    """torchrun itself.

    Args:
        args: the words after the program's name; sys.argv's where it is None.
    """
    run(parse_args(args))


if __name__ == "__main__":
    main()
