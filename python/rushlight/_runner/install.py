# `rushlight install PACKAGES`: pip installs what libraries need, less torch and what comes with it.
# pip's own resolver chooses the versions: for it alone, in a folder that is deleted afterwards,
# it finds wheels of metadata with torch's name and our version. They are never installed.
import json
import os
import subprocess
import sys
import tempfile
import zipfile

from .alias import VERSIONS

# What programs get from rushlight, or do without -> (version, what libraries expect it to bring).
LEFT_OUT = {
    "torch": (str(VERSIONS["torch"]), ("numpy", "typing-extensions", "jinja2")),
    "torchvision": (str(VERSIONS["torchvision"]), ("numpy", "pillow")),
    "torchaudio": (str(VERSIONS["torch"]), ()),
    "triton": ("99+rushlight", ()),
}


def write_wheels(folder: str) -> str:
    """Writes the wheels of metadata; returns the path of the constraints that choose them."""
    for name, (version, needs) in LEFT_OUT.items():
        info = f"{name}-{version}.dist-info"
        metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        wheel = "Wheel-Version: 1.0\nGenerator: rushlight\nRoot-Is-Purelib: true\nTag: py3-none-any"
        with zipfile.ZipFile(f"{folder}/{name}-{version}-py3-none-any.whl", "w") as file:
            file.writestr(
                f"{info}/METADATA", metadata + "".join(f"Requires-Dist: {n}\n" for n in needs)
            )
            file.writestr(f"{info}/WHEEL", wheel + "\n")
            file.writestr(f"{info}/RECORD", "")
    path = os.path.join(folder, "constraints.txt")
    with open(path, "w") as text:
        text.writelines(f"{name}=={version}\n" for name, (version, _) in LEFT_OUT.items())
    return path


def install(arguments: list[str]) -> int:
    """Installs what `pip install` with these arguments would, less LEFT_OUT; returns pip's code."""
    pip = [sys.executable, "-m", "pip", "install"]
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        constraints = write_wheels(folder)
        dry_run = ["--dry-run", "--report", report, "--find-links", folder]
        first = [*pip, *dry_run, "--constraint", constraints, *arguments]
        done = subprocess.run(first, stdout=subprocess.PIPE, text=True)
        if done.returncode:
            print(done.stdout, end="")  # where pip says which package needs which version
            return done.returncode
        with open(report) as file:
            chosen = json.load(file)["install"]
        names = {item["metadata"]["name"]: item for item in chosen}
        for name in LEFT_OUT:
            if name in names and names[name].get("requested"):
                print(
                    f"rushlight: {name} itself is not installed: `rushlight run` serves `import "
                    f"{name}`\ntake it out of the list of packages",
                    file=sys.stderr,
                )
                return 2
        rest = os.path.join(folder, "rest.txt")
        with open(rest, "w") as text:
            text.writelines(
                f"{name}=={item['metadata']['version']}\n"
                for name, item in names.items()
                if name not in LEFT_OUT and "dir_info" not in item["download_info"]
            )
        code = subprocess.call([*pip, "--no-deps", "--requirement", rest, *arguments])
    left = [name for name in LEFT_OUT if name in names]
    if left and not code:
        print(
            f"rushlight: left out {', '.join(left)} and what they would bring: rushlight takes "
            "their place; start programs with `rushlight run`"
        )
    return code
