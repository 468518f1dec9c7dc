"""Reports readiness and troubles to the parent process, by systemd's notification protocol."""

from __future__ import annotations

import contextlib
import os
import socket

VARIABLE = "NOTIFY_SOCKET"
"""The environment variable that names a Unix datagram socket; a leading @ means the abstract name space."""

READY = b"READY=1"
STATUS = b"STATUS="


def report_ready() -> None:
    """Report that this process is up; does nothing if the parent did not ask for it."""
    _send(READY)


def report_status(text: str) -> None:
    """Report a trouble of this process, in one line; empty: all is well."""
    _send(STATUS + text.replace("\n", " ").encode())


def _send(message: bytes) -> None:
    address = os.environ.get(VARIABLE, "")
    if not address:
        return
    if address.startswith("@"):
        address = "\0" + address[1:]
    # The parent may have ended: that is no reason to stop.
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
        channel.sendto(message, address)
