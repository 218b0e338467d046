"""The stores of torch.distributed: torch's answers, time-outs, strangers on the port, Ctrl-C."""

import contextlib
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from datetime import timedelta

import pytest

import rushlight
import rushlight.distributed as dist

SHORT = timedelta(milliseconds=50)
KINDS = ["hash", "file", "tcp", "prefix"]


def make(d, kind, path):
    """A store of torch's or ours, with a short time-out; the second time of the same keys."""
    if kind == "hash":
        store = d.HashStore()
    elif kind == "file":
        store = d.FileStore(path, 1)
    else:
        store = d.TCPStore("127.0.0.1", 0, 1, True, timedelta(seconds=20))
        if kind == "prefix":
            store = d.PrefixStore("outer", d.PrefixStore("inner", store))
    store.set_timeout(SHORT)
    return store


def answer(call):
    """What a call returns, or the name of its error."""
    try:
        value = call()
    except Exception as error:
        return type(error).__name__
    return sorted(value) if isinstance(value, list) and value and value[0] != b"1" else value


def ask_all(d, kind, path):
    s = make(d, kind, path)
    calls = [
        lambda: s.set("a", "x"),
        lambda: s.set("b", b"\xff\x00"),
        lambda: s.set("", "empty"),
        lambda: s.get("a"),
        lambda: s.get("b"),
        lambda: s.get(""),
        lambda: s.set("c", 5),
        lambda: s.set(7, "x"),
        lambda: s.add("n", 3),
        lambda: s.add("n", -5),
        lambda: s.add("n", "x"),
        lambda: s.add("n", 2**63),
        lambda: s.get("n"),
        lambda: s.check(["a"]),
        lambda: s.check(["a", "zz"]),
        lambda: s.check([]),
        lambda: s.wait(["a"]),
        lambda: s.wait([]),
        lambda: s.delete_key("a"),
        lambda: s.compare_set("k", "", "one"),
        lambda: s.compare_set("k", "zero", "two"),
        lambda: s.compare_set("k", "one", "two"),
        lambda: s.compare_set("kk", "first", "second"),
        lambda: s.check(["kk"]),
        lambda: s.append("joined", "ab"),
        lambda: s.append("joined", "cd"),
        lambda: s.get("joined"),
        lambda: s.multi_set(["m1", "m2"], ["1", "2"]),
        lambda: s.multi_get(["m1", "m2"]),
        lambda: s.has_extended_api(),
        lambda: s.barrier("together", 1),
        lambda: s.set_timeout(3),
        lambda: str(s.timeout),
        lambda: s.clone().get("b"),
    ]
    if kind != "file":
        calls += [
            lambda: s.delete_key("a"),  # in a file, torch answers True for ever
            lambda: s.get("missing"),
            lambda: s.wait(["missing"], SHORT),
            lambda: s.queue_push("q", "first"),
            lambda: s.queue_push("q", "second"),
            lambda: s.queue_len("q"),
            lambda: s.queue_pop("q"),
            lambda: s.queue_pop("q", False),
            lambda: s.queue_pop("q", False),
            lambda: s.queue_pop("q"),
            lambda: s.queue_len("none"),
        ]
    else:
        calls += [lambda: s.queue_push("q", "first"), lambda: s.queue_len("q")]
    return [answer(call) for call in calls]


@pytest.mark.parametrize("kind", KINDS)
def test_answers_are_those_of_torch(reference, kind, tmp_path):
    from tests.conftest import ask

    path = str(tmp_path / "theirs")
    expected = ask(lambda torch: [repr(a) for a in ask_all(torch.distributed, kind, path)])
    ours = [repr(a) for a in ask_all(dist, kind, str(tmp_path / "ours"))]
    assert ours == list(expected)


@pytest.mark.parametrize("kind", KINDS)
def test_keys(kind, tmp_path):
    s = make(dist, kind, str(tmp_path / "store"))
    s.multi_set(["a", "b"], ["1", "2"])
    assert sorted(s.list_keys()) == ["a", "b"] and s.num_keys() == 2
    s.set("n", "no number")
    with pytest.raises(ValueError, match="stoll"):
        s.add("n", 1)
    s.add("big", 2**63 - 1)
    with pytest.raises(OverflowError):
        s.add("big", 1)
    with pytest.raises(dist.DistStoreError, match="same size"):
        s.multi_set(["a"], ["1", "2"])
    with pytest.raises(dist.DistStoreError, match=r"wait timeout after 50ms, keys: .*missing"):
        s.multi_get(["a", "missing"])
    with pytest.raises(TypeError, match="timedelta"):
        s.wait(["a"], "soon")
    with pytest.raises(ValueError, match="nan"):
        s.set_timeout(float("nan"))
    s.set_timeout(timedelta.max)
    assert s.get("a") == b"1" and s.timeout > timedelta(days=3650)
    with pytest.raises(ValueError, match="positive"):
        s.barrier("b", 0)


@pytest.mark.parametrize("kind", KINDS)
def test_waiting_ends_when_another_thread_sets(kind, tmp_path):
    s = make(dist, kind, str(tmp_path / "store"))
    s.set_timeout(timedelta(seconds=20))
    other = s.clone()
    got = []
    threads = [threading.Thread(target=lambda: got.append(other.get("late")))]
    if s.has_extended_api():
        third = s.clone()
        threads.append(threading.Thread(target=lambda: got.append(third.queue_pop("q"))))
        threads.append(threading.Thread(target=s.clone().barrier, args=("all", 2)))
    for thread in threads:
        thread.start()
    time.sleep(0.05)
    assert not got
    s.set("late", "now")
    if s.has_extended_api():
        s.queue_push("q", "now")
        s.barrier("all", 2)
    for thread in threads:
        thread.join(20)
    assert set(got) == {b"now"}


def test_errors_and_classes():
    assert issubclass(dist.DistStoreError, dist.DistError) and issubclass(
        dist.DistError, RuntimeError
    )
    assert issubclass(dist.QueueEmptyError, dist.DistStoreError)
    with pytest.raises(TypeError):
        dist.Store()
    with pytest.raises(ValueError, match="not None"):
        dist.PrefixStore("p", None)
    with pytest.raises(ValueError, match="70000"):
        dist.TCPStore("127.0.0.1", 70000, is_master=True)
    with pytest.raises(ValueError, match="port 0"):
        dist.TCPStore("127.0.0.1", 0)
    prefix = dist.PrefixStore("a", dist.PrefixStore("b", dist.HashStore()))
    assert isinstance(prefix.underlying_store, dist.PrefixStore)
    assert isinstance(prefix._underlying_non_prefix_store, dist.HashStore)


def answer_as_a_web_server(listening):
    with listening.accept()[0] as client:
        client.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


def test_no_server_and_a_port_in_use():
    free = socket.create_server(("127.0.0.1", 0))
    port = free.getsockname()[1]
    taken = rf"port {port} is in use by process {os.getpid()}"
    with pytest.raises(dist.DistNetworkError, match=taken):
        dist.TCPStore("127.0.0.1", port, is_master=True)
    web = threading.Thread(target=answer_as_a_web_server, args=(free,))
    web.start()
    with pytest.raises(dist.DistNetworkError, match=r"not a TCPStore|went away"):
        dist.TCPStore("127.0.0.1", port, timeout=timedelta(seconds=1))
    web.join()
    free.close()
    start = time.monotonic()
    with pytest.raises(dist.DistNetworkError, match=f"timed out after 200ms .*, {port}"):
        dist.TCPStore("127.0.0.1", port, timeout=timedelta(milliseconds=200))
    assert time.monotonic() - start < 60  # connecting times out after 300
    with pytest.raises(dist.DistStoreError, match="1/3 clients joined"):
        dist.TCPStore("127.0.0.1", 0, 3, True, timedelta(milliseconds=100))


def test_a_listening_socket_and_a_shared_server():
    listening = socket.create_server(("127.0.0.1", 0))
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, master_listen_fd=listening.fileno())
    assert store.port == listening.getsockname()[1]
    listening.close()
    same = dist.TCPStore("127.0.0.1", store.port)
    same.set("a", "b")
    assert store.get("a") == b"b" and (store.host, store.port) == ("127.0.0.1", same.port)
    with pytest.raises(ValueError, match="not a listening"):
        dist.TCPStore("127.0.0.1", 0, is_master=True, master_listen_fd=0)
    port = dist.TCPStore("127.0.0.1", 0, is_master=True).port
    first, second = (
        dist.TCPStore("127.0.0.1", port, is_master=True, multi_tenant=True) for _ in range(2)
    )
    first.set("k", "v")
    assert second.get("k") == b"v"


def message(body):
    return struct.pack("<I", len(body)) + body


HELLO = b"rushlight store 1\n"
RUBBISH = [
    b"GET / HTTP/1.1\r\n\r\n",
    os.urandom(4096),
    HELLO + struct.pack("<I", 2**32 - 1),
    HELLO + message(b""),
    HELLO + message(b"\xff" * 40),
    HELLO + message(b"\0" + b"\0" * 8 + struct.pack("<II", 2**32 - 1, 7)),
    HELLO + message(b"\0" + b"\0" * 8 + struct.pack("<III", 1, 2**31, 0)),
    HELLO + message(b"\1" + b"\0" * 8 + struct.pack("<I", 10**6) + b"\0" * 4 * 10**6 + b"\0" * 4),
    HELLO + message(b"\3" + b"\0" * 16),  # compare_set without a key
    HELLO + b"\x10\0\0",
]


def test_strangers_on_the_port():
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, timeout=timedelta(seconds=5))
    with contextlib.ExitStack() as strangers:  # connections that stay open and send nothing

        def stranger():
            return strangers.enter_context(socket.create_connection(("127.0.0.1", store.port)))

        for bytes_ in RUBBISH * 3:
            with contextlib.suppress(ConnectionError):
                stranger().sendall(bytes_)
            store.set("a", "b")
        web = stranger()
        with contextlib.suppress(ConnectionError):
            web.sendall(RUBBISH[0])
            web.settimeout(5)
            assert web.recv(len(HELLO)) in (HELLO, b"") and web.recv(1) == b""
        # One that asks much and reads nothing is not read from for ever.
        store.set("big", "x" * (8 << 20))
        slow = stranger()
        slow.settimeout(0.5)
        get = message(b"\1" + b"\0" * 8 + struct.pack("<II", 1, 3) + b"big" + b"\0" * 4)
        slow.sendall(HELLO)
        with pytest.raises(TimeoutError):
            for _ in range(10**4):
                slow.sendall(get * 100)
        assert len(store.get("big")) == 8 << 20
        with pytest.raises(ValueError, match="MiB at most"):
            store.set("huge", "x" * (65 << 20))
        with pytest.raises(ValueError, match="MiB at most"):
            store.multi_get(["big"] * 100)
        assert store.get("a") == b"b"


def test_what_a_client_asked_for_is_left_when_it_has_gone():
    store = dist.TCPStore("127.0.0.1", 0, is_master=True)
    store.set("big", "x" * (8 << 20))
    get = message(b"\1" + b"\0" * 8 + struct.pack("<II", 1, 3) + b"big" + b"\0" * 4)
    add = message(b"\2" + struct.pack("<qII", 1, 1, 5) + b"count" + b"\0" * 4)
    with socket.create_connection(("127.0.0.1", store.port)) as client:
        client.sendall(HELLO + add + (get + add) * 50)  # and reads nothing
        store.wait(["count"])
    for _ in range(3):  # the end of the connection comes to the server before the last of these
        store.set("a", "b")
    assert store.add("count", 0) == 1


def test_a_file_that_is_no_store(tmp_path):
    path = tmp_path / "file"
    for content in (b"some text", HELLO + b"\1", HELLO + message(b"\1" + b"\0" * 16)):
        path.write_bytes(content)
        with pytest.raises(dist.DistStoreError, match="not a store's file"):
            dist.FileStore(str(path), 1)
        assert path.read_bytes() == content
    with pytest.raises(dist.DistStoreError, match="cannot open"):
        dist.FileStore(str(tmp_path / "none" / "file"), 1)
    with pytest.raises(dist.DistStoreError, match=r"cannot open|not a file"):
        dist.FileStore(str(tmp_path), 1)
    path.unlink()
    first, second = (dist.FileStore(str(path), 2) for _ in range(2))
    first.set("a", "b")
    assert second.get("a") == b"b"
    del first
    assert path.exists()
    del second
    assert not path.exists()


def test_what_a_client_leaves_when_it_ends():
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, timeout=timedelta(seconds=10))
    client = store.clone()
    client._leave_will("gone", "client")
    assert not store.check(["gone"])
    del client
    assert store.get("gone") == b"client"


def run(program, *arguments, **kwargs):
    env = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(rushlight.__file__))}
    program = "import rushlight.distributed as dist, sys\n" + program
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env, **kwargs,
    )  # fmt: skip


@pytest.mark.parametrize("kind", KINDS[:3])
def test_ctrl_c_ends_a_wait(kind, tmp_path):
    made = {
        "hash": "HashStore()",
        "file": "FileStore(sys.argv[1])",
        "tcp": "TCPStore('127.0.0.1', 0, is_master=True)",
    }[kind]
    process = run(
        f"""
store = dist.{made}
print("waits", flush=True)
try:
    store.get("never")
except KeyboardInterrupt:
    store.set("still", "there")
    print(store.get("still"))
""",
        str(tmp_path / "store"),
    )
    assert process.stdout.readline() == "waits\n"
    time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=20)[0] == "b'there'\n"
    assert process.returncode == 0


def test_processes_and_a_server_that_dies():
    program = """
store = dist.TCPStore("127.0.0.1", 0, is_master=True)
print(store.port, flush=True)
print(store.get("hello"), flush=True)
sys.stdin.read()
"""
    server = run(program, stdin=subprocess.PIPE)
    port = int(server.stdout.readline())
    client = dist.TCPStore("localhost", port, timeout=timedelta(seconds=10))
    client.set("hello", "you")
    assert server.stdout.readline() == "b'you'\n"
    server.kill()
    server.communicate(timeout=20)
    start = time.monotonic()
    with pytest.raises(dist.DistNetworkError, match="went away"):
        client.get("more")
    client.set_timeout(timedelta(milliseconds=100))
    with pytest.raises(dist.DistNetworkError):
        client.get("more")
    assert time.monotonic() - start < 60


def test_a_forked_child_has_a_connection_of_its_own():
    program = """
import os
store = dist.TCPStore("127.0.0.1", 0, is_master=True)
child = os.fork()
if not child:
    for i in range(200):
        store.add("n", 1)
    store.set("done", "1")
    del store
    os._exit(0)
for i in range(200):
    store.add("n", 1)
store.wait(["done"])
print(store.get("n"), os.waitpid(child, 0)[1])
"""
    out, err = run(program).communicate(timeout=30)
    assert out == "b'400' 0\n", err


@pytest.mark.parametrize("kind", ["HashStore", "FileStore", "TCPStore"])
def test_children_forked_while_another_thread_writes_go_on(kind, tmp_path):
    program = """
import os, signal, sys, threading
kind, path = sys.argv[1:]
store = {
    "HashStore": dist.HashStore,
    "FileStore": lambda: dist.FileStore(path, 1),
    "TCPStore": lambda: dist.TCPStore("127.0.0.1", 0, is_master=True),
}[kind]()
store.set("n", "0")

def write():
    while True:
        store.add("n", 1)
        store.set("much", "x" * 1000)
        store.delete_key("much")

def wait():
    try:
        store.clone().wait(["never"])
    except dist.DistError:
        pass

for each in (write, write, wait):
    threading.Thread(target=each, daemon=True).start()
for _ in range(150):
    child = os.fork()
    if not child:
        signal.alarm(10)
        store.add("n", 1)
        store.set("mine", "1")
        store.get("mine")
        os._exit(0)
    code = os.waitpid(child, 0)[1]
    assert code == 0, code
print("all ended")
os._exit(0)
"""
    out, err = run(program, kind, str(tmp_path / "store")).communicate(timeout=60)
    assert out == "all ended\n", err
