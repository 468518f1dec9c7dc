"""Seeing at once when the attached control server's process ends."""

from __future__ import annotations

import os
import select

from robot_rt_control.memory.channel import Channel


class ServerWatch:
    """Watches the process that is attached to the channel by a pidfd, so that no poll interval delays the news."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self.epoch = int(channel.memory.server_epoch)
        """Epoch of the present or last watched server."""
        self._descriptor = -1

    def died(self, timeout_s: float) -> bool:
        """Wait at most this long. True: the attached server has died (reported once for each server)."""
        memory = self._channel.memory
        if int(memory.server_epoch) != self.epoch:
            self.epoch = int(memory.server_epoch)
            self._close()
            pid = int(memory.server_pid)
            if pid not in (0, os.getpid()):
                try:
                    self._descriptor = os.pidfd_open(pid)
                except ProcessLookupError:
                    return True
        if self._descriptor < 0:
            select.select([], [], [], timeout_s)
            return False
        readable, _, _ = select.select([self._descriptor], [], [], timeout_s)
        if not readable:
            return False
        self._close()
        return True

    def _close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
