"""Telling the parent process that this one is up, and what is wrong in it: systemd's notification protocol."""

from __future__ import annotations

import contextlib
import os
import socket

VARIABLE = "NOTIFY_SOCKET"
"""The environment variable that names a Unix datagram socket; a leading @ stands for the abstract name space."""

READY = b"READY=1"
STATUS = b"STATUS="


def report_ready() -> None:
    """Say that this process is up; does nothing where nobody asked for it."""
    _send(READY)


def report_status(text: str) -> None:
    """Say in one line what is not as it should be in this process; empty: nothing any more."""
    _send(STATUS + text.replace("\n", " ").encode())


def _send(message: bytes) -> None:
    address = os.environ.get(VARIABLE, "")
    if not address:
        return
    if address.startswith("@"):
        address = "\0" + address[1:]
    # Whoever asked may have gone meanwhile: that is no reason to stop.
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
        channel.sendto(message, address)
