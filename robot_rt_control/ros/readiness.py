"""Telling whoever started this process that it is up, by the protocol of systemd's notification socket."""

from __future__ import annotations

import contextlib
import os
import socket

VARIABLE = "NOTIFY_SOCKET"
"""The environment variable that names a Unix datagram socket; a leading @ stands for the abstract name space."""

READY = b"READY=1"


def report_ready() -> None:
    """Say that this process is up; does nothing where nobody asked for it."""
    address = os.environ.get(VARIABLE, "")
    if not address:
        return
    if address.startswith("@"):
        address = "\0" + address[1:]
    # Whoever asked may have gone meanwhile: that is no reason to stop.
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
        channel.sendto(READY, address)
