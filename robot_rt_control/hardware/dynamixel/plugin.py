"""The plugin `dynamixel`: servos with Protocol 2.0 on a serial bus, by the maker's SDK. Parameters: parameters.py.

Each `write` sends the goals of all servos and asks them for their state, without waiting; the next `read` takes the
answers that have arrived meanwhile. What must be acknowledged happens before motion, or one register at a time.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Iterable, Mapping

from robot_rt_control.hardware.dynamixel import control_table as table
from robot_rt_control.hardware.dynamixel.bus import ServoBus
from robot_rt_control.hardware.dynamixel.parameters import DynamixelParameters, check_rate, check_servos
from robot_rt_control.hardware.dynamixel.servo import Servo
from robot_rt_control.hardware.info import HardwareInfo
from robot_rt_control.hardware.parameters import checked
from robot_rt_control.hardware.plugin import CallbackReturn, HardwarePlugin, HardwareReturn
from robot_rt_control.vocabulary import defaults
from robot_rt_control.vocabulary.enums import CommandMode
from robot_rt_control.vocabulary.errors import HardwareError

_log = logging.getLogger(__name__)

_NONE, _POSITION = CommandMode.NONE, CommandMode.POSITION
_ANSWER = len(table.MAPPED)
_FIRST_ANSWER_S = 1.0
_REBOOT_S = 2.0
"""From one reboot of a servo to the next, if its error does not go."""


class DynamixelPlugin(HardwarePlugin):
    """A joint's mode other than NONE gives its servo torque.

    A servo that is silent, in error, restarted or stopped by its watchdog is given up: its joint's values become
    unknown, which faults its part and no other. Once its part is not commanded any more, an error is reset by a
    reboot; when the servo is healthy, its values are known again, and the part can be enabled.
    """

    def on_init(self, info: HardwareInfo) -> CallbackReturn:
        self.info = info
        self._bus: ServoBus | None = None
        where = f"hardware {info.name!r}, parameters of the dynamixel plugin"
        self._given = given = checked(DynamixelParameters, info.parameters, where)
        check_servos(given, info)
        check_rate(given, info, _ANSWER)
        self._exchange_s = given.every * info.period_s
        self._bound_s = info.period_s / 4 if given.exchange_bound is None else given.exchange_bound
        self._watchdog = round(given.watchdog / table.WATCHDOG_UNIT)
        if self._exchange_s * defaults.DRIVE_MISSING_PACKETS > given.watchdog:
            self.reason = (
                f"watchdog: expected at least {defaults.DRIVE_MISSING_PACKETS} exchanges of {self._exchange_s:g} s, "
                f"got {given.watchdog:g} s"
            )
            return CallbackReturn.FAILURE
        return CallbackReturn.SUCCESS

    # --- life cycle -------------------------------------------------------------------------------

    def on_configure(self) -> CallbackReturn:
        places = {i.name: k for k, i in enumerate(self.export_state_interfaces())}
        commands = {i.name: k for k, i in enumerate(self.export_command_interfaces())}
        parts = {part.name: part for part in self.info.parts}
        self._servos = []
        for given in self._given.servos:
            part, name = parts[given.joint.partition(".")[0]], given.joint.replace(".", "/", 1) + "/position"
            self._servos.append(Servo(given=given, part=part, state=places[name], command=commands[name]))
        self._by_id = {servo.id: servo for servo in self._servos}
        self._cycles, self._pending = 0, 0
        self._bus = ServoBus(self._given.port, self._given.baud_rate, self._given.answer_timeout)
        silent = [servo.what for servo in self._servos if self._bus.ping(servo.id) is None]
        if silent:
            raise HardwareError(
                f"hardware {self.info.name!r}: {', '.join(silent)}",
                expected=f"an answer at {self._given.baud_rate} baud on {self._given.port}",
                got="none",
                hint="Check supply, cable, id and baud rate; ids and rates are set with the maker's tool",
            )
        for servo in self._servos:
            for _ in servo.set_up(self._bus):
                pass
            if servo.written:
                _log.info("%s: written: %s", servo.what, ", ".join(servo.written))
        self._wait_for_answers()
        return CallbackReturn.SUCCESS

    def _wait_for_answers(self) -> None:
        given_up = time.monotonic() + _FIRST_ANSWER_S
        missing = set(self._by_id)
        while missing:
            if time.monotonic() > given_up:
                names = ", ".join(self._by_id[i].what for i in sorted(missing))
                raise HardwareError(f"{names}: state", expected=f"an answer within {_FIRST_ANSWER_S:g} s", got="none")
            self._request()
            self._receive(max(self._bound_s, 0.02))
            missing -= {servo.id for servo in self._servos if servo.answered and servo.is_set_up}
        self._publish()

    def on_activate(self) -> CallbackReturn:
        for servo in self._servos:
            servo.mode, servo.is_live, servo.missed = _NONE, False, 0
        self._wait_for_answers()
        self._cycles = 0
        return CallbackReturn.SUCCESS

    def on_deactivate(self) -> CallbackReturn:
        self._release(self._servos)
        return CallbackReturn.SUCCESS

    def close(self) -> None:
        """The servos hold or are free as `when_disabled` says; their watchdogs stop what still moves."""
        if self._bus is None:
            return
        bus, self._bus = self._bus, None
        bus.close()

    # --- modes ------------------------------------------------------------------------------------

    def prepare_command_mode_switch(self, modes: Mapping[str, tuple[CommandMode, ...]]) -> HardwareReturn:
        for servo in self._servos:
            wanted = modes.get(servo.part.name)
            starts = wanted is not None and wanted[servo.joint] != _NONE and servo.mode == _NONE
            if starts and servo.failure:
                self.reason = f"{servo.what}: {servo.failure}"
                return HardwareReturn.ERROR
        return super().prepare_command_mode_switch(modes)

    def perform_command_mode_switch(self, modes: Mapping[str, tuple[CommandMode, ...]]) -> HardwareReturn:
        released = []
        for servo in self._servos:
            if servo.part.name not in modes:
                continue
            mode = modes[servo.part.name][servo.joint]
            if mode == _NONE:
                released.append(servo)
                continue
            if mode == servo.mode or servo.failure:
                continue
            operating = servo.operating_mode_for(mode)
            if operating != servo.operating_mode:
                servo.is_live = False
                servo.to_write = [(table.TORQUE_ENABLE, 0), (table.OPERATING_MODE, operating)]
            elif servo.mode == _NONE:
                servo.is_live = False
            servo.mode, servo.waiting_s = mode, 0.0
        self._release(released)
        return HardwareReturn.OK

    def _release(self, servos: Iterable[Servo]) -> None:
        """Without commands: a servo with torque stays where it is, or becomes free."""
        assert self._bus is not None
        held = [servo for servo in servos if servo.mode != _NONE]
        if self._given.when_disabled == "free":
            self._bus.write_all(table.TORQUE_ENABLE, {servo.id: 0 for servo in held})
        else:
            for mode in {servo.mode for servo in held} - {_POSITION}:  # a position is held as it is
                self._bus.write_all(table.GOALS[mode], {s.id: 0 for s in held if s.mode == mode})
        for servo in held:
            servo.mode, servo.is_live, servo.to_write = _NONE, False, []

    # --- cycle ------------------------------------------------------------------------------------

    def read(self, time_s: float, period_s: float) -> HardwareReturn:
        self._receive(self._bound_s)
        self._publish()
        return HardwareReturn.OK

    def write(self, time_s: float, period_s: float) -> HardwareReturn:
        if self._cycles % self._given.every == 0:
            for servo in self._servos:
                self._judge(servo)
            self._enable()
            self._send_goals()
            self._request()
        self._cycles += 1
        return HardwareReturn.OK

    def _request(self) -> None:
        assert self._bus is not None
        for servo in self._servos:
            servo.answered = False
        self._bus.request(table.INDIRECT_DATA, _ANSWER, list(self._by_id))
        self._pending = len(self._servos)

    def _receive(self, bound_s: float) -> None:
        assert self._bus is not None
        for number, data in self._bus.receive(_ANSWER, bound_s, self._pending):
            self._pending -= 1
            if (servo := self._by_id.get(number)) is not None:
                servo.take(data)

    def _publish(self) -> None:
        for servo in self._servos:
            values = (math.nan,) * 3 if servo.failure else servo.values
            self.state[servo.state : servo.state + 3] = values

    def _send_goals(self) -> None:
        assert self._bus is not None
        for mode, register in table.GOALS.items():
            goals = {}
            for servo in self._servos:
                if servo.mode == _NONE and mode != _POSITION and servo.shown_torque:
                    if servo.operating_mode == servo.operating_mode_for(mode):
                        goals[servo.id] = 0  # the packet with which it was released may have been lost
                    continue
                if servo.mode != mode:
                    continue
                command = float(self.command[servo.command + mode - 1])
                if servo.is_live and not math.isfinite(command):
                    self._give_up(servo, f"its command is {command}")
                if servo.is_live:
                    goals[servo.id] = servo.goal(command)
                elif servo.failure and mode != _POSITION:
                    goals[servo.id] = 0  # it may still hear, and move on at its last goal
            self._bus.write_all(register, goals)

    # --- health -----------------------------------------------------------------------------------

    def _judge(self, servo: Servo) -> None:
        """Give up a servo that does not answer or is not healthy; take it back once it is."""
        servo.missed = 0 if servo.answered else servo.missed + 1
        found = self._fault_of(servo)
        if servo.failure and servo.mode == _NONE:
            self._recover(servo, found)
        elif found and not servo.failure:
            servo.failure, servo.is_live, servo.waiting_s, servo.to_write = found, False, math.inf, []
            _log.error("hardware %r, %s: %s", self.info.name, servo.what, found)

    def _fault_of(self, servo: Servo) -> str:
        if servo.missed >= defaults.DRIVE_MISSING_PACKETS:
            return f"no answer to {defaults.DRIVE_MISSING_PACKETS} requests in a row"
        if not servo.is_set_up:
            return "it has restarted"
        if servo.shown_error:
            text = f"hardware error: {table.error_names(servo.shown_error)}"
            if servo.shown_torque:
                text += "; it still has torque: support the joint, then switch the servo's supply off and on"
            return text
        if servo.is_live and servo.shown_watchdog == table.WATCHDOG_EXPIRED:
            return f"its watchdog has stopped it: the bus was silent for {self._given.watchdog:g} s"
        if servo.is_live and servo.shown_watchdog != self._watchdog:
            return f"its watchdog is not set any more: it shows {servo.shown_watchdog} instead of {self._watchdog}"
        if servo.is_live and not servo.shown_torque:
            return "it has no torque any more"
        return ""

    def _recover(self, servo: Servo, found: str) -> None:
        assert self._bus is not None
        servo.waiting_s += self._exchange_s
        if not found:
            servo.failure = ""
            _log.info("hardware %r, %s: healthy again", self.info.name, servo.what)
        elif servo.missed:
            return
        elif not servo.is_set_up:
            servo.setting_up = servo.setting_up or servo.set_up(self._bus)
            try:
                next(servo.setting_up)  # one access in each exchange: other servos may be moving
            except StopIteration:
                servo.setting_up = None
            except HardwareError as error:
                servo.setting_up = None
                _log.warning("%s", error)
        elif servo.shown_torque:
            return  # its register Shutdown leaves the torque on at this error: a reboot would let the joint fall
        elif servo.waiting_s >= _REBOOT_S:
            servo.waiting_s = 0.0
            _log.info("hardware %r, %s: rebooting it", self.info.name, servo.what)
            self._bus.reboot(servo.id)

    def _enable(self) -> None:
        """One step on the way to torque, for all servos that shall have it."""
        assert self._bus is not None
        ready: list[Servo] = []
        for servo in self._servos:
            if servo.mode == _NONE or servo.is_live or servo.failure:
                continue
            servo.waiting_s += self._exchange_s
            if servo.waiting_s > self._given.enable_timeout:
                shown = f"it shows Torque Enable {servo.shown_torque}, Bus Watchdog {servo.shown_watchdog}"
                why = servo.refused or shown
                self._give_up(servo, f"it is not enabled after {self._given.enable_timeout:g} s; {why}")
            elif not servo.answered:
                continue  # its late answer would be taken for an acknowledgement
            elif servo.to_write:
                register, value = servo.to_write[0]
                try:
                    self._bus.write(servo.id, register, value, servo.what, tries=1)
                except HardwareError as error:
                    _log.warning("%s; trying again", error)
                    continue
                if register == table.OPERATING_MODE:
                    servo.operating_mode = value
                servo.shown_torque = 0
                del servo.to_write[0]
            elif servo.shown_torque and servo.shown_watchdog == self._watchdog:
                self._begin(servo)
            else:
                ready.append(servo)
        # The goals come first, and are acknowledged: with its torque a servo moves to the goal that it has.
        self._bus.write_all(table.BUS_WATCHDOG, {s.id: 0 for s in ready})
        ready = [servo for servo in ready if self._is_told_to_rest(servo)]
        self._bus.write_all(table.TORQUE_ENABLE, {s.id: 1 for s in ready})
        self._bus.write_all(table.BUS_WATCHDOG, {s.id: self._watchdog for s in ready})

    def _is_told_to_rest(self, servo: Servo) -> bool:
        """Whether its goal is where it is: a packet may be lost, and a goal beyond its position limits is refused."""
        assert self._bus is not None
        servo.refused = ""
        if servo.beyond > self._given.enable_tolerance:
            servo.refused = f"it is {servo.beyond:.4g} beyond the joint's limits: turn it back by hand"
            return False
        try:
            self._bus.write(servo.id, table.GOALS[servo.mode], servo.resting_goal(), servo.what, tries=1)
        except HardwareError as error:
            servo.refused = str(error)
            return False
        return True

    def _begin(self, servo: Servo) -> None:
        """It has torque: from now on it follows, if the command has not moved away meanwhile."""
        command, tolerance = float(self.command[servo.command]), self._given.enable_tolerance
        if servo.mode == _POSITION and not abs(command - servo.values[0]) <= tolerance:
            text = f"the command {command:g} is more than {tolerance:g} from its position {servo.values[0]:g}"
            self._give_up(servo, f"{text} when it was enabled")
            return
        servo.is_live = True

    def _give_up(self, servo: Servo, why: str) -> None:
        servo.failure, servo.is_live, servo.waiting_s, servo.to_write = why, False, math.inf, []
        _log.error("hardware %r, %s: %s", self.info.name, servo.what, why)
