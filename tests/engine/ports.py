"""Ports for the tests of several processes."""

import secrets
import socket
from contextlib import suppress


def free_port():
    """Below the ports that systems hand out, so that no other program is given it between here and its use."""
    while True:
        port = 20_000 + secrets.randbelow(12_000)
        with socket.socket() as listener, suppress(OSError):
            listener.bind(("127.0.0.1", port))
            return port
