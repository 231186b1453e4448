"""Several processes, on one host or many: how they meet at process 0 and exchange whole numbers.

Each plays on its own devices, and a few kilobytes are exchanged, so that plain TCP is enough. JAX finds the hosts, but its
distributed runtime is not used: when a process dies or its port is in use, it ends all others by an abort.
"""

import json
import os
import selectors
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Self

import jax
import numpy as np

TIMEOUT = 60
"""Seconds without a word from another process after which it is missing, if the user names no others."""

_MAGIC = "mipsim-hosts-1"
_LONGEST_LINE = 4096
_POLL = 0.05
_FAREWELL = 1.0
_STEP = "mipsim-step"
_HOW = (
    "give --coordinator HOST:PORT, --process-id and --processes, or start them where JAX finds these itself"
)
_AGAIN = "start all of them again to go on"


class _Peer:
    """One connection: messages are lines of JSON. Neither reading nor writing ever waits."""

    def __init__(self, connection: socket.socket, index: int) -> None:
        connection.setblocking(False)
        self.connection, self.index = connection, index
        self.inbox, self.outbox = bytearray(), bytearray()
        self.gone = False
        self.heard = time.monotonic()

    def push(self, **message: Any) -> None:
        self.outbox += json.dumps(message).encode() + b"\n"
        self.pump()

    def pump(self) -> None:
        """Send what can be sent."""
        try:
            while self.outbox:
                del self.outbox[: self.connection.send(self.outbox)]
        except BlockingIOError:
            pass
        except OSError:
            self.outbox.clear()  # what it said last can still be read

    def pull(self) -> list[dict[str, Any]]:
        """The messages that are there; `gone` becomes true behind the last one."""
        try:
            while data := self.connection.recv(1 << 20):
                self.heard = time.monotonic()
                self.inbox += data
            self.gone = True
        except BlockingIOError:
            pass
        except OSError:
            self.gone = True
        *lines, self.inbox = self.inbox.split(b"\n")
        return [json.loads(line) for line in lines]


@dataclass
class Group:
    """The processes of a run, as one of them sees them; `connect` makes one of several.

    Args:
        index: which process this is, 0, ..., count - 1; process 0 stores and prints the result.
        count: how many there are.
        timeout: seconds without a word after which another process is missing.

    Examples:
        >>> Group().gathered(lambda: np.array([7]), 1)
        array([[7]])
    """

    index: int = 0
    count: int = 1
    timeout: float = TIMEOUT
    _peers: dict[int, _Peer] = field(default_factory=dict, repr=False)
    _changed: threading.Condition = field(default_factory=threading.Condition, repr=False)
    _door: socket.socket | None = field(default=None, repr=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def gathered(self, step: Callable[[], np.ndarray], size: int) -> np.ndarray:
        """Do a step in every process and gather what the steps return: int64, shape (count, size).

        Some take hours more than others: while the step runs in a thread, each process says about once a second that it
        lives, so that a failure in one, its end or its silence stops all.

        Raises:
            ValueError: if the step fails in another process, or that one plays another run.
            ConnectionError: if another process is gone or silent.
            Exception: whatever the step raises here.
        """
        outcome: list[np.ndarray | BaseException] = []

        def run() -> None:
            try:
                outcome.append(np.asarray(step(), dtype=np.int64))
            except BaseException as error:  # raised in the main thread
                outcome.append(error)

        # A daemon: an interrupt leaves the process at once, and what the thread had finished is on disk.
        thread = threading.Thread(target=run, name=_STEP, daemon=True)
        thread.start()
        if self.count == 1:
            while thread.is_alive():  # one long join would not let signals through
                thread.join(_POLL)
            return _row(outcome, size)[None]
        rows = (self._collect if self.index == 0 else self._report)(outcome, size)
        return np.array(rows, dtype=np.int64).reshape(self.count, size)

    def _collect(self, outcome: list[np.ndarray | BaseException], size: int) -> list[list[int]]:
        """Process 0 waits for the rows of all and sends them to all; or it says to all why there is an end."""
        rows: dict[int, list[int]] = {}
        try:
            for messages in self._words():
                for index, message in messages:
                    if "failed" in message:
                        raise ValueError(f"process {index} failed, as it says itself; this one stops too")
                    if "row" in message:
                        rows[index] = message["row"]
                if outcome:
                    rows[0] = _row(outcome, size).tolist()
                if len(rows) == self.count:
                    break
        except BaseException as error:
            own = bool(outcome) and error is outcome[0]
            said = "process 0 failed, as it says itself; this one stops too" if own else str(error)
            self._tell(ended=said, lost=isinstance(error, ConnectionError) and not own)
            raise
        everything = [rows[index] for index in range(self.count)]
        self._tell(rows=everything)
        return everything

    def _report(self, outcome: list[np.ndarray | BaseException], size: int) -> list[list[int]]:
        """Another process sends its row to process 0 and waits for those of all."""
        sent = False
        for messages in self._words():
            for _, message in messages:
                if "rows" in message:
                    return message["rows"]
                if "ended" in message:
                    raise (ConnectionError if message["lost"] else ValueError)(message["ended"])
            if outcome and not sent:
                try:
                    self._tell(row=_row(outcome, size).tolist())
                except BaseException:
                    self._tell(failed=True)
                    raise
                sent = True
        raise AssertionError("the words of others go on until there is an error")

    def _words(self) -> Iterator[list[tuple[int, dict[str, Any]]]]:
        """What the others say, twenty times a second or more, while they are told that this process lives."""
        begun, said = time.monotonic(), 0.0
        with selectors.DefaultSelector() as selector:
            for peer in self._peers.values():
                selector.register(peer.connection, selectors.EVENT_READ, peer)
            while True:
                selector.select(_POLL)
                yield [(peer.index, message) for peer in self._peers.values() for message in peer.pull()]
                now = time.monotonic()
                for peer in self._peers.values():
                    peer.pump()
                    if peer.gone:
                        raise ConnectionError(f"process {peer.index} is gone; {_AGAIN}")
                    if now - max(begun, peer.heard) > self.timeout:
                        silence = f"has said nothing for {self.timeout:g} seconds"
                        raise ConnectionError(f"process {peer.index} {silence}; end it, and {_AGAIN}")
                if now - said > self._beat():
                    said = now
                    self._tell()

    def _beat(self) -> float:
        return min(1.0, self.timeout / 4)

    def _tell(self, **message: Any) -> None:
        for peer in self._peers.values():
            if message or not peer.outbox:
                peer.push(**message)

    def close(self) -> None:
        """Part from the others: wait, for a second at most, until they have read what was said.

        A socket that is closed with something unread in it would take back what is still on its way.
        """
        end = time.monotonic() + _FAREWELL
        staying = list(self._peers.values())
        while staying and time.monotonic() < end:
            for peer in staying:
                peer.pump()
                peer.pull()
                if not peer.outbox:
                    with suppress(OSError):
                        peer.connection.shutdown(socket.SHUT_WR)
            staying = [peer for peer in staying if not peer.gone]
            time.sleep(0.005)
        for peer in self._peers.values():
            peer.connection.close()
        self._peers.clear()
        if self._door is not None:
            with suppress(OSError):
                self._door.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits there
            self._door.close()

    def _await_all(self) -> None:
        """Process 0 waits until all others have joined."""
        end = time.monotonic() + self.timeout
        with self._changed:
            while missing := sorted(set(range(1, self.count)) - set(self._peers)):
                left = end - time.monotonic()
                if left <= 0:
                    which = ", ".join(map(str, missing))
                    said = f"process {which} has not joined within {self.timeout:g} seconds; {_AGAIN}"
                    self._tell(ended=said, lost=True)
                    raise ConnectionError(said)
                self._changed.wait(min(left, self._beat()))
                self._tell()

    def _greet(self, connection: socket.socket, run: str) -> None:
        """Let in who is one of the processes; say to one that is not why; whoever else calls is not answered."""
        with suppress(OSError, ValueError, KeyError):
            hello = _line(connection, time.monotonic() + self.timeout)
            index = hello["process"]
            if hello["hello"] != _MAGIC:
                raise ValueError
            with self._changed:
                refused = ""
                if hello["processes"] != self.count:
                    refused = f"process 0 was told of {self.count} processes, this one of {hello['processes']}; name one number"
                elif hello["run"] != run:
                    refused = (
                        f"process 0 plays {run}, this one {hello['run']}; use one command, and one version"
                    )
                elif index not in range(1, self.count):
                    refused = f"process {index} is none of 1, ..., {self.count - 1}"
                elif index in self._peers:
                    refused = f"process {index} has joined already; give every process a number of its own"
                peer = _Peer(connection, index)
                if not refused:
                    peer.push(welcome=True)
                    self._peers[index] = peer
                    self._changed.notify()
                    return
            peer.push(refused=refused)
        connection.close()


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
    coordinator = coordinator or os.environ.get("JAX_COORDINATOR_ADDRESS")
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

    group._door = listener

    def receive() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                if listener.fileno() < 0:  # closed
                    return
                time.sleep(0.1)  # too many open files, say
                continue
            threading.Thread(target=group._greet, args=(connection, run), daemon=True).start()

    threading.Thread(target=receive, daemon=True).start()
    try:
        group._await_all()
    except BaseException:
        group.close()
        raise


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
    group._peers[0] = _Peer(connection, 0)


def _ask(address: tuple[str, int], hello: dict[str, Any], end: float) -> tuple[socket.socket, dict[str, Any]]:
    """Say hello to process 0 and hear its answer."""
    connection = socket.create_connection(address, timeout=max(end - time.monotonic(), 0.001))
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


def _row(outcome: list[np.ndarray | BaseException], size: int) -> np.ndarray:
    """What a step has returned, or raised."""
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0].reshape(size)


def leave(status: int) -> None:
    """Exit at once if a step still runs: Python cannot end beneath it."""
    if any(thread.name == _STEP for thread in threading.enumerate()):
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)
