"""How the processes of one run meet, on one host or many: process 0 listens, and lets in one of each number."""

import json
import os
import queue
import socket
import threading
import time
from contextlib import suppress
from typing import Any

import jax

from sims.hosts import AGAIN, BEAT, TIMEOUT, Group, Peer

_MAGIC = "mipsim-hosts-1"
_LONGEST_LINE = 4096
_HOW = (
    "give --coordinator HOST:PORT, --process-id and --processes, or start them where JAX finds these itself"
)


def connect(
    coordinator: str | None,
    process_id: int | None,
    processes: int | None,
    run: str = "",
    timeout: float = TIMEOUT,
) -> Group:
    """Join the processes of a run.

    What is None is found by JAX where it can (JAX_COORDINATOR_ADDRESS, Slurm, Open MPI, Cloud TPU). Process 0 serves the
    port until the run ends: it lets in one process of each number that plays the same run, says to others why not, and does
    not answer anything else that calls.

    Args:
        coordinator: HOST:PORT, served by process 0; a loopback address is served to this machine only.
        process_id: which process this is, 0, ..., processes - 1.
        processes: how many there are.
        run: what is played, in words: the same for all.
        timeout: seconds > 0 to wait for the others, now and whenever they are silent.

    Raises:
        ValueError: if an argument is missing or wrong, the port cannot be served, or process 0 refuses this one.
        ConnectionError: if the others do not come, or what answers is not process 0.

    Examples:
        >>> connect("127.0.0.1:1234", 0, 1).count
        1
        >>> connect("127.0.0.1:99999", 0, 2)
        Traceback (most recent call last):
        ...
        ValueError: coordinator is '127.0.0.1:99999'; its port must be in 1, ..., 65535
    """
    coordinator, process_id, processes = _found(coordinator, process_id, processes, timeout)
    if coordinator is not None:
        host, _, port = coordinator.rpartition(":")
        try:
            named = bool(host.encode("idna")) and port.isdecimal()
        except UnicodeError:
            named = False
        if not named:
            raise ValueError(f"coordinator is {coordinator!r}; it must be HOST:PORT")
        if not 1 <= int(port) <= 65_535:
            raise ValueError(f"coordinator is {coordinator!r}; its port must be in 1, ..., 65535")
    given = {"coordinator": coordinator, "process-id": process_id, "processes": processes}
    if coordinator is None or process_id is None or processes is None:
        missing = ", ".join(name for name, value in given.items() if value is None)
        raise ValueError(f"the processes cannot be joined without {missing}; {_HOW}")
    if process_id >= processes:
        raise ValueError(
            f"process-id is {process_id}; with {processes} processes it must be below {processes}"
        )
    group = Group(process_id, processes, timeout)
    if processes > 1:
        (_serve if process_id == 0 else _join)(group, coordinator, run)
    return group


def _found(
    coordinator: str | None, process_id: int | None, processes: int | None, timeout: float
) -> tuple[str | None, int | None, int | None]:
    """What is given, and what JAX finds: as `jax.distributed.initialize` does, also which devices are this process's."""
    coordinator = given = coordinator or os.environ.get("JAX_COORDINATOR_ADDRESS")
    try:
        named = os.environ.get("JAX_LOCAL_DEVICE_IDS")
        devices = [int(index) for index in named.split(",")] if named else None
        # JAX has no public way to this alone.
        from jax._src.clusters import ClusterEnv

        coordinator, processes, process_id, devices = ClusterEnv.auto_detect_unset_distributed_params(
            coordinator, processes, process_id, devices, None, int(timeout) or 1
        )
    except Exception as error:
        if None in (coordinator, processes, process_id):
            raise ValueError(f"JAX does not find the processes ({error!r}); {_HOW}") from error
        devices = None
    port = os.environ.get("JAX_COORDINATOR_PORT")
    if port and coordinator and not given:  # the oldest JAX that is allowed takes no notice of it on Slurm
        coordinator = f"{coordinator.rpartition(':')[0]}:{port}"
    if devices:
        visible = ",".join(map(str, devices))
        jax.config.update("jax_cuda_visible_devices", visible)
        jax.config.update("jax_rocm_visible_devices", visible)
    return coordinator, process_id, processes


def _serve(group: Group, coordinator: str, run: str) -> None:
    """Be process 0."""
    host, _, port = coordinator.rpartition(":")
    host = host.strip("[]")
    try:
        if host == "localhost" or host.startswith("127."):
            listener = socket.create_server((host, int(port)), backlog=1024)
        elif host == "::1":
            listener = socket.create_server((host, int(port)), family=socket.AF_INET6, backlog=1024)
        elif socket.has_dualstack_ipv6():
            listener = socket.create_server(
                ("", int(port)), family=socket.AF_INET6, dualstack_ipv6=True, backlog=1024
            )
        else:
            listener = socket.create_server(("", int(port)), backlog=1024)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno and error.errno > 0 else str(error)
        raise ValueError(
            f"coordinator is {coordinator!r}, but process 0 cannot serve port {port}: {reason}; choose a free port, or end what serves it"
        ) from error

    group.door = listener
    changed = threading.Condition()

    def receive() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                if listener.fileno() < 0:  # closed
                    return
                time.sleep(0.1)  # too many open files, say
                continue
            threading.Thread(target=_greet, args=(group, connection, run, changed), daemon=True).start()

    threading.Thread(target=receive, daemon=True).start()
    try:
        _await_all(group, changed)
    except BaseException:
        group.close()
        raise


def _await_all(group: Group, changed: threading.Condition) -> None:
    """Process 0 waits until all others have joined."""
    end = time.monotonic() + group.timeout
    with changed:
        while missing := sorted(set(range(1, group.count)) - set(group.peers)):
            left = end - time.monotonic()
            if left <= 0:
                which = ", ".join(map(str, missing))
                said = f"process {which} has not joined within {group.timeout:g} seconds; {AGAIN}"
                group.tell(ended=said, lost=True)
                raise ConnectionError(said)
            changed.wait(min(left, BEAT))
            group.tell()


def _greet(group: Group, connection: socket.socket, run: str, changed: threading.Condition) -> None:
    """Let in who is one of the processes; say to one that is not why; whoever else calls is not answered."""
    with suppress(OSError, ValueError, KeyError):
        hello = _line(connection, time.monotonic() + group.timeout)
        index = hello["process"]
        if hello["hello"] != _MAGIC:
            raise ValueError
        with changed:
            refused = ""
            if hello["processes"] != group.count:
                refused = f"process 0 was told of {group.count} processes, this one of {hello['processes']}; name one number"
            elif hello["run"] != run:
                refused = f"process 0 plays {run}, this one {hello['run']}; use one command, and one version"
            elif index not in range(1, group.count):
                refused = f"process {index} is none of 1, ..., {group.count - 1}"
            elif index in group.peers:
                refused = f"process {index} has joined already; give every process a number of its own"
            peer = Peer(connection, index)
            if not refused:
                peer.push(welcome=True)
                group.peers[index] = peer
                changed.notify()
                return
        peer.push(refused=refused)
    connection.close()


def _join(group: Group, coordinator: str, run: str) -> None:
    """Be let in by process 0."""
    host, _, port = coordinator.rpartition(":")
    end = time.monotonic() + group.timeout
    hello = {"hello": _MAGIC, "process": group.index, "processes": group.count, "run": run}
    while True:
        try:
            connection, answer = _ask((host.strip("[]"), int(port)), hello, end)
            break
        except ValueError as error:
            raise ConnectionError(
                f"coordinator {coordinator} is another program, which says {error}; name the port of process 0"
            ) from error
        except OSError as error:  # perhaps not yet
            if time.monotonic() >= end:
                reason = error.strerror or str(error)
                raise ConnectionError(
                    f"coordinator {coordinator} does not answer within {group.timeout:g} seconds: {reason}"
                ) from error
        time.sleep(0.1)
    if "welcome" not in answer:
        connection.close()
        raise ValueError(str(answer["refused"]))
    group.peers[0] = Peer(connection, 0)


def _ask(address: tuple[str, int], hello: dict[str, Any], end: float) -> tuple[socket.socket, dict[str, Any]]:
    """Say hello to process 0 and hear its answer."""
    connection = _connected(address, end)
    try:
        if connection.getsockname() == connection.getpeername():
            raise ConnectionError("nobody listens there")  # TCP lets a socket find itself
        connection.sendall(json.dumps(hello).encode() + b"\n")
        answer = _line(connection, end)
        if not answer.keys() & {"welcome", "refused"}:
            raise ValueError(repr(answer))
        return connection, answer
    except BaseException:
        connection.close()
        raise


def _connected(address: tuple[str, int], end: float) -> socket.socket:
    """A connection to the first of a host's numbers that answers."""
    failed: OSError = TimeoutError("its name is still looked up")
    for number in _numbers(address[0], end):
        try:
            return socket.create_connection((number, address[1]), max(end - time.monotonic(), 0.001))
        except OSError as error:
            failed = error
    raise failed


def _numbers(host: str, end: float) -> list[str]:
    """The addresses of a host; none if they are not known in time: a resolver may take minutes to say that there are none."""
    found: queue.SimpleQueue[list[str] | OSError] = queue.SimpleQueue()

    def resolve() -> None:
        try:
            known = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
            found.put([str(where[0]) for *_, where in known])
        except OSError as error:
            found.put(error)

    threading.Thread(target=resolve, daemon=True).start()  # nothing can end it
    try:
        numbers = found.get(timeout=max(end - time.monotonic(), 0.001))
    except queue.Empty:
        return []
    if isinstance(numbers, OSError):
        raise numbers
    return numbers


def _line(connection: socket.socket, end: float) -> dict[str, Any]:
    """The first line that is said there, and nothing beyond it.

    Raises:
        ValueError: if it is not such a line as processes say; with what is said instead.
        TimeoutError: if it has not come when the clock shows `end`.
        ConnectionError: if the connection is closed before.
    """
    line = bytearray()
    while not line.endswith(b"\n"):
        connection.settimeout(max(end - time.monotonic(), 0.001))
        try:
            said = connection.recv(60, socket.MSG_PEEK)
        except TimeoutError:
            raise TimeoutError(
                "it accepts, and then says nothing: another program, or a process 0 that is stopped"
            ) from None
        if not said:
            raise ConnectionError("it closes the connection")
        head, newline, _ = said.partition(b"\n")
        line += connection.recv(len(head + newline))
        if not line.startswith(b"{") or len(line) > _LONGEST_LINE:
            break
    with suppress(ValueError):
        if isinstance(message := json.loads(line), dict):
            return message
    raise ValueError(repr(line[:60].decode(errors="replace").rstrip()))
