"""report.md and report.json of tests/gpu/run.sh: a row for each step, the tables of those that
print one, timings and counts of kernels. Steps that were not run this time keep their rows."""

import datetime
import json
import subprocess


def gpu_name():
    query = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]
    try:
        return subprocess.run(query, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "no GPU found by nvidia-smi"


def read(path, otherwise):
    return json.loads(path.read_text()) if path.exists() else otherwise


def verdict(row):
    return {0: "ok", None: "not run"}.get(row["code"], "FAILED")


def merged(work, rows, order):
    """The rows of earlier runs and of this one, in the order of the steps."""
    known = {row["step"]: row for row in read(work / "report.json", {}).get("steps", [])}
    known |= {row["step"]: row for row in rows}
    return [known[name] for name in order if name in known]


def write(work, rows, order):
    report = {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "gpu": gpu_name(),
        "steps": merged(work, rows, order),
        "first_look": read(work / "first_look.json", []),
        "launches": read(work / "launches.json", []),
        "timings": read(work / "timings.json", []),
    }
    (work / "report.json").write_text(json.dumps(report, indent=1))
    lines = [f"# {report['gpu']}", "", report["date"], "", "| step | | s | last line |"]
    lines.append("|---|---|---|---|")
    lines += [
        f"| {r['step']} | {verdict(r)} | {r['seconds']} | {r['last']} |" for r in report["steps"]
    ]
    lines += ["", "| timing | ours | torch | ratio | target |", "|---|---|---|---|---|"]
    lines += [
        f"| {t['name']} | {t['ours']:.3g} us | {t['theirs']:.3g} us | "
        f"{t['ours'] / t['theirs']:.2f} | {t['target']} |"
        for t in report["timings"]
    ]
    for row in report["steps"]:
        if row.get("output"):
            lines += ["", f"## {row['step']}", "", "```", row["output"].rstrip(), "```"]
    (work / "report.md").write_text("\n".join(lines) + "\n")
