"""The device of docs/drivers.md: the controller of a two-axis gantry that speaks UDP. `python gantry_controller.py`

It represents a box with a network cable: a set point for each axis and two output bits go in, and each such datagram is
answered with the measured values. An axis follows its set point with a servo's lag, within its drive's limits. Without
a set point for 50 ms the controller brakes both axes by itself, like a real one. Units: m, m/s.

    set points:  "GC" | uint32 count | float64 x, y | uint8 enable | uint8 outputs     bits: 0 vacuum, 1 lamp
    answer:      "GS" | uint32 count | float64 x, y, vx, vy | uint8 ready | uint8 inputs | uint8 outputs   bit 0: held
"""

from __future__ import annotations

import socket
import struct
import sys
import threading
import time

SET_POINTS = struct.Struct("<2sIddBB")
ANSWER = struct.Struct("<2sIddddBBB")
STROKE = (1.2, 0.8)  # [m] of x and y, from 0
TOP_SPEED = 1.0  # [m/s]
LAG_S = 0.004
SILENCE_S = 0.05


class GantryController:
    """Serves one client at a time. Use it in a `with` statement: it runs in a thread.

    Args:
        port: to listen on; 0: any, see `port`.

    Attributes:
        workpiece: whether an object is under the vacuum cup.
        cable: whether its answers arrive.
    """

    def __init__(self, port: int = 0) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", port))
        self._socket.settimeout(SILENCE_S)
        self.port: int = self._socket.getsockname()[1]
        self.workpiece, self.cable = True, True
        self.position, self.velocity = [0.3, 0.2], [0.0, 0.0]
        self._goal, self._outputs, self._count, self._enabled = list(self.position), 0, 0, False
        self._moved_at = time.monotonic()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self.serve, daemon=True)

    def __enter__(self) -> GantryController:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self._socket.close()

    def unplug(self) -> None:
        """Pull the cable: no answer arrives any more."""
        self.cable = False

    def plug(self) -> None:
        """Put the cable back."""
        self.cable = True

    def serve(self) -> None:
        """Answer set points until the `with` statement ends."""
        while not self._stop.is_set():
            try:
                datagram, client = self._socket.recvfrom(SET_POINTS.size)
            except TimeoutError:
                self._enabled = False
                self._move()
                continue
            if len(datagram) != SET_POINTS.size or not datagram.startswith(b"GC"):
                continue
            _, self._count, x, y, enable, self._outputs = SET_POINTS.unpack(datagram)
            self._goal, self._enabled = [x, y], bool(enable)
            self._move()
            if self.cable:
                self._socket.sendto(self._answer(), client)

    def _move(self) -> None:
        now = time.monotonic()
        dt, self._moved_at = min(now - self._moved_at, SILENCE_S), now
        for axis in range(2):
            wanted = (self._goal[axis] - self.position[axis]) / (LAG_S + dt) if self._enabled else 0.0
            self.velocity[axis] = min(max(wanted, -TOP_SPEED), TOP_SPEED)
            moved = self.position[axis] + self.velocity[axis] * dt
            self.position[axis] = min(max(moved, 0.0), STROKE[axis])

    def _answer(self) -> bytes:
        held = 1 if self._outputs & 1 and self.workpiece else 0
        return ANSWER.pack(b"GS", self._count, *self.position, *self.velocity, 1, held, self._outputs)


if __name__ == "__main__":
    controller = GantryController(int(sys.argv[1]) if len(sys.argv) > 1 else 4800)
    print(f"gantry controller on UDP port {controller.port}", flush=True)
    controller.serve()
