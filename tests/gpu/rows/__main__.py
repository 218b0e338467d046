"""Runs one row in this process; its last line of output is what the table shows. With --list: the
names of all rows, and the files to look at, as JSON."""

import faulthandler
import json
import sys

import rushlight as torch
from tests.emulator import name_libraries
from tests.gpu.rows import load_all


def main():
    if sys.argv[1] == "--list":
        print(json.dumps([(name, where) for name, (_, where) in load_all().items()]))
        return
    name, limit = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 20.0
    faulthandler.enable()  # says where it crashes
    faulthandler.dump_traceback_later(0.35 * limit)  # and where it hangs
    torch.manual_seed(0)
    name_libraries()
    function, _ = load_all()[name]
    words = function()
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()
    faulthandler.cancel_dump_traceback_later()
    print(words or "")


if __name__ == "__main__":
    main()
