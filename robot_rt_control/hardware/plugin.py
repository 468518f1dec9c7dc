"""The contract of a hardware plugin, in the terms of ros2_control.

======================  ======================  ============================================================
method                  called                  what belongs there
======================  ======================  ============================================================
`on_init`               once, first             read the parameters; refuse wrong ones; no device yet
`export_..._interfaces` once, after `on_init`   name the float64 numbers that the device offers and takes
`on_configure`          unconfigured→inactive   open the device, read its state; no motion
`on_activate`           inactive→active         allow motion; the device holds its position
`on_deactivate`         active→inactive         motion no longer allowed; the device holds or brakes
`close`                 by the next three       release the device
`on_cleanup`            inactive→unconfigured   as `close`; `on_configure` may follow
`on_shutdown`           from any state, last    as `close`
`on_error`              after an ERROR          bring the device to a safe state, then as `close`
`prepare_command_mode`  before modes change     report whether the switch is possible; change nothing yet
`perform_command_mode`  in the cycle of it      switch
`read`                  each cycle, first       fill `state` with what was measured
`write`                 each cycle, last        send `command`; a simulator steps here
`recover`               a fault was cleared     make a device that has `stopped` by itself able to move again
======================  ======================  ============================================================

All calls come from one thread: a driver process's main thread, or the one that drives a lockstep
loop. `read` and `write` are called once in each period and must not block: their duration adds to the
device's delay. Only the `read` of a plugin that `paces` waits, for the device's next state. They may
allocate memory: this side of the process image is ordinary Python.

Lifecycle callbacks return a CallbackReturn, the others a HardwareReturn, and give the reason in `self.reason`. An
exception is an ERROR with the exception's text; so is any other value, such as False or None.

`testing/plugin_contract.py` has tests that every plugin must pass.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from enum import IntEnum
from typing import ClassVar

import numpy as np

from robot_rt_control.hardware.info import HardwareInfo, HardwarePart, JointLimits
from robot_rt_control.hardware.interfaces import (
    InterfaceDescription,
    standard_command_interfaces,
    standard_state_interfaces,
)
from robot_rt_control.model.pose import Pose
from robot_rt_control.model.workcell.channels import Channel
from robot_rt_control.vocabulary.enums import CommandMode

__all__ = [
    "CallbackReturn",
    "Channel",
    "HardwareInfo",
    "HardwarePart",
    "HardwarePlugin",
    "HardwareReturn",
    "InterfaceDescription",
    "JointLimits",
    "Pose",
]


class CallbackReturn(IntEnum):
    """Result of a lifecycle callback."""

    SUCCESS = 0
    FAILURE = 1
    """Not possible now; the device keeps its state."""
    ERROR = 2
    """Something broke; `on_error` is called next."""


class HardwareReturn(IntEnum):
    """Result of `read`, `write` and the mode switch."""

    OK = 0
    ERROR = 1


class HardwarePlugin(ABC):
    """Base of all hardware plugins; only `read` and `write` must be written."""

    simulated: ClassVar[bool] = False
    """Whether `write` advances a simulation, or time does not matter: required for lockstep."""

    paces: ClassVar[bool] = False
    """Whether `read` waits for the device's next state, and so keeps the period, instead of the driver's timer. Such a
    device is the loop's clock by default: `write` then follows with the command that the loop computed from the state
    of this `read`."""
    reply_s: float = 0.0
    """[s] after the state, for which the driver of a device that `paces` waits for that command. Without it, `write`
    is called with the last command, and the driver counts it as late."""
    silence_s: float = 0.0
    """[s] without a command of an executor that lives, for which the driver goes on at least, if that is longer than
    its own bound: for a device that a hanging executor leaves where it is."""
    missed: int = 0
    """States of the device that were not read, counted by a plugin that `paces`."""
    fresh: bool = True
    """Set before `write`: whether `command` is newer than that of the last `write`."""
    stopped: int = 0
    """Code of the error with which the device stopped by itself (vocabulary/motor_errors.py); 0: it takes commands. Set
    by `read`, with `reason`: the parts are faulted with it. After people cleared the fault, `recover` is called."""

    info: HardwareInfo
    state: np.ndarray
    """float64, one for each exported state interface, in that order. Write in place; never rebind.
    Set before `on_configure`. NaN until first written."""
    command: np.ndarray
    """float64, one for each exported command interface. Of a joint's commands, that of its mode is valid."""
    reason: str = ""
    """Why the last callback did not succeed; part of the error's text."""

    def on_init(self, info: HardwareInfo) -> CallbackReturn:
        self.info = info
        return CallbackReturn.SUCCESS

    def export_state_interfaces(self) -> list[InterfaceDescription]:
        """The interfaces of the parts' kinds, in their order; add your own at the end."""
        return standard_state_interfaces(self.info)

    def export_command_interfaces(self) -> list[InterfaceDescription]:
        """The interfaces of the parts' kinds, in their order; add your own at the end."""
        return standard_command_interfaces(self.info)

    def on_configure(self) -> CallbackReturn:
        return CallbackReturn.SUCCESS

    def on_activate(self) -> CallbackReturn:
        return CallbackReturn.SUCCESS

    def on_deactivate(self) -> CallbackReturn:
        return CallbackReturn.SUCCESS

    def close(self) -> None:  # noqa: B027  (a plugin may have nothing to close)
        """Release the device, if it is open. The next three callbacks do this and, by default, nothing else."""

    def on_cleanup(self) -> CallbackReturn:
        self.close()
        return CallbackReturn.SUCCESS

    def on_shutdown(self) -> CallbackReturn:
        self.close()
        return CallbackReturn.SUCCESS

    def on_error(self) -> CallbackReturn:
        """SUCCESS: the device is safe and may be configured again. FAILURE, as by default: it is finalized."""
        self.close()
        return CallbackReturn.FAILURE

    def prepare_command_mode_switch(self, modes: Mapping[str, tuple[CommandMode, ...]]) -> HardwareReturn:
        """Return whether these parts can switch to these modes. NONE (hold the position) must always be possible.

        Override it for a device that cannot have joints of one part in different modes.

        Args:
            modes: the parts that change, and the new mode of each of their joints.
        """
        supported = {part.name: part.supported_modes for part in self.info.parts}
        for part, of_joints in modes.items():
            for mode in of_joints:
                if mode != CommandMode.NONE and mode not in supported[part]:
                    names = ", ".join(m.name for m in sorted(supported[part]))
                    self.reason = f"part {part!r} does not support command mode {mode.name}, only {names}"
                    return HardwareReturn.ERROR
        return HardwareReturn.OK

    def perform_command_mode_switch(self, modes: Mapping[str, tuple[CommandMode, ...]]) -> HardwareReturn:
        """Switch. `command` holds the first commands of the new modes already; `write` follows."""
        return HardwareReturn.OK

    def recover(self) -> None:  # noqa: B027  (most devices do not stop by themselves)
        """Make a device that has `stopped` able to move again, and set `stopped` to 0.

        Called when people clear a fault: no part is enabled meanwhile, so it may take its time.

        Raises:
            HardwareError: the device is still stopped, for the reason given.
        """

    @abstractmethod
    def read(self, time_s: float, period_s: float) -> HardwareReturn:
        """Fill `state`.

        Args:
            time_s: [s] since activation, in cycles times the period.
            period_s: [s].
        """

    @abstractmethod
    def write(self, time_s: float, period_s: float) -> HardwareReturn:
        """Send `command`, for the joints whose mode is not NONE. A simulator then steps by one period."""
