"""What ptxas says of each kernel, and how long each file took, as a table that can fail.

    python tools/cuda_report.py BUILD [--seconds LIMIT]    the table of a build folder
    python tools/cuda_report.py --run COMMAND...           one compile, its words kept for the table

The second form is a compiler launcher:
    cmake -DRUSHLIGHT_CUDA=ON -DCMAKE_CUDA_FLAGS="-Xptxas -v" \
          -DCMAKE_CUDA_COMPILER_LAUNCHER="python;$PWD/tools/cuda_report.py;--run" ...
It leaves OBJECT.ptxas beside each object. The table fails where a kernel spills registers or keeps
anything in local memory, and where a file took more processor time than LIMIT.
"""

import argparse
import json
import pathlib
import re
import resource
import shutil
import subprocess
import sys

# Where local memory is not ours to avoid: CUB's kernels, and CUDA's sin, cos and tan, which keep
# the digits of 2 / pi there for angles far out.
ALLOWED = re.compile(
    r"^cub::|<(?:Sin|Cos|Tan|Digamma|Polygamma|BesselJ[01]|BesselY[01]|SphericalBesselJ0|AiryAi"
    r"|Mvlgamma|Sinc|(?:Shifted)?ChebyshevPolynomial[TUVW]),"
    # a table of weights for each axis, not for each element; the loop of a law's rejections
    r"|^write_taps<|^draw_items<\(Law\)3>"
)
ENTRY = re.compile(r"Compiling entry function '(\S+)'")
FUNCTION = re.compile(r"Function properties for (\S+)")
MEMORY = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
REGISTERS = re.compile(r"Used (\d+) registers")


def run(command):
    """Runs a compile and notes beside its object what it said and its processor time."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode or "-o" not in command:
        sys.stdout.write(done.stdout)
        return done.returncode
    # What is left when the report's lines are taken out is a warning, and worth reading now.
    rest = [line for line in done.stdout.splitlines() if not is_report(line)]
    sys.stdout.write("".join(line + "\n" for line in rest))
    to = pathlib.Path(command[command.index("-o") + 1])
    source = next((a for a in reversed(command) if a.endswith(".cu")), to.name)
    _, _, file = source.rpartition("kernels/cuda/")
    note = {
        "file": file.rpartition("/Unity/")[2],  # several files, compiled together
        "seconds": round(used.ru_utime + used.ru_stime, 1),
        "said": done.stdout,
    }
    to.with_name(to.name + ".ptxas").write_text(json.dumps(note))
    return 0


def is_report(line):
    return line.startswith("ptxas info") or MEMORY.search(line) is not None


def kernels_of(said):
    """name -> {stack, stores, loads, registers}, for kernels and for functions that are called."""
    found, name = {}, None
    for line in said.splitlines():
        if match := ENTRY.search(line) or FUNCTION.search(line):
            name = match[1]
            found.setdefault(name, {"stack": 0, "stores": 0, "loads": 0, "registers": 0})
        elif name and (match := MEMORY.search(line)):
            stack, stores, loads = map(int, match.groups())
            found[name].update(stack=stack, stores=stores, loads=loads)
        elif name and (match := REGISTERS.search(line)):
            found[name]["registers"] = int(match[1])
    return found


def readable(names):
    """Mangled names as C++ writes them, without arguments and our own namespaces."""
    tool = shutil.which("cu++filt") or shutil.which("c++filt")
    if not tool or not names:
        return {n: n for n in names}
    text = subprocess.run([tool], input="\n".join(names), capture_output=True, text=True).stdout
    plain = (
        re.sub(r"rushlight::(gpu::)?|<unnamed>::|\(anonymous namespace\)::|^void ", "", line)
        for line in text.splitlines()
    )
    return dict(zip(names, plain, strict=True))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=90, help="of processor time, one file")
    given = parser.parse_args()
    notes = [json.loads(p.read_text()) for p in sorted(given.build.rglob("*.cu.o.ptxas"))]
    if not notes:
        sys.exit(f"no *.cu.o.ptxas under {given.build}: configure with the launcher named above")
    wrong = []
    print(f"{'file':<32}{'s':>6}{'kernels':>9}{'registers':>11}{'stack':>7}{'spills':>8}")
    for note in notes:
        kernels = kernels_of(note["said"])
        names = readable(list(kernels))
        rows = [(names[k], v) for k, v in kernels.items()]
        most = {key: max((v[key] for _, v in rows), default=0) for key in ("registers", "stack")}
        spills = max((v["stores"] + v["loads"] for _, v in rows), default=0)
        entries = len(ENTRY.findall(note["said"]))
        print(
            f"{note['file']:<32}{note['seconds']:>6}{entries:>9}{most['registers']:>11}"
            f"{most['stack']:>7}{spills:>8}"
        )
        wrong += [
            f"{note['file']}: {name[:150]}: {v['stack']} bytes in local memory, "
            f"{v['stores'] + v['loads']} spilled"
            for name, v in rows
            if v["stores"] + v["loads"] or (v["stack"] and not ALLOWED.search(name))
        ]
        if note["seconds"] > given.seconds:
            wrong.append(f"{note['file']}: {note['seconds']} s, more than {given.seconds}")
    total = sum(note["seconds"] for note in notes)
    print(f"{len(notes)} files, {total:.0f} s of processor time, {len(wrong)} complaints")
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[2:]) if sys.argv[1:2] == ["--run"] else main())
