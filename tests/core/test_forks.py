"""A process that forks while other threads compute: the child computes too."""

import subprocess
import sys

PROGRAM = """
import os, threading, time, warnings
import rushlight as torch

def draw():
    while True:
        x = torch.randn(50, 50, requires_grad=True)
        (x @ x).sum().backward()
        torch.randn(100, generator=own)

def remember():
    with torch.autograd.detect_anomaly(check_nan=False):
        while True:
            x = torch.ones(2, requires_grad=True)
            (x * x * x).sum().backward()

own = torch.Generator()
warnings.simplefilter("ignore")
for each in (draw, draw, draw, remember):
    threading.Thread(target=each, daemon=True).start()
time.sleep(0.2)
for _ in range(20):
    child = os.fork()
    if child == 0:
        torch.randn(100, generator=own)
        grandchild = os.fork()
        x = torch.randn(60, 60, requires_grad=True)
        (x @ x).sum().backward()
        torch.manual_seed(0)
        os._exit(os.waitpid(grandchild, 0)[1] if grandchild else 0)
    start = time.monotonic()
    while time.monotonic() < start + 20:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        time.sleep(0.002)
    else:
        os.kill(child, 9)
        os.waitpid(child, 0)
        print("a child waits")
        os._exit(1)
    assert status == 0, status
print("all children ended")
os._exit(0)
"""


def test_forked_while_other_threads_draw():
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120, check=False
    )
    assert run.stdout + run.stderr == "all children ended\n"
