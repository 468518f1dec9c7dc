"""A hardware driver in a page: a two-axis gantry over UDP. docs/drivers.md explains it line by line."""

import socket
import struct
from collections.abc import Mapping
from typing import Any

from robot_rt_control.hardware.plugin import CallbackReturn, HardwareInfo, HardwarePlugin, HardwareReturn
from robot_rt_control.vocabulary.enums import CommandMode

SET_POINTS = struct.Struct("<2sIddBB")
ANSWER = struct.Struct("<2sIddddBBB")


class GantryDriver(HardwarePlugin):
    """Parameters: host, port, and timeout_s, after which a silent controller is an error."""

    def on_init(self, info: HardwareInfo) -> CallbackReturn:
        self.info = info
        given: dict[str, Any] = {"host": "127.0.0.1", "port": 4800, "timeout_s": 0.1} | dict(info.parameters)
        if unknown := set(given) - {"host", "port", "timeout_s"}:
            self.reason = f"unknown parameters: {', '.join(sorted(unknown))}; expected host, port, timeout_s"
            return CallbackReturn.ERROR
        self.address, self.timeout_s = (given["host"], int(given["port"])), float(given["timeout_s"])
        names = [interface.name for interface in self.export_command_interfaces()]
        if names[0::3][:2] != ["gantry/x/position", "gantry/y/position"] or names[6:] != ["tool/vacuum", "tool/lamp"]:
            self.reason = f"expected the parts gantry (x, y) and tool (vacuum, lamp), got {', '.join(names)}"
            return CallbackReturn.ERROR
        return CallbackReturn.SUCCESS

    def on_configure(self) -> CallbackReturn:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.connect(self.address)
        self.count, self.silent_s, self.enabled = 0, 0.0, False
        self.command[0], self.command[3] = 0.0, 0.0
        self._send()  # not enabled: only for the answer, with the axes' positions
        self.socket.settimeout(1.0)
        try:
            self._take(self.socket.recv(ANSWER.size))
        except (TimeoutError, ConnectionRefusedError):
            self.reason = f"no gantry controller answers at {self.address[0]}:{self.address[1]}"
            self.socket.close()
            return CallbackReturn.FAILURE
        self.socket.setblocking(False)  # read() must not block
        return CallbackReturn.SUCCESS

    def on_activate(self) -> CallbackReturn:
        self.enabled = False  # whatever was commanded before: the axes hold until they get a mode
        return CallbackReturn.SUCCESS

    def prepare_command_mode_switch(self, modes: Mapping[str, tuple[CommandMode, ...]]) -> HardwareReturn:
        if len(set(modes.get("gantry", ()))) > 1:
            self.reason = "the gantry's controller enables both axes or none"
            return HardwareReturn.ERROR
        return super().prepare_command_mode_switch(modes)

    def perform_command_mode_switch(self, modes: Mapping[str, tuple[CommandMode, ...]]) -> HardwareReturn:
        if "gantry" in modes:
            self.enabled = modes["gantry"][0] == CommandMode.POSITION
        return HardwareReturn.OK

    def read(self, time_s: float, period_s: float) -> HardwareReturn:
        self.silent_s += period_s
        while True:  # the newest answer counts
            try:
                self._take(self.socket.recv(ANSWER.size))
            except BlockingIOError:
                break
        if self.silent_s > self.timeout_s:
            self.reason = f"the gantry controller has been silent for {self.silent_s:.3f} s"
            return HardwareReturn.ERROR
        return HardwareReturn.OK

    def write(self, time_s: float, period_s: float) -> HardwareReturn:
        self._send()
        return HardwareReturn.OK

    def close(self) -> None:
        """Also called after an error: without set points the controller brakes by itself."""
        if hasattr(self, "socket"):
            self.socket.close()

    def _send(self) -> None:
        self.count += 1
        outputs = (1 if self.command[6] > 0.5 else 0) | (2 if self.command[7] > 0.5 else 0)
        self.socket.send(SET_POINTS.pack(b"GC", self.count, self.command[0], self.command[3], self.enabled, outputs))

    def _take(self, datagram: bytes) -> None:
        _, _, x, y, vx, vy, _, inputs, outputs = ANSWER.unpack(datagram)
        # position, velocity, effort of x and y; then the input held, and the outputs as they are read back
        self.state[:] = (x, vx, 0.0, y, vy, 0.0, inputs & 1, outputs & 1, outputs >> 1 & 1)
        self.silent_s = 0.0
