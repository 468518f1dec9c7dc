"""The plugin `franka_hand`: the gripper of a Franka. docs/franka.md is its manual.

The hand takes motions to a width, not a stream of positions. They block, for up to a second; meanwhile the library
tells nothing of the hand and cannot stop it. So a motion begins as soon as the loop's command is at rest at a new
width, the next one after its end, and the states stay those from before it. A finger's position is half of the width.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Mapping

import numpy as np

from robot_rt_control.hardware.franka_hand.hand import Hand
from robot_rt_control.hardware.franka_hand.parameters import HandParameters
from robot_rt_control.hardware.info import HardwareInfo, HardwarePart
from robot_rt_control.hardware.parameters import checked
from robot_rt_control.hardware.plugin import CallbackReturn, HardwarePlugin, HardwareReturn
from robot_rt_control.vocabulary.enums import CommandMode, PartKind
from robot_rt_control.vocabulary.errors import HardwareError
from robot_rt_control.vocabulary.franka_errors import CODES, NETWORK_LOST

_log = logging.getLogger(__name__)

_RESOLUTION = 5e-4
"""[m] of the width: a smaller change is no motion."""
_LEAST_RANGE = 0.005
"""[m] Before its homing a hand reports none."""
_MOTION_S = 5.0
"""[s] The longest motion; a hand that is not heard of for longer is lost."""
SENSOR_VALUES = ("is_grasped", "is_moving", "has_failed", "temperature")
"""What a sensor part may have of the hand."""


class FrankaHandPlugin(HardwarePlugin):
    """One gripper with the joints of one or two fingers; a sensor has other values."""

    def on_init(self, info: HardwareInfo) -> CallbackReturn:
        self.info = info
        self._what = f"hardware {info.name!r}"
        self._given = checked(HandParameters, info.parameters, f"{self._what}, parameters of the franka_hand plugin")
        self.silence_s = self._given.silence  # each motion ends by itself
        self._part = self._find_part()
        self._hand: Hand | None = None
        self._mode = CommandMode.NONE
        self._goal = self._wanted = math.nan
        """[m] width of the last motion, or where the hand was found; and the loop's last command."""
        self._unreported = ""
        """Why the last motion failed, until it is known where."""
        return CallbackReturn.SUCCESS

    def _find_part(self) -> HardwarePart:
        grippers = [part for part in self.info.parts if part.kind == PartKind.GRIPPER]
        others = [part for part in self.info.parts if part.kind not in (PartKind.GRIPPER, PartKind.SENSOR)]
        if len(grippers) != 1 or others or len(grippers[0].joint_names) not in (1, 2):
            raise HardwareError(
                f"{self._what}: parts",
                expected="one gripper with the joints of one or two fingers; beside it sensors",
                got=", ".join(
                    f"{p.name} ({p.kind.name.lower()}, {len(p.joint_names)} joints)" for p in self.info.parts
                ),
                hint="The arm is a device of its own",
            )
        part = grippers[0]
        if part.supported_modes - {CommandMode.NONE, CommandMode.POSITION}:
            names = ", ".join(mode.name.lower() for mode in sorted(part.supported_modes))
            raise HardwareError(f"{self._what}, part {part.name!r}: command_modes", expected="[position]", got=names)
        return part

    # --- life cycle -------------------------------------------------------------------------------

    def on_configure(self) -> CallbackReturn:
        joints = self._part.joint_names
        places = {i.name: k for k, i in enumerate(self.export_state_interfaces())}
        commands = {i.name: k for k, i in enumerate(self.export_command_interfaces())}
        name = self._part.name
        self._positions, self._velocities, self._efforts = (
            [places[f"{name}/{joint}/{quantity}"] for joint in joints]
            for quantity in ("position", "velocity", "effort")
        )
        self._commands = [commands[f"{name}/{joint}/position"] for joint in joints]
        self._values = self._sensor_values()
        self._connect()
        return CallbackReturn.SUCCESS

    def _sensor_values(self) -> list[tuple[int, str]]:
        """The places of the sensors' values among the states, and their names; an age has no name."""
        found = []
        for place, interface in enumerate(self.export_state_interfaces()):
            if interface.part == self._part.name:
                continue
            name = "" if interface.interface.endswith("_age") else interface.interface
            if name and name not in SENSOR_VALUES:
                raise HardwareError(
                    f"{self._what}, part {interface.part!r}: value {name!r}", expected=", ".join(SENSOR_VALUES)
                )
            found.append((place, name))
        return found

    def _connect(self) -> None:
        """Raises HardwareError."""
        hand = Hand(self._given.address)
        most = hand.state.max_width
        upper = 2.0 * max(self._part.limits.position_upper)
        if most < _LEAST_RANGE or upper > most + _RESOLUTION:
            hand.close()
            raise HardwareError(
                f"{self._what}: largest width of the hand",
                expected=f"at least {upper:g} m, twice position_upper of part {self._part.name!r}",
                got=f"{most:g} m",
                hint="Let the hand find its ends in Desk (homing)" if most < _LEAST_RANGE else "Correct position_upper",
            )
        self._hand, self._before = hand, (hand.seen, hand.state.width)
        self._publish(0.0)

    def on_activate(self) -> CallbackReturn:
        self._read()
        return CallbackReturn.SUCCESS

    def on_deactivate(self) -> CallbackReturn:
        self._mode = CommandMode.NONE
        hand, given_up = self._hand, time.monotonic() + _MOTION_S
        while hand is not None and hand.is_busy and not hand.lost and time.monotonic() < given_up:
            time.sleep(0.002)
            hand.poll()
        return CallbackReturn.SUCCESS

    def close(self) -> None:
        hand, self._hand = self._hand, None
        if hand is not None:
            hand.close()

    def recover(self) -> None:
        hand = self._hand
        if hand is None:
            self._connect()
        self.stopped, self.reason = 0, ""

    # --- modes and cycle --------------------------------------------------------------------------

    def prepare_command_mode_switch(self, modes: Mapping[str, tuple[CommandMode, ...]]) -> HardwareReturn:
        result = super().prepare_command_mode_switch(modes)
        begins = CommandMode.POSITION in modes.get(self._part.name, ())
        # The loop would hold where the fingers were before the motion. It enables no part whose position is unknown:
        # only a motion that began just before it did so comes here.
        if result == HardwareReturn.OK and begins and self._is_on_its_way():
            self.reason = "the hand still moves, and where to is known at its end only: try again then, within a second"
            return HardwareReturn.ERROR
        return result

    def _is_on_its_way(self) -> bool:
        """Whether the hand moves, or no state has come since it did."""
        hand = self._hand
        return hand is not None and (hand.is_busy or hand.seen < hand.heard)

    def perform_command_mode_switch(self, modes: Mapping[str, tuple[CommandMode, ...]]) -> HardwareReturn:
        if self._part.name in modes:
            self._mode = modes[self._part.name][0]
            self._goal = self._wanted = math.nan
        return HardwareReturn.OK

    def read(self, time_s: float, period_s: float) -> HardwareReturn:
        self._read()
        return HardwareReturn.OK

    def _read(self) -> None:
        hand = self._hand
        if hand is None:  # lost
            return
        was_busy = hand.is_busy
        hand.poll()
        silent, allowed = hand.now() - hand.heard, self._given.silence
        if hand.is_busy:
            allowed = max(allowed, _MOTION_S)
        if hand.lost or silent > allowed:
            self.close()
            self.state[:] = np.nan
            text = hand.lost or f"the hand was not heard of for {silent:.2f} s"
            self.stopped, self.reason = CODES[NETWORK_LOST], f"{NETWORK_LOST}: {text}"
            return
        if was_busy and not hand.is_busy:
            self._unreported = hand.failure
        seen, width = self._before
        rate = (hand.state.width - width) / (hand.seen - seen) if hand.seen > seen else None  # that of a motion's mean
        self._before = hand.seen, hand.state.width
        self._publish(rate)
        if self._unreported and rate is not None:
            text = "%s: a motion to a width of %.4f m ended at %.4f m: %s"
            _log.warning(text, self._what, self._goal, hand.state.width, self._unreported)
            self._unreported = ""

    def _publish(self, rate: float | None) -> None:
        """Write the state.

        Args:
            rate: [m/s] of the width; None: no new state has come.
        """
        assert self._hand is not None
        state = self._hand.state
        is_known = self._mode == CommandMode.POSITION or not self._is_on_its_way()
        self.state[self._positions] = 0.5 * state.width if is_known else math.nan
        if rate is not None:
            self.state[self._velocities] = 0.5 * rate
        self.state[self._efforts] = 0.0  # it reports none
        values = {
            "is_grasped": state.is_grasped,
            "is_moving": self._hand.is_busy,
            "has_failed": bool(self._hand.failure),
            "temperature": state.temperature,
        }
        for place, name in self._values:
            self.state[place] = float(values[name]) if name else 0.0

    def write(self, time_s: float, period_s: float) -> HardwareReturn:
        hand = self._hand
        if hand is None or hand.lost:
            return HardwareReturn.OK
        if self._mode != CommandMode.POSITION:
            return HardwareReturn.OK
        width = 2.0 * float(np.mean(self.command[self._commands]))
        if not math.isfinite(width):
            return HardwareReturn.OK
        rests, self._wanted = width == self._wanted, width
        if math.isnan(self._goal):  # the first command is where the hand is: enabling moves nothing
            self._goal = width
        if not rests or hand.is_busy or abs(width - self._goal) < _RESOLUTION:
            return HardwareReturn.OK
        self._goal = width
        width = min(max(width, 0.0), hand.state.max_width)
        if self._given.force is not None and width < hand.state.width:
            hand.grasp(width, self._given.speed, self._given.force)
        else:
            hand.move(width, self._given.speed)
        return HardwareReturn.OK
