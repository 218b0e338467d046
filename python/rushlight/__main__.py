# The command line: rushlight run, launch, install, info, demo. Arguments are read by hand, since
# those after the program's name are the program's own and must reach it untouched.
import os
import sys

USAGE = """\
usage: rushlight run FILE.py|FILE.ipynb [--gpus N] [--profile P] [--memory M] [--] [ARGUMENTS...]
       rushlight launch [--nproc-per-node N] [--gpus N] [...] FILE.py [ARGUMENTS...]
       rushlight install PACKAGES... [OPTIONS OF pip install]
       rushlight info
       rushlight demo

run     runs a program or a notebook in which `import torch` and `import torchvision` mean rushlight
          --gpus N      virtual GPUs, 0 to 64 (0: none)
          --profile P   what they look like: t4 (default), v100, a100, h100, rtx3060, rtx4090, ...
          --memory M    memory of each, such as 2GiB (default: the profile's)
          --children    Python programs that it starts have these names, too (accelerate launch)
        options come before or right after FILE; what follows goes to the program
launch  runs a program in several processes, as torchrun does (rushlight launch --help)
          --gpus N      virtual GPUs for each process; all of a host's processes see all of them, as
                        under torchrun, and the first ones are for LOCAL_RANK 0
install packages that need torch, and what else they need; torch, torchvision, torchaudio, triton
        and NVIDIA's packages are left out, as rushlight takes their place
info    versions, devices, libraries, threads, and why there is no CUDA, if there is none
demo    the five documents' lessons on virtual GPUs, cell by cell
"""
VARIABLES = {
    "--gpus": "RUSHLIGHT_VIRTUAL_GPUS",
    "--profile": "RUSHLIGHT_VIRTUAL_PROFILE",
    "--memory": "RUSHLIGHT_VIRTUAL_MEMORY",
}


def wrong_usage(text: str) -> None:
    print(f"rushlight: {text}\n\n{USAGE}", file=sys.stderr, end="")
    sys.exit(2)


def take_options(arguments: list[str]) -> None:
    """Moves our options from the front of `arguments` into the environment."""
    while arguments and arguments[0].startswith("-"):
        if arguments[0] == "--children":
            from ._runner.children import carry_to_programs

            carry_to_programs()
            del arguments[0]
            continue
        key, equals, value = arguments[0].partition("=")
        if key == "--":
            del arguments[0]
            return
        if key not in VARIABLES:
            return
        del arguments[0]
        if not equals:
            if not arguments:
                wrong_usage(f"{key} needs a value")
            value = arguments.pop(0)
        os.environ[VARIABLES[key]] = value


def check_options() -> None:
    """Refuses wrong values before the program starts, not at its first CUDA call."""
    if any(name in os.environ for name in VARIABLES.values()):
        from .cuda import _virtual

        try:
            _virtual.from_environment()
        except (ValueError, RuntimeError) as error:
            wrong_usage(str(error))


def run(arguments: list[str]) -> None:
    take_options(arguments)
    if not arguments:
        wrong_usage("run needs a file")
    file = arguments.pop(0)
    if file.startswith("-"):
        wrong_usage(f"unknown option {file}")
    take_options(arguments)
    check_options()
    if file.endswith(".ipynb"):
        from ._runner.notebook import run_notebook

        run_notebook(file, arguments)
    else:
        from ._runner.script import run_script

        if os.environ.get("RUSHLIGHT_VIRTUAL_GPUS"):  # perhaps from an option, after the import
            from .cuda import _nvidia_smi

            _nvidia_smi.start_from_environment()
        run_script(file, arguments)


def launch(arguments: list[str]) -> None:
    from .distributed._launch.options import get_args_parser, virtual_gpus
    from .distributed.run import run as run_job

    parser = get_args_parser("rushlight launch")
    for option in VARIABLES:
        parser.add_argument(option, help="of virtual GPUs, as of rushlight run")
    args = parser.parse_args(arguments)
    for option, variable in VARIABLES.items():
        value = getattr(args, option[2:])
        if value is not None:
            os.environ[variable] = virtual_gpus(args) if option == "--gpus" else value
    check_options()
    run_job(args, aliased=True)


def main() -> None:
    arguments = sys.argv[1:]
    command = arguments.pop(0) if arguments else "--help"
    if command in ("-h", "--help", "help"):
        print(USAGE, end="")
    elif command == "--version":
        from ._version import __version__

        print(f"rushlight {__version__}")
    elif command == "run":
        run(arguments)
    elif command == "launch":
        launch(arguments)
    elif command == "install":
        from ._runner.install import install

        if not arguments:
            wrong_usage("install needs the name of a package")
        sys.exit(install(arguments))
    elif command == "info":
        from ._runner.info import print_info

        print_info()
    elif command == "demo":
        from ._demo import main as demo

        if arguments:
            wrong_usage("demo takes no arguments")
        demo()
    else:
        wrong_usage(f"unknown command {command!r}")


if __name__ == "__main__":
    main()
