"""torch.distributed.launch, the older name of torchrun: the same program."""

from rushlight.distributed.run import main, parse_args

__all__ = ["main", "parse_args"]

if __name__ == "__main__":
    main()
