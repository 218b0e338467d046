"""Import time, memory and sizes: measured in fresh processes and on the installed files."""

import importlib.util
import os
import subprocess
import sys
import zipfile

IMPORT = """
import time
start = time.process_time()
import {0}
seconds = time.process_time() - start
status = open("/proc/self/status").read()
print(seconds, int(status.split("VmRSS:")[1].split()[0]) * 1024)
"""


def fresh_import(module, rounds=7):
    """(seconds of CPU time, resident bytes) of a new process that imports the module: the best."""
    if importlib.util.find_spec(module) is None:
        return None, None
    command = [sys.executable, "-c", IMPORT.format(module)]
    runs = [
        tuple(map(float, subprocess.run(command, capture_output=True, check=True).stdout.split()))
        for _ in range(rounds)
    ]
    return tuple(min(values) for values in zip(*runs, strict=True))


def installed_bytes(module):
    spec = importlib.util.find_spec(module)
    if spec is None:
        return None
    folder = os.path.dirname(spec.origin)
    return sum(
        os.path.getsize(os.path.join(where, name))
        for where, _, names in os.walk(folder)
        for name in names
        if "__pycache__" not in where
    )


def wheel_bytes(module):
    """What zip makes of the installed files: within a per cent of the wheel."""
    spec = importlib.util.find_spec(module)
    if spec is None:
        return None
    folder = os.path.dirname(spec.origin)
    with open(os.devnull, "wb") as out, zipfile.ZipFile(Unseekable(out), "w", 8) as archive:
        for where, _, names in os.walk(folder):
            for name in names:
                if "__pycache__" not in where:
                    archive.write(os.path.join(where, name))
    return sum(item.compress_size for item in archive.infolist())


class Unseekable:
    """A sink: zipfile writes it as a stream."""

    def __init__(self, out):
        self.write, self.flush = out.write, out.flush
