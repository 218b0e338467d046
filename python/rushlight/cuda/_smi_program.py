# The `nvidia-smi` of virtual GPUs: a program of its own, run by a bare interpreter (python -I -S).
# It imports nothing of rushlight and reads one page of figures that the process keeps up to date;
# its layout is that of csrc/devices/virtual_machine.h. Arguments: PAGE VERSION, then those of
# nvidia-smi.
import os
import struct
import sys
import time

HEADER = struct.Struct("=8sqqq")
DEVICE = struct.Struct("=qqqiiii64s24x")
MIB = 1 << 20
CUDA_VERSION = "13.0"


class Gpu:
    def __init__(self, index, fields):
        self.index = index
        total, used, _, self.major, self.minor, _, _, name = fields
        self.name = name.rstrip(b"\0").decode("utf-8", "replace")
        self.total = total // MIB
        self.used = -(-used // MIB)
        self.free = self.total - self.used
        self.bus = f"00000000:{index + 1:02X}:00.0"
        self.uuid = f"GPU-00000000-0000-0000-0000-{index:012x}"


def read_page(path):
    try:
        with open(path, "rb") as file:
            page = file.read()
        magic, pid, count, _ = HEADER.unpack_from(page)
        if magic != b"RLSMI1\0\0":
            raise ValueError(magic)
        os.kill(pid, 0)
    except (OSError, ValueError, struct.error):
        sys.exit("NVIDIA-SMI (virtual): the process that made these virtual GPUs has ended.")
    offsets = range(HEADER.size, HEADER.size + count * DEVICE.size, DEVICE.size)
    return pid, [Gpu(i, DEVICE.unpack_from(page, at)) for i, at in enumerate(offsets)]


def process_name(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().split(b"\0")[0].decode("utf-8", "replace") or "python"
    except OSError:
        return "python"


def shortened(text, width):
    return text if len(text) <= width else "..." + text[3 - width :]


def list_gpus(gpus):
    for g in gpus:
        print(f"GPU {g.index}: {g.name} (UUID: {g.uuid})")


def table(gpus, pid, version):
    def rule(cells, fill="-"):
        print("+" + "+".join(fill * n for n in cells) + "+")

    columns = (41, 24, 22)
    print(time.strftime("%a %b %e %H:%M:%S %Y"))
    rule((89,))
    left = f"NVIDIA-SMI virtual (rushlight {version})"
    print(f"| {left:<38} {'Driver Version: none':<25}{f'CUDA Version: {CUDA_VERSION}':<24}|")
    rule(columns)
    print("| GPU  Name                 Persistence-M | Bus-Id          Disp.A |", end="")
    print(" Volatile Uncorr. ECC |")
    print("| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage |", end="")
    print(" GPU-Util  Compute M. |")
    print("|" + "+".join("=" * n for n in columns) + "|")
    for g in gpus:
        print(f"| {g.index:>3}  {g.name:<30.30} Off | {g.bus:<16}   Off |", end="")
        print(f" {'N/A':>20} |")
        memory = f"{g.used:>6}MiB / {g.total:>6}MiB"
        print(f"| N/A   N/A    P0             N/A / N/A   | {memory:>22} |", end="")
        print(f" {'0%':>7} {'Default':>12} |")
        rule(columns)
    print()
    rule((89,))
    print(f"| {'Processes:':<88}|")
    print(f"| {' GPU        PID   Type   Process name':<70}{'GPU Memory':>16}  |")
    print("|" + "=" * 89 + "|")
    name = shortened(process_name(pid), 44)
    for g in gpus:
        if g.used:
            print(f"| {g.index:>4}  {pid:>9}      C   {name:<44}{f'{g.used}MiB':>17}  |")
    if not any(g.used for g in gpus):
        print(f"| {' No running processes found':<88}|")
    rule((89,))


def report(gpus, pid, version, sections):
    def row(depth, key, value):
        print(f"{'    ' * depth + key:<42}: {value}")

    print("\n==============NVSMI LOG==============\n")
    row(0, "Timestamp", time.strftime("%a %b %e %H:%M:%S %Y"))
    row(0, "Driver Version", f"none (virtual, rushlight {version})")
    row(0, "CUDA Version", CUDA_VERSION)
    print()
    row(0, "Attached GPUs", len(gpus))
    for g in gpus:
        print(f"GPU {g.bus}")
        if not sections:
            row(1, "Product Name", g.name)
            row(1, "GPU UUID", g.uuid)
        # Free is the fourth line below the name: older drivers' layout, which lessons grep for.
        if not sections or "MEMORY" in sections:
            print("    FB Memory Usage")
            for key, value in (("Total", g.total), ("Used", g.used), ("Free", g.free)):
                row(2, key, f"{value} MiB")
        if not sections or "UTILIZATION" in sections:
            print("    Utilization")
            row(2, "Gpu", "0 %")
            row(2, "Memory", "0 %")
        if (not sections or "PIDS" in sections) and g.used:
            print("    Processes")
            row(2, "Process ID", pid)
            row(3, "Type", "C")
            row(3, "Name", process_name(pid))
            row(3, "Used GPU Memory", f"{g.used} MiB")
    print()


def fields_of(g, pid, count, version):
    """Every field of --query-gpu: its value and its unit."""
    plain = {
        "timestamp": time.strftime("%Y/%m/%d %H:%M:%S.000"),
        "driver_version": f"none (virtual rushlight {version})",
        "count": count,
        "name": g.name,
        "gpu_name": g.name,
        "index": g.index,
        "uuid": g.uuid,
        "gpu_uuid": g.uuid,
        "pci.bus_id": g.bus,
        "gpu_bus_id": g.bus,
        "compute_cap": f"{g.major}.{g.minor}",
        "pstate": "P0",
        "compute_mode": "Default",
        "pid": pid,
        "process_name": process_name(pid),
    }
    known = {key: (value, "") for key, value in plain.items()}
    for key, value in (("total", g.total), ("used", g.used), ("free", g.free), ("reserved", 0)):
        known["memory." + key] = (value, "MiB")
    known["used_memory"] = known["used_gpu_memory"] = (g.used, "MiB")
    known["utilization.gpu"] = known["utilization.memory"] = (0, "%")
    for key in ("temperature.gpu", "fan.speed", "power.draw", "power.limit", "clocks.sm"):
        known[key] = ("[N/A]", "")
    return known


def query(gpus, pid, count, version, names, formats, only_busy=False):
    names = [name.strip() for name in names.split(",")]
    known = fields_of(Gpu(0, (0,) * 7 + (b"",)), pid, 0, version)
    for name in names:
        if name not in known:
            print(f'Field "{name}" is not a valid field to query.\n')
            sys.exit(2)
    if "csv" not in formats:
        print('"--format=" switch is missing. Please specify csv format.\n')
        sys.exit(6)
    if "noheader" not in formats:
        print(
            ", ".join(name + (f" [{known[name][1]}]" if known[name][1] else "") for name in names)
        )
    for g in gpus:
        if only_busy and not g.used:
            continue
        values = fields_of(g, pid, count, version)
        units = "nounits" not in formats
        cells = (values[name] for name in names)
        print(", ".join(f"{v} {unit}" if unit and units else f"{v}" for v, unit in cells))


USAGE = """\
nvidia-smi (virtual, rushlight {}): answers for the virtual GPUs of one process.
    nvidia-smi                                    table
    nvidia-smi -L                                 list
    nvidia-smi -q [-d MEMORY,UTILIZATION,PIDS]    report
    nvidia-smi --query-gpu=FIELDS --format=csv[,noheader][,nounits]
    nvidia-smi --query-compute-apps=FIELDS --format=csv[,noheader][,nounits]
    -i, --id=N[,N...]                             only these GPUs
"""


def options_of(arguments):
    """A dict of the switches given, those with a value in either form (`-i 0`, `--id=0`)."""
    short = {"-i": "--id", "-d": "--display", "-L": "--list-gpus", "-q": "--query", "-h": "--help"}
    takes_value = ("--id", "--display", "--query-gpu", "--query-compute-apps", "--format")
    found = {}
    rest = iter(arguments)
    for argument in rest:
        key, equals, value = argument.partition("=")
        key = short.get(key, key)
        if key in takes_value:
            found[key] = value if equals else next(rest, "")
        elif key in ("--list-gpus", "--query", "--help"):
            found[key] = ""
        else:
            print(f'Invalid combination of input arguments. "{argument}" is not known to the')
            print("virtual nvidia-smi. Please run 'nvidia-smi -h' for help.\n")
            sys.exit(1)
    return found


def main(page, version, *arguments):
    options = options_of(arguments)
    if "--help" in options:
        print(USAGE.format(version))
        return
    pid, gpus = read_page(page)
    count = len(gpus)
    if "--id" in options:
        wanted = options["--id"].split(",")
        gpus = [g for g in gpus if {str(g.index), g.uuid, g.bus} & set(wanted)]
        if not gpus:
            print("No devices were found")
            sys.exit(6)
    formats = options.get("--format", "").replace(" ", "").split(",")
    if "--list-gpus" in options:
        list_gpus(gpus)
    elif "--query-gpu" in options:
        query(gpus, pid, count, version, options["--query-gpu"], formats)
    elif "--query-compute-apps" in options:
        query(gpus, pid, count, version, options["--query-compute-apps"], formats, only_busy=True)
    elif "--query" in options:
        sections = [s.strip().upper() for s in options.get("--display", "").split(",") if s]
        report(gpus, pid, version, sections)
    else:
        table(gpus, pid, version)


if __name__ == "__main__":
    main(*sys.argv[1:])
