"""Hosts a Python plugin of a process image: publishes its states, passes on commands, rests without commands."""

from __future__ import annotations

import logging
import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from robot_rt_control.hardware.image import AWAITED, driver_calls
from robot_rt_control.hardware.info import HardwareInfo, HardwarePart
from robot_rt_control.hardware.interfaces import InterfaceDescription
from robot_rt_control.hardware.lifecycle import HardwareLifecycle, load_plugin
from robot_rt_control.hardware.plugin import HardwarePlugin
from robot_rt_control.hardware.process_image import Manifest, ProcessImage
from robot_rt_control.hardware.ranging import ranged
from robot_rt_control.hardware.rest_ramp import RestRamp
from robot_rt_control.memory.atomics import address_of
from robot_rt_control.memory.joint_modes import unpack_modes
from robot_rt_control.memory.layout import device_image_dtype, driver_dtype
from robot_rt_control.model.workcell.channels import Channel
from robot_rt_control.vocabulary.enums import CommandMode, DriverMode, ImageError
from robot_rt_control.vocabulary.errors import HardwareError
from robot_rt_control.vocabulary.motor_errors import motor_error_text
from robot_rt_control.vocabulary.part_kinds import JOINT_INTERFACES, JOINTED_KINDS

_log = logging.getLogger(__name__)

_FOLLOWING = DriverMode.FOLLOWING
_MOVING_PERIODS = 2
"""After more periods without a command, joints with position commands have stood: they are not set moving again."""
_EFFORT_PERIODS = 5
"""For so long an effort is held without commands: it was computed from the motion of its moment, and accelerates its
joint for as long as it is held. Of a real device: a simulated one waits for a machine that is busy."""
_CATCH_UP = 1.1
"""Times the limit of velocity: how fast a position catches up with commands that were missed."""


class DeviceHost:
    """One plugin and its image. One thread calls all methods, `cycle_read` and `cycle_write` once in each period.

    The host follows commands while they arrive and are enabled. Otherwise it brings the parts to rest by itself
    (see RestRamp), gives outputs their safe values, and holds this state:

    - `command_enable` is 0: until it is 1 again. At rest, joints are switched to the mode NONE.
    - The host begins: commands that are enabled already were meant for a predecessor that died, whose device stood
      elsewhere. The image reports EXECUTOR_SILENT, until the executor has withdrawn `command_enable`.
    - The executor's process has ended, or there was no command for more than `silence_periods` (five, if a joint of a
      real device has an effort): it hangs. Later commands are not followed, because the device has left their start:
      the image reports EXECUTOR_SILENT, the executor faults the parts and withdraws `command_enable`, which ends this
      state. After an end the host brakes at once, from the speed of the commands. A joint whose position was held in
      vain for so long stays where it is.
    - The plugin refuses a command mode: the same, with MODE_REFUSED.
    - The device has stopped by itself (`HardwarePlugin.stopped`): the same, with STOPPED and its error code. Once a
      fault of a part was cleared, the plugin is asked to `recover` it.

    A plugin that fails is not called again; the image reports DEVICE from then on; `failure` is the reason.

    Args:
        plugin: its name (see `load_plugin`), or a fresh object.
        info: the device.
        image_name: name of the shared-memory segment; None: the image is private to this process.
        silence_periods: 0: do not watch (if the loop runs in the same thread), and follow commands from the start.

    Raises:
        HardwareError: there is no such plugin, or it refused its parameters.
        ChannelError: another process owns the image.
    """

    def __init__(
        self,
        plugin: str | HardwarePlugin,
        info: HardwareInfo,
        *,
        image_name: str | None = None,
        silence_periods: int = 0,
    ) -> None:
        self.info = info
        self.plugin = load_plugin(plugin)() if isinstance(plugin, str) else plugin
        self.lifecycle = HardwareLifecycle(self.plugin, info)
        states, commands = self.lifecycle.state_interfaces, self.lifecycle.command_interfaces
        manifest = Manifest.of(info, states, commands)
        self.image = ProcessImage.private(manifest) if image_name is None else ProcessImage.create(image_name, manifest)
        self._side = self.image.new_driver_side()
        self._publish, self._take, *waits = driver_calls()
        self._await = waits[self.plugin.reply_s > info.period_s]
        self.addresses = self.image.address, address_of(self._side)
        """Addresses of the image, and of the driver's side of it (`layout.driver_dtype`)."""
        n = len(commands)
        # Views, because reading a field of a record takes a microsecond.
        fields = np.frombuffer(memoryview(self._side).cast("B"), driver_dtype)
        self._enable, self._last_cycle = _buffer(fields["enable"]), _buffer(fields["last_cycle"])
        self._clears, self._cleared = _buffer(fields["clears"]), -1
        image = np.frombuffer(memoryview(self.image.record).cast("B"), device_image_dtype)
        self._is_clock = _buffer(image["is_clock"])
        self._stopped = 0
        self.late_commands = 0
        """Commands that did not come within `reply_s` of their state, of a plugin that paces the loop."""
        if self.plugin.paces:
            self.image.record.wants_bell = 1
        self._published = self._side.state[: len(states)]
        self._taken = self._side.command[:n]
        self._command = self.lifecycle.command
        self._older, self._older_cycle, self._newer_cycle = np.zeros(n), 0, 0
        # What each cycle copies, as buffers: between arrays a copy takes many times as long.
        self._publication, self._measured = _buffer(self._published), _buffer(self.lifecycle.state)
        self._arrived, self._followed = _buffer(self._taken), _buffer(self._command)
        self._predecessor = _buffer(self._older)
        self._modes = self._side.mode[: int(self._side.n_parts)]
        self._last_modes = b""
        self._jointed = [part for part in info.parts if part.kind in JOINTED_KINDS]
        self._command_places = _places(commands, self._jointed)
        self._state_places = _places(states, self._jointed)
        self._outputs = _outputs(states, commands, info)
        self._ranges = _ranges(states, info)
        if silence_periods:
            silence_periods = max(silence_periods, math.ceil(self.plugin.silence_s / info.period_s))
        self._silence_periods, self._silent = silence_periods, 0
        self._patience = silence_periods
        self._is_bounded = silence_periods > 0 and not self.plugin.simulated  # simulated joints bound their own steps
        self._bounded: np.ndarray = np.zeros(0, int)
        """Indices of the position commands that are followed."""
        self._fastest: np.ndarray = np.zeros(0)
        """[rad/s or m/s] for each of them."""
        self._behind = False
        self._went_on = False
        """Whether the device was still being brought to rest when its commands were enabled."""
        self._followed_at = 0.0
        self._held = 0
        """Cycles since the last command that was followed."""
        self._latched, self._ending = ImageError.EXECUTOR_SILENT if silence_periods else ImageError.NONE, False
        self._side.error = int(self._latched)
        self._ramps: list[RestRamp] = []
        self.read_at = 0.0
        """Monotonic time [s] when the last state was published."""
        self.mode = DriverMode.HOLDING
        self.failure: HardwareError | None = None
        self._publish_mode(DriverMode.HOLDING)

    # --- life -----------------------------------------------------------------------------------

    def activate(self) -> None:
        """Open the device, allow motion, publish the first state. Raises: HardwareError."""
        self.lifecycle.configure()
        self.lifecycle.activate()
        self.cycle_read(0.0, self.info.period_s)
        if self.failure is not None:
            raise self.failure
        for output in self._outputs:  # not commanded yet: they keep their values
            read_back = self.lifecycle.state[output.state]
            self._command[output.command] = read_back if math.isfinite(read_back) else output.channel.initial

    def shutdown(self) -> None:
        """Release the device and remove the image; may be repeated. Raises: HardwareError."""
        try:
            self.lifecycle.shutdown()
        finally:
            self.image.close()

    # --- cycle ----------------------------------------------------------------------------------

    def cycle_read(self, time_s: float, period_s: float) -> None:
        """Read the device and publish its states."""
        self.read_device(time_s, period_s)
        self.read_at = time.monotonic()
        self._publish(*self.addresses)

    def cycle_write(self, time_s: float, period_s: float) -> None:
        """Take the newest command and write it to the device, or brake and hold.

        If the device paces the loop, it is the command of the state that was just published, unless that is late.
        """
        if not self.plugin.paces or self._is_clock[0] == 0:
            self.write_device(time_s, period_s, self._take(*self.addresses) == 1)
            return
        # Nobody is waited for twice in vain: an executor that is gone must count as silent soon.
        patience_s = min(self.plugin.reply_s, period_s) if self._silent else self.plugin.reply_s
        found = self._await(*self.addresses, time.monotonic_ns() + int(patience_s * 1e9))
        if found != AWAITED and self.mode == DriverMode.FOLLOWING:
            self.late_commands += 1
        self.write_device(time_s, period_s, found != 0)

    def read_device(self, time_s: float, period_s: float) -> None:
        """First half of `cycle_read`: the states are in the driver's side."""
        if self.failure is None:
            try:
                self.lifecycle.read(time_s, period_s)
                self._watch_stops()
                self._publication[:] = self._measured
                for place, measuring_range in self._ranges:
                    self._published[place] = ranged(self._measured[place], measuring_range)
            except HardwareError as error:
                self._fail(error)

    def write_device(self, time_s: float, period_s: float, new: bool) -> None:
        """Second half of `cycle_write`; `new`: the driver's side has a command that was not seen before."""
        if self.failure is not None:
            return
        self._silent = 0 if new else self._silent + 1
        self._held += 1
        enabled = self._enable[0] == 1
        if self._latched and new and not enabled and not self._ending:
            _log.info("hardware %r: the executor has withdrawn its commands: new ones are followed", self.info.name)
            self._latch(ImageError.NONE)
        if new and self._clears[0] != self._cleared:
            self._recover()
        if self._ending or self._latched or not enabled:
            self._rest(period_s)
        elif self._silence_periods and self._silent and not self.image.executor_alive():
            # At once: held for the silence that a hanging executor is granted, a moving joint would stop dead.
            _log.warning("hardware %r: the executor has ended: bringing the device to rest", self.info.name)
            self._rest_in_silence(period_s)
        elif self._silence_periods and self._silent > self._patience:
            _log.warning(
                "hardware %r: no command for %d periods: bringing the device to rest", self.info.name, self._silent
            )
            self._rest_in_silence(period_s)
        elif new and self.mode == DriverMode.BRAKING:
            # Enabled again in between. From its own motion a device goes over to the loop's at rest only.
            self._went_on = True
            self._rest(period_s)
        elif new:
            self._follow(period_s)
        if not self.lifecycle.can_write:
            return  # it failed while it switched modes
        self.plugin.fresh = new or self.mode != DriverMode.FOLLOWING
        try:
            self.lifecycle.write(time_s, period_s)
        except HardwareError as error:
            self._fail(error)

    def note_stall(self) -> None:
        """The device got nothing for some periods: what it held stands, and is not set in motion again."""
        self._held = _MOVING_PERIODS + 1

    def end_following(self) -> None:
        """From now on only brake and hold; `mode` becomes HOLDING after some cycles. For a driver that shuts down."""
        self._ending = True
        self._side.error = int(ImageError.DRIVER_ENDING)

    # --- following ------------------------------------------------------------------------------

    def _follow(self, period_s: float) -> None:
        modes = self._modes.tobytes()
        if modes != self._last_modes or self.mode != _FOLLOWING:
            if not self._switch(modes, period_s):
                return
            # A first command of a mode has no predecessor: it does not move yet.
            self._predecessor[:], self._older_cycle = self._arrived, self._last_cycle[0] - 1
            self._behind = self._is_bounded and self._went_on
            if self._went_on:  # since its commands were enabled
                for part in self._jointed:
                    measured = self.lifecycle.state[self._state_places[part.name]][0::3]
                    before = self._older[self._command_places[part.name]][0::3]
                    np.copyto(before, measured, where=np.isfinite(measured))
            self._went_on = False
        else:
            self._predecessor[:], self._older_cycle = self._followed, self._newer_cycle
            # The executor's commands are continuous: a step that is too large comes only after some were missed.
            self._behind = self._is_bounded and (self._behind or self._last_cycle[0] - self._newer_cycle > 1)
        self._newer_cycle = self._last_cycle[0]
        self._followed[:] = self._arrived
        if self._behind:
            self._bound_steps(period_s)
        self._followed_at = self.read_at
        self._held = 0

    def _bound_steps(self, period_s: float) -> None:
        """Commands that were missed, as a process or the device hung, are not made up in one step: a person may stand
        beside."""
        passed = min(max(self.read_at - self._followed_at, period_s), _MOVING_PERIODS * period_s)
        most = _CATCH_UP * self._fastest * passed
        last, wanted = self._older[self._bounded], self._taken[self._bounded]
        bounded = np.clip(wanted, last - most, last + most)
        self._command[self._bounded] = bounded
        self._behind = bool((bounded != wanted).any())

    def _switch(self, modes: bytes, period_s: float) -> bool:
        """Switch the joints to the commanded modes; False: the plugin refused, and the device is braking."""
        kept = self._command.copy()
        self._command[:] = self._taken  # the plugin may look at the first commands of the new modes
        try:
            self.lifecycle.switch_modes({part.name: self._commanded_modes(part) for part in self._jointed})
        except HardwareError as error:
            self._command[:] = kept
            if self.lifecycle.can_write:
                _log.error("%s", error)
                self._latch(ImageError.MODE_REFUSED)
                self._rest(period_s)
            else:
                self._fail(error)
            return False
        self._last_modes = modes
        self._look_at_modes()
        self._ramps = []
        if self.mode != DriverMode.FOLLOWING:
            _log.info("hardware %r: following the executor's commands", self.info.name)
        self._publish_mode(DriverMode.FOLLOWING)
        return True

    def _look_at_modes(self) -> None:
        """What follows from the joints' modes: which steps are bounded, and how long commands are held."""
        bounded: list[int] = []
        fastest: list[float] = []
        efforts = False
        for part in self._jointed:
            first = self._command_places[part.name].start
            for j, mode in enumerate(self.lifecycle.modes[part.name]):
                efforts = efforts or mode == CommandMode.EFFORT
                if mode == CommandMode.POSITION:
                    bounded.append(first + 3 * j)
                    fastest.append(part.limits.velocity[j])
        self._bounded, self._fastest = np.array(bounded, int), np.array(fastest)
        is_short = efforts and not self.plugin.simulated
        self._patience = min(_EFFORT_PERIODS, self._silence_periods) if is_short else self._silence_periods

    def _commanded_modes(self, part: HardwarePart) -> tuple[CommandMode, ...]:
        word = int(self._modes[part.index])
        try:
            return unpack_modes(word, len(part.joint_names))
        except ValueError:
            what = f"hardware {self.info.name!r}, part {part.name!r}: commanded modes"
            raise HardwareError(what, expected="a CommandMode of each joint", got=f"{word:#x}") from None

    # --- resting --------------------------------------------------------------------------------

    def _rest(self, period_s: float) -> None:
        if self.mode == DriverMode.HOLDING:
            if not (self._latched or self._ending):
                self._release()
            return
        if self.mode == DriverMode.FOLLOWING:
            self._begin_rest(period_s)
        for ramp in self._ramps:
            ramp.step(period_s)
        if all(ramp.at_rest for ramp in self._ramps):
            _log.info("hardware %r: at rest", self.info.name)
            self._publish_mode(DriverMode.HOLDING)

    def _rest_in_silence(self, period_s: float) -> None:
        self._latch(ImageError.EXECUTOR_SILENT)
        self._rest(period_s)

    def _begin_rest(self, period_s: float) -> None:
        if self._held > _MOVING_PERIODS:
            self._predecessor[:] = self._followed
        cycles = max(self._newer_cycle - self._older_cycle, 1)
        velocity = (self._command - self._older) / (cycles * period_s)
        self._ramps = []
        for output in self._outputs:
            if math.isfinite(output.channel.safe):
                self._command[output.command] = output.channel.safe
        modes: dict[str, tuple[CommandMode, ...]] = {}
        for part in self._jointed:
            places = self._command_places[part.name]
            measured = self.lifecycle.state[self._state_places[part.name]]
            present = self.lifecycle.modes[part.name]
            ramp = RestRamp(part, present, self._command[places], velocity[places][0::3], measured)
            self._ramps.append(ramp)
            modes[part.name] = ramp.modes
        self._publish_mode(DriverMode.BRAKING)
        try:
            self.lifecycle.switch_modes(modes)
        except HardwareError as error:
            self._ramps = []
            if not self.lifecycle.can_write:
                self._fail(error)
                return
            # It does not brake in this mode, as a device that has stopped by itself. NONE must always be possible.
            _log.warning("%s", error)
            self._release()

    def _release(self) -> None:
        """Motion is disabled, and the device is at rest: no joint is commanded."""
        try:
            self.lifecycle.switch_modes({part.name: CommandMode.NONE for part in self._jointed})
        except HardwareError as error:
            self._fail(error)

    def _watch_stops(self) -> None:
        code = self.plugin.stopped
        if code == self._stopped:
            return
        self._stopped = code
        if code and not self._ending:
            _log.error("hardware %r has stopped: %s", self.info.name, self.plugin.reason or motor_error_text(code))
            self._latch(ImageError.STOPPED)

    def _recover(self) -> None:
        """A fault was cleared: a device that has stopped shall be able to move again. The image is silent meanwhile."""
        first, self._cleared = self._cleared < 0, int(self._clears[0])
        if first or not self.plugin.stopped:
            return
        self._stopped = 0  # if it goes on, it is a new stop
        try:
            self.plugin.recover()
        except Exception as error:  # a plugin may raise anything
            _log.error("hardware %r could not be recovered: %s", self.info.name, error)
        else:
            _log.info("hardware %r: recovered", self.info.name)

    def _latch(self, error: ImageError) -> None:
        self._latched = error
        self._side.error = int(error) | (self.plugin.stopped << 8 if error else 0)

    def _fail(self, error: HardwareError) -> None:
        _log.error("%s", error)
        self.failure = error
        self._side.error = int(ImageError.DEVICE)
        self._publish_mode(DriverMode.HOLDING)

    def _publish_mode(self, mode: DriverMode) -> None:
        self.mode = mode
        self.image.record.driver_mode = int(mode)


def _buffer(array: Any) -> memoryview:
    """An array's own memory, never a copy; Any: NumPy does not declare that its arrays are buffers."""
    return memoryview(array)


@dataclass(frozen=True)
class _Output:
    """An output, and its indices among states and commands."""

    channel: Channel
    state: int
    command: int


def _outputs(
    states: list[InterfaceDescription], commands: list[InterfaceDescription], info: HardwareInfo
) -> list[_Output]:
    """The outputs of all parts.

    Raises:
        HardwareError: a plugin does not export one of them.
    """
    state = {interface.name: i for i, interface in enumerate(states)}
    command = {interface.name: i for i, interface in enumerate(commands)}
    found = []
    for part in info.parts:
        for channel in part.outputs:
            name = f"{part.name}/{channel.name}"
            if name not in state or name not in command:
                raise HardwareError(
                    f"part {part.name!r}: output {channel.name!r}",
                    expected=f"{name!r} among the exported state and command interfaces",
                    hint="Begin with the base class's interfaces, and add your own at the end",
                )
            found.append(_Output(channel, state[name], command[name]))
    return found


def _ranges(states: list[InterfaceDescription], info: HardwareInfo) -> list[tuple[int, tuple[float, float]]]:
    """Index of the state of each rangefinder whose range is known, and this range [m]."""
    parts = {f"{part.name}/distance": part for part in info.parts}
    found = [(i, parts[interface.name].range) for i, interface in enumerate(states) if interface.name in parts]
    return [(i, measuring_range) for i, measuring_range in found if measuring_range is not None]


def _places(interfaces: list[InterfaceDescription], parts: list[HardwarePart]) -> dict[str, slice]:
    """Indices of the position, velocity and effort of each part's joints, joint by joint.

    Raises:
        HardwareError: a plugin exports them in another order.
    """
    index = {interface.name: i for i, interface in enumerate(interfaces)}
    places: dict[str, slice] = {}
    for part in parts:
        names = [f"{part.name}/{joint}/{kind}" for joint in part.joint_names for kind in JOINT_INTERFACES]
        found = [index.get(name, -1) for name in names]
        if found != list(range(found[0], found[0] + len(found))) or found[0] < 0:
            raise HardwareError(
                f"part {part.name!r}: exported interfaces of its joints",
                expected="position, velocity and effort, joint by joint: " + ", ".join(names[:4]) + ", …",
                hint="Begin with the base class's interfaces, and add your own at the end",
            )
        places[part.name] = slice(found[0], found[0] + len(found))
    return places
