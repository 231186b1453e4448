"""Processes that meet, fall silent, end or fail: threads here, on the loopback."""

import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

import jax
import numpy as np
import pytest

from sims.__main__ import main
from sims.hosts import Group, Peer
from sims.meeting import connect
from tests.sims.ports import free_port

PATIENCE = 240


def test_a_coordinator_that_does_not_answer():
    port = free_port()
    with pytest.raises(ConnectionError) as raised:
        connect(f"127.0.0.1:{port}", 1, 2, timeout=0.2)
    said = f"coordinator 127.0.0.1:{port} does not answer within 0.2 seconds: Connection refused"
    assert str(raised.value) == said


def test_a_name_that_is_looked_up_for_minutes(monkeypatch):
    """As resolvers do where no server answers them."""
    looked_up, asked = threading.Event(), socket.getaddrinfo

    def slow(host, *given, **more):
        if host == "nowhere":
            looked_up.wait(PATIENCE)
        return asked("localhost", *given, **more)

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    begun = time.monotonic()
    with pytest.raises(ConnectionError) as raised:
        connect("nowhere:1234", 1, 2, timeout=0.2)
    looked_up.set()
    said = "coordinator nowhere:1234 does not answer within 0.2 seconds: its name is still looked up"
    assert str(raised.value) == said
    assert time.monotonic() - begun < PATIENCE / 2


def test_a_port_in_use(capsys):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        coordinator = f"127.0.0.1:{port}"
        play = ["run", "azize_fig2_easy", "--games", "10", "--coordinator", coordinator]
        assert main([*play, "--process-id", "0", "--processes", "2"]) == 2
    said = f"error: coordinator is '{coordinator}', but process 0 cannot serve port {port}: "
    shown = capsys.readouterr().err
    assert shown.startswith(said)
    assert "in use; choose a free port" in shown
    assert shown.count("\n") == 1


@contextmanager
def foreign(answer):
    """A server that says something else to all who call, or nothing, or closes at once; its HOST:PORT."""
    calls, over = [], threading.Event()

    def serve():
        while not over.is_set():
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                continue
            calls.append(connection)
            if answer is None:
                connection.close()
            else:
                connection.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.05)
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"127.0.0.1:{listener.getsockname()[1]}"
        finally:
            over.set()
            thread.join()
            for connection in calls:
                connection.close()


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "'HTTP/1.1 400 Bad Request'"),
        (b"SSH-2.0-OpenSSH_9.6\r\n", "'SSH-2.0-OpenSSH_9.6'"),
        (b"\x00\xff\x00", "'\\x00\ufffd\\x00'"),
        (b"\n\n", "''"),
        (b'{"status": "ok"}\n', "{'status': 'ok'}"),
        (b"{" * 10_000, "'" + "{" * 60 + "'"),
    ],
)
def test_a_foreign_server(answer, said):
    with foreign(answer) as coordinator, pytest.raises(ConnectionError) as raised:
        connect(coordinator, 1, 2, timeout=PATIENCE)
    assert str(raised.value) == (
        f"coordinator {coordinator} is another program, which says {said}; name the port of process 0"
    )


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"", "it accepts, and then says nothing: another program, or a process 0 that is stopped"),
        (b'{"welcome"', "it accepts, and then says nothing: another program, or a process 0 that is stopped"),
        (None, "it closes the connection|Connection reset by peer|Broken pipe"),
    ],
)
def test_a_server_that_says_nothing(answer, said):
    with foreign(answer) as coordinator, pytest.raises(ConnectionError, match=said) as raised:
        connect(coordinator, 1, 2, timeout=0.5)
    assert str(raised.value).startswith(f"coordinator {coordinator} does not answer within 0.5 seconds: ")


@pytest.fixture
def threads():
    with ThreadPoolExecutor(8) as pool:
        yield pool


def joining(threads, count, **timeouts):
    """The address, and for each process of so many, which are threads here, what will have joined it to the others."""
    coordinator = f"127.0.0.1:{free_port()}"
    waits = [timeouts.get(f"p{i}", PATIENCE) for i in range(count)]
    return coordinator, [
        threads.submit(connect, coordinator, i, count, "a run", wait) for i, wait in enumerate(waits) if wait
    ]


def test_twins_and_processes_of_another_run_are_refused(threads):
    coordinator, (first, second) = joining(threads, 3, p2=0)
    with second.result() as one:
        for arguments, said in (
            ((1, 3, "a run"), "process 1 has joined already; give every process a number of its own"),
            ((2, 3, "chess"), "process 0 plays a run, this one chess; use one command, and one version"),
            ((1, 2, "a run"), "process 0 was told of 3 processes, this one of 2; name one number"),
        ):
            with pytest.raises(ValueError, match=f"^{said}$"):
                connect(coordinator, *arguments, PATIENCE)
        with connect(coordinator, 2, 3, "a run", PATIENCE) as two, first.result() as zero:
            with pytest.raises(ValueError, match="process 2 has joined already"):  # late, too
                connect(coordinator, 2, 3, "a run", PATIENCE)
            rows = [
                threads.submit(g.gathered, lambda g=g: np.array([g.index, 5]), 2) for g in (zero, one, two)
            ]
            for row in rows:
                np.testing.assert_array_equal(row.result(), [[0, 5], [1, 5], [2, 5]])


def test_what_else_calls_process_0_is_not_answered(threads):
    coordinator, (first,) = joining(threads, 2, p1=0)
    host, _, port = coordinator.rpartition(":")
    for call in (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", b"\xff\n", b"[]\n", b"{}\n", b'{"process": []}\n'):
        give_up = time.monotonic() + PATIENCE
        while True:
            try:
                connection = socket.create_connection((host, int(port)))
                break
            except ConnectionRefusedError:
                assert time.monotonic() < give_up
                time.sleep(0.02)
        with connection, suppress(ConnectionResetError):  # closed with something unread
            connection.sendall(call)
            connection.settimeout(PATIENCE)
            assert connection.recv(100) == b""
    with connect(coordinator, 1, 2, "a run", PATIENCE) as one, first.result() as zero:
        rows = [threads.submit(g.gathered, lambda: np.array([3]), 1) for g in (zero, one)]
        assert [row.result().tolist() for row in rows] == [[[3], [3]]] * 2


def test_a_process_that_does_not_come(threads):
    _, (first, second) = joining(threads, 3, p0=2, p2=0)
    said = "^process 2 has not joined within 2 seconds; start all of them again to go on$"
    with second.result() as one, pytest.raises(ConnectionError, match=said):
        one.gathered(lambda: np.zeros(0), 0)
    with pytest.raises(ConnectionError, match=said):
        first.result()


def ends_of(threads, groups):
    """What each of them raises in a step that they do together."""
    rows = [threads.submit(group.gathered, lambda: np.array([1]), 1) for group in groups]
    return [str(row.exception()) for row in rows]


@pytest.mark.parametrize("who", [0, 1])
def test_a_silent_process_ends_all(threads, who):
    _, joined = joining(threads, 3)
    groups = [group.result() for group in joined]
    for group in groups:  # process 2 hears of a silent process 1 from process 0
        group.timeout = 1.0 if who == 0 or group.index == 0 else PATIENCE
    said = f"process {who} has said nothing for 1 seconds; end it, and start all of them again to go on"
    assert ends_of(threads, [group for group in groups if group.index != who]) == [said] * 2
    for closed in [threads.submit(group.close) for group in groups]:
        closed.result()


@pytest.mark.parametrize("who", [0, 1])
def test_a_process_that_is_gone_ends_all(threads, who):
    _, joined = joining(threads, 3)
    groups = [group.result() for group in joined]
    groups[who].close()
    said = f"process {who} is gone; start all of them again to go on"
    assert ends_of(threads, [group for group in groups if group.index != who]) == [said] * 2
    for closed in [threads.submit(group.close) for group in groups]:
        closed.result()


@pytest.mark.parametrize("who", [0, 1])
def test_a_step_that_fails_in_one_ends_all(threads, who):
    _, joined = joining(threads, 3)
    groups = [group.result() for group in joined]

    def step(index):
        if index == who:
            raise OSError(28, "disk full")
        return np.array([1])

    def played(group):
        with group:
            return group.gathered(lambda: step(group.index), 1)

    for index, row in enumerate([threads.submit(played, group) for group in groups]):
        with pytest.raises((OSError, ValueError)) as raised:
            row.result()
        said = (
            "[Errno 28] disk full"
            if index == who
            else f"process {who} failed, as it says itself; this one stops too"
        )
        assert str(raised.value) == said


def test_what_is_said_after_the_rows_is_not_lost():
    here, there = socket.socketpair()
    with there, Group(1, 2, PATIENCE, {0: Peer(here, 0)}) as group:
        there.sendall(b'{"rows": [[3], [4]]}\n{"ended": "all over", "lost": true}\n')
        there.shutdown(socket.SHUT_WR)
        assert group.gathered(lambda: np.array([4]), 1).tolist() == [[3], [4]]
        with pytest.raises(ConnectionError, match=r"^all over$"):
            group.gathered(lambda: np.array([5]), 1)


def test_rows_larger_than_any_buffer(threads):
    _, joined = joining(threads, 2)
    rng = np.random.default_rng(0)
    rows = rng.integers(-(2**63), 2**63 - 1, (2, 300_000), endpoint=True)

    def played(group):
        with group:
            return group.gathered(lambda: rows[group.index], rows.shape[1])

    for found in [threads.submit(played, group.result()) for group in joined]:
        np.testing.assert_array_equal(found.result(), rows)


@pytest.mark.parametrize("process", [0, 1])
def test_slurm_says_which_process_this_is(process, monkeypatch):
    port = free_port()
    names = {"JOB_ID": 5, "STEP_NODELIST": "localhost", "NTASKS": 2, "PROCID": process, "LOCALID": 0}
    for name, value in names.items():
        monkeypatch.setenv(f"SLURM_{name}", str(value))
    monkeypatch.setenv("JAX_COORDINATOR_PORT", str(port))
    monkeypatch.delenv("JAX_COORDINATOR_ADDRESS", raising=False)
    said = ["process 1 has not joined within 0.2", f"coordinator localhost:{port} does not answer within 0.2"]
    visible = {}
    monkeypatch.setattr(jax.config, "update", visible.__setitem__)
    with pytest.raises(ConnectionError, match=f"^{said[process]} seconds"):
        connect(None, None, None, timeout=0.2)
    assert visible == {"jax_cuda_visible_devices": "0", "jax_rocm_visible_devices": "0"}
