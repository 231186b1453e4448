"""Several processes on the loopback, by JAX's distributed runtime, and several simulated devices."""

import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import jax
import numpy as np
import pytest

import mipsim as mi
from sims.__main__ import main
from sims.hosts import Group, connect
from sims.runner import run, run_on_hosts, shard_path, store_path
from tests.sims.tiny_study import TINY

ROOT = Path(__file__).parents[2]
GAMES = 200_003
PATIENCE = 240
TWO = ("--process-id", "0", "--processes", "2")


def same(a, b):
    return np.array_equal(a.out, b.out) and np.array_equal(a.inside, b.inside) and a.manifest == b.manifest


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The file that one process writes."""
    folder = tmp_path_factory.mktemp("alone")
    run(TINY, GAMES, directory=folder)
    return store_path(TINY, TINY.seed, folder)


@pytest.fixture
def start():
    """Starts `tiny_study.py ARGUMENTS`; whatever still runs at the end of the test is killed."""
    running = []

    def started(*arguments, **environment):
        process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("tiny_study.py")), *map(str, arguments)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        running.append(process)
        return process

    yield started
    for process in running:
        process.kill()
        process.communicate()


def free_port():
    """Below the ports that systems hand out, so that no other program is given it between here and its use."""
    while True:
        port = 20_000 + secrets.randbelow(12_000)
        with socket.socket() as listener, suppress(OSError):
            listener.bind(("127.0.0.1", port))
            return port


def hosts(folder, count):
    """The arguments of process i of so many, each with a folder of its own as if on a disk of its own."""
    joined = ["--coordinator", f"127.0.0.1:{free_port()}", "--processes", count]
    play = ["run", "tiny", "--games", GAMES, *joined]
    return [[*play, "--process-id", i, "--out", folder / str(i)] for i in range(count)]


def finish(processes):
    for process in processes:
        _, said = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, said


def test_four_processes_give_the_counts_of_one(tmp_path, start, alone):
    finish([start(*arguments) for arguments in hosts(tmp_path, 4)])
    assert store_path(TINY, TINY.seed, tmp_path / "0").read_bytes() == alone.read_bytes()
    assert [p.name for p in tmp_path.rglob("*.npz")] == ["tiny-4.npz"]  # the shares are gone


@pytest.mark.slow
@pytest.mark.parametrize("who", [0, 1])
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (signal.SIGKILL, "is gone; start all of them again to go on"),
        (signal.SIGSTOP, "has said nothing for 20 seconds; end it, and start all of them again to go on"),
    ],
)
def test_one_of_two_ends_and_all_start_again(tmp_path, start, alone, who, fault, said):
    run(TINY, 1_000, directory=tmp_path / "0")  # process 0 goes on from an earlier, shorter run
    rest = range(1_000, GAMES)
    paths = [shard_path(TINY, TINY.seed, tmp_path / str(i), rest, (i, 2)) for i in (0, 1)]
    halted = [[*arguments, "--chunk", 1, "--hosts-timeout", 20] for arguments in hosts(tmp_path, 2)]
    processes = [start("--halt", *arguments) for arguments in halted]
    give_up = time.monotonic() + PATIENCE
    while not all(path.exists() and mi.Histogram.load(path).games > 0 for path in paths):
        assert all(p.poll() is None for p in processes), [p.communicate() for p in processes]
        assert time.monotonic() < give_up
        time.sleep(0.02)
    processes[who].send_signal(fault)
    told = time.monotonic()
    assert processes[1 - who].communicate(timeout=PATIENCE)[1] == f"error: process {who} {said}\n"
    assert time.monotonic() - told < 40
    assert processes[1 - who].returncode == 2
    if fault == signal.SIGSTOP:  # it goes on, and finds that the others have ended
        processes[who].send_signal(signal.SIGCONT)
        shown = processes[who].communicate(timeout=PATIENCE)[1]
        assert shown.startswith("error: process ")
        assert shown.endswith("start all of them again to go on\n")
        assert shown.count("\n") == 1
        assert processes[who].returncode == 2
    kept = [mi.Histogram.load(path).games for path in paths]
    assert all(0 < games < len(rest) // 2 for games in kept)
    finish([start(*arguments) for arguments in hosts(tmp_path, 2)])
    assert store_path(TINY, TINY.seed, tmp_path / "0").read_bytes() == alone.read_bytes()
    assert [p.name for p in tmp_path.rglob("*.npz")] == ["tiny-4.npz"]


def test_a_shard_that_is_told_to_end_goes_on(tmp_path, start, alone):
    arguments = ["run", "tiny", "--games", GAMES, "--out", tmp_path, "--shard", "0/1"]
    process = start("--halt", *arguments, "--chunk", 1)
    path = shard_path(TINY, TINY.seed, tmp_path, range(GAMES), (0, 1))
    give_up = time.monotonic() + PATIENCE
    while not (path.exists() and mi.Histogram.load(path).games > 0):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < give_up
        time.sleep(0.02)
    process.terminate()
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 128 + signal.SIGTERM
    assert said == f"interrupted; finished chunks are kept in {tmp_path}\n"
    assert 0 < mi.Histogram.load(path).games < GAMES
    done = run(TINY, GAMES, directory=tmp_path, shard=(0, 1))
    whole = mi.Histogram.load(alone)
    assert same(mi.Histogram(done.edges, done.out, done.inside, whole.manifest), whole)
    assert not list(tmp_path.glob(".*"))


def test_four_devices_give_the_counts_of_one(tmp_path, start, alone):
    four = {"XLA_FLAGS": "--xla_force_host_platform_device_count=4"}
    spread = start("run", "tiny", "--games", GAMES, "--out", tmp_path, "--devices", 4, **four)
    _, said = spread.communicate(timeout=PATIENCE)
    assert spread.returncode == 0, said
    assert store_path(TINY, TINY.seed, tmp_path).read_bytes() == alone.read_bytes()


def test_a_group_of_one_gives_the_counts_of_run(tmp_path):
    for games in (500, 900, 900, 300):  # afresh, extended, read back, and fewer than stored
        assert same(run_on_hosts(TINY, games, directory=tmp_path), run(TINY, games))
    assert [p.name for p in tmp_path.iterdir()] == ["tiny-4.npz"]
    assert mi.Histogram.load(tmp_path / "tiny-4.npz").games == 900


def test_a_failure_in_a_step_is_raised():
    def broken():
        raise OSError(28, "disk full")

    with pytest.raises(OSError, match="disk full"):
        Group().gathered(broken, 1)


def test_a_stored_result_of_another_run_is_refused(tmp_path):
    histogram = run(TINY, 100)
    other = mi.Histogram(histogram.edges, histogram.out, histogram.inside, {**histogram.manifest, "seed": 5})
    other.save(store_path(TINY, TINY.seed, tmp_path))
    with pytest.raises(ValueError, match=r"tiny-4\.npz belongs to another run, which differs in seed"):
        run_on_hosts(TINY, 200, directory=tmp_path)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--coordinator", "nowhere"], "coordinator is 'nowhere'; it must be HOST:PORT"),
        (["--coordinator", "127.0.0.1:9", "--process-id", "2", "--processes", "2"], "process-id is 2"),
        (["--process-id", "0", "--processes", "2"], "give --coordinator HOST:PORT"),
        (["--distributed", "--shard", "0/2"], "--shard is given with --coordinator"),
        (["--coordinator", "127.0.0.1:99999", *TWO], "'127.0.0.1:99999'; its port must be in 1, ..., 65535"),
        (["--coordinator", "127.0.0.1:0", *TWO], "its port must be in 1, ..., 65535"),
        (["--coordinator", ":1234", *TWO], "coordinator is ':1234'; it must be HOST:PORT"),
        (["--coordinator", "a..b:1234", *TWO], "coordinator is 'a..b:1234'; it must be HOST:PORT"),
        (["--coordinator", "127.0.0.1:9"], "cannot be joined without process-id, processes; give"),
        (["--hosts-timeout", "0"], "'0' is not a whole number >= 1"),
        (["--processes", "0"], "not a whole number >= 1"),
        (["--devices", "99"], "devices is 99; this process has"),
        (["--devices", "0"], "not a whole number >= 1"),
        *(([f"--shard={text}"], "is not i/k") for text in ("2/2", "1", "a/b", "-1/2", "0/0", "1/2/3")),
    ],
)
def test_bad_arguments(arguments, said, capsys, monkeypatch):
    monkeypatch.delenv("JAX_COORDINATOR_ADDRESS", raising=False)
    try:
        status = main(["run", "azize_counterexample_scalar_product", "--games", "10", *arguments])
    except SystemExit as stop:
        status = stop.code
    assert status == 2
    shown = capsys.readouterr().err
    assert said in shown
    assert "Traceback" not in shown


def test_a_coordinator_that_does_not_answer():
    port = free_port()
    with pytest.raises(ConnectionError) as raised:
        connect(f"127.0.0.1:{port}", 1, 2, timeout=0.2)
    said = f"coordinator 127.0.0.1:{port} does not answer within 0.2 seconds: Connection refused"
    assert str(raised.value) == said


def test_a_port_in_use(capsys):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        coordinator = f"127.0.0.1:{port}"
        play = ["run", "azize_fig2_easy", "--games", "10", "--coordinator", coordinator]
        assert main([*play, *TWO]) == 2
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
