"""Several processes of one run, which exchange whole numbers through process 0 and notice when another one fails.

A few kilobytes are exchanged, so that plain TCP is enough. JAX's distributed runtime is not used: when a process dies or its
port is in use, it ends all others by an abort.
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

import numpy as np

TIMEOUT = 60
"""Seconds without a word from another process after which it is missing, if the user names no others."""

BEAT = 0.25
"""Seconds from one word that a process lives to the next: few enough for the shortest timeout, 1 second."""

AGAIN = "start all of them again to go on"

_POLL = 0.05
_FAREWELL = 1.0
_STEP = "mipsim-step"


class Peer:
    """One connection: messages are lines of JSON. Neither reading nor writing ever waits."""

    def __init__(self, connection: socket.socket, index: int) -> None:
        connection.setblocking(False)
        self.connection, self.index = connection, index
        self.inbox, self.outbox = bytearray(), bytearray()
        self.unread: list[dict[str, Any]] = []
        self.gone = False
        self.heard = time.monotonic()

    def push(self, **message: Any) -> None:
        """Say something, now or as soon as it can be sent."""
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
        messages = self.unread + [json.loads(line) for line in lines]
        self.unread = []
        return messages


@dataclass
class Group:
    """The processes of a run, as one of them sees them; `sims.meeting.connect` makes one of several.

    Args:
        index: which process this is, 0, ..., count - 1; process 0 stores and prints the result.
        count: how many there are.
        timeout: seconds without a word after which another process is missing.
        peers: those that are connected to this one, by index: all others to process 0, and it to each of them.
        door: where process 0 listens.

    Examples:
        >>> Group().gathered(lambda: np.array([7]), 1)
        array([[7]])
    """

    index: int = 0
    count: int = 1
    timeout: float = TIMEOUT
    peers: dict[int, Peer] = field(default_factory=dict, repr=False)
    door: socket.socket | None = field(default=None, repr=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def gathered(self, step: Callable[[], np.ndarray], size: int) -> np.ndarray:
        """Do a step in every process and gather what the steps return: int64, shape (count, size).

        Some take hours more than others: while the step runs in a thread, each process says again and again that it
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
            self.tell(ended=said, lost=isinstance(error, ConnectionError) and not own)
            raise
        everything = [rows[index] for index in range(self.count)]
        self.tell(rows=everything)
        return everything

    def _report(self, outcome: list[np.ndarray | BaseException], size: int) -> list[list[int]]:
        """Another process sends its row to process 0 and waits for those of all."""
        sent = False
        for messages in self._words():
            for position, (_, message) in enumerate(messages, 1):
                if "rows" in message:
                    self.peers[0].unread = [later for _, later in messages[position:]]
                    return message["rows"]
                if "ended" in message:
                    raise (ConnectionError if message["lost"] else ValueError)(message["ended"])
            if outcome and not sent:
                try:
                    self.tell(row=_row(outcome, size).tolist())
                except BaseException:
                    self.tell(failed=True)
                    raise
                sent = True
        raise AssertionError("the words of others go on until there is an error")

    def _words(self) -> Iterator[list[tuple[int, dict[str, Any]]]]:
        """What the others say, twenty times a second or more, while they are told that this process lives."""
        begun, said = time.monotonic(), 0.0
        with selectors.DefaultSelector() as selector:
            for peer in self.peers.values():
                selector.register(peer.connection, selectors.EVENT_READ, peer)
            while True:
                selector.select(_POLL)
                yield [(peer.index, message) for peer in self.peers.values() for message in peer.pull()]
                now = time.monotonic()
                for peer in self.peers.values():
                    peer.pump()
                    if peer.gone:
                        raise ConnectionError(f"process {peer.index} is gone; {AGAIN}")
                    if now - max(begun, peer.heard) > self.timeout:
                        silence = f"has said nothing for {self.timeout:g} seconds"
                        raise ConnectionError(f"process {peer.index} {silence}; end it, and {AGAIN}")
                if now - said > BEAT:
                    said = now
                    self.tell()

    def tell(self, **message: Any) -> None:
        """Say something to all others, or only that this process lives."""
        for peer in self.peers.values():
            if message or not peer.outbox:
                peer.push(**message)

    def close(self) -> None:
        """Part from the others: wait, for a second at most, until they have read what was said.

        A socket that is closed with something unread in it would take back what is still on its way.
        """
        end = time.monotonic() + _FAREWELL
        staying = list(self.peers.values())
        while staying and time.monotonic() < end:
            for peer in staying:
                peer.pump()
                peer.pull()
                if not peer.outbox:
                    with suppress(OSError):
                        peer.connection.shutdown(socket.SHUT_WR)
            staying = [peer for peer in staying if not peer.gone]
            time.sleep(0.005)
        for peer in self.peers.values():
            peer.connection.close()
        self.peers.clear()
        if self.door is not None:
            with suppress(OSError):
                self.door.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits there
            self.door.close()


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
