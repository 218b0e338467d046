# Runs a notebook's code cells in a real Jupyter kernel and prints what they print. The file is not
# changed. A cell that raises ends the run with exit code 1, unless it is tagged "raises-exception".
import json
import os
import re
import shutil
import sys
import tempfile
from contextlib import contextmanager

NEEDED = "running a notebook needs Jupyter's kernel: pip install 'rushlight[notebooks]'"


@contextmanager
def kernel(folder: str, arguments: list[str], extension: bool = True):
    """A client of a fresh kernel of this interpreter, in which torch's names are rushlight's."""
    try:
        import ipykernel  # noqa: F401  (the kernel itself)
        from jupyter_client.kernelspec import KernelSpec
        from jupyter_client.manager import KernelManager
    except ImportError as error:
        sys.exit(f"rushlight: {NEEDED} ({error})")

    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    if extension:
        command.append("--ext=rushlight")
    sockets = tempfile.mkdtemp(prefix="rushlight-")  # of this user alone, unlike ports
    manager = KernelManager(kernel_name="", transport="ipc", ip=os.path.join(sockets, "kernel"))
    manager._kernel_spec = KernelSpec(argv=command, language="python")
    paths = [p for p in (package_home(), os.environ.get("PYTHONPATH")) if p]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "RUSHLIGHT_ARGV": json.dumps(arguments),
    }
    manager.start_kernel(cwd=folder, env=environment)
    client = manager.blocking_client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
        yield client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        shutil.rmtree(sockets, ignore_errors=True)


def package_home() -> str:
    return os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def show(message) -> None:
    """Prints one message of the kernel as a terminal would show it."""
    content = message["content"]
    kind = message["msg_type"]
    if kind == "stream":
        stream = sys.stderr if content["name"] == "stderr" else sys.stdout
        stream.write(content["text"])
        stream.flush()
    elif kind in ("execute_result", "display_data"):
        print(content["data"].get("text/plain", ""), flush=True)
    elif kind == "error":
        text = "\n".join(content["traceback"])
        if not sys.stderr.isatty():
            text = re.sub(r"\x1b\[[\d;]*m", "", text)  # colours
        print(text, file=sys.stderr, flush=True)


def code_cells(path: str):
    try:
        with open(path, encoding="utf-8") as file:
            cells = json.load(file)["cells"]
        for cell in cells:
            if cell["cell_type"] == "code":
                tags = cell.get("metadata", {}).get("tags", [])
                yield "".join(cell["source"]), "raises-exception" in tags
    except OSError as error:
        message = f"[Errno {error.errno}] {error.strerror}"
        print(f"rushlight: can't open file {path!r}: {message}", file=sys.stderr)
        sys.exit(2)
    except (ValueError, KeyError, TypeError) as error:
        sys.exit(f"rushlight: {path!r} is not a notebook of format 4 ({error!r})")


def run_notebook(path: str, arguments: list[str], before=None) -> None:
    """Runs the cells in order; `before` gets each cell's code and whether it may raise."""
    cells = list(code_cells(path))
    folder = os.path.dirname(os.path.abspath(path))
    loads = bool(cells) and cells[0][0].startswith("%load_ext rushlight")  # Jupyter warns of two
    with kernel(folder, [path, *arguments], extension=not loads) as client:
        for source, may_raise in cells:
            if before is not None:
                before(source, may_raise)
            try:
                reply = client.execute_interactive(source, output_hook=show, stop_on_error=False)
            except RuntimeError as error:
                sys.exit(f"rushlight: the kernel died: {error}")
            if reply["content"]["status"] != "ok" and not may_raise:
                sys.exit(1)
