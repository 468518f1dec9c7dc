"""Tests that every hardware plugin must pass. Derive a class of your test file from `PluginContract`:

    class TestMyDriver(PluginContract):
        @contextmanager
        def device(self) -> Iterator[ContractDevice]:
            with MySimulatedDevice() as peer:
                yield ContractDevice(
                    plugin=MyDriver, info=info_of("my_cell.yaml", "my_device"), silence=peer.unplug, restore=peer.plug
                )

pytest then runs each of its methods against a device of its own. What a device does not have (a mode, an output) is not
tested; a plugin for real hardware must say how its device falls silent.
"""

from __future__ import annotations

import math
import os
import random
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from robot_rt_control.hardware.device_host import DeviceHost
from robot_rt_control.hardware.from_workcell import hardware_info
from robot_rt_control.hardware.image import write_command
from robot_rt_control.hardware.info import HardwareInfo, HardwarePart
from robot_rt_control.hardware.interfaces import standard_command_interfaces, standard_state_interfaces
from robot_rt_control.hardware.lifecycle import HardwareLifecycle, LifecycleState
from robot_rt_control.hardware.plugin import CallbackReturn, HardwarePlugin, HardwareReturn
from robot_rt_control.memory.joint_modes import pack_modes
from robot_rt_control.memory.layout import device_dtype
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.vocabulary.enums import CommandMode, DriverMode
from robot_rt_control.vocabulary.errors import HardwareError
from robot_rt_control.vocabulary.part_kinds import JOINTED_KINDS

_NONE, _POSITION, _VELOCITY = CommandMode.NONE, CommandMode.POSITION, CommandMode.VELOCITY
_SETTLED_S = 60.0
"""Wall-clock time within which what is commanded must have happened, on however slow a machine."""
_WRONG_SCALE = 2.0
"""A measured velocity may be wrong by less than this factor: a wrong unit is wrong by more, a busy machine by less."""


def info_of(workcell: str | Path, device: str, *, hardware: str | None = None, **parameters: Any) -> HardwareInfo:
    """A device of a workcell file as its plugin gets it.

    Args:
        hardware: the plugin to use instead of the file's.
        parameters: replace those of the file.

    Raises:
        DefinitionError: the file is wrong, or has no such device.
    """
    described = load_workcell(Path(workcell), hardware)
    info = hardware_info(described, described.device(device))
    return replace(info, parameters={**info.parameters, **parameters})


@dataclass(kw_only=True)
class ContractDevice:
    """A device, or what simulates it, and how its plugin is tested."""

    plugin: type[HardwarePlugin]
    info: HardwareInfo
    lockstep: bool = False
    """Whether the device's time passes with the cycles, as a simulation's does. Otherwise each cycle takes a period."""
    between: Callable[[HardwarePlugin], object] | None = None
    """Called after each `write`, instead of a sleep."""
    silence: Callable[[], object] | None = None
    """Let the device answer no more, as if its cable were pulled. Required unless the plugin simulates."""
    restore: Callable[[], object] | None = None
    """Undo `silence`."""
    silence_s: float = 1.0
    """[s] of cycles until a silent device must have been noticed."""
    enable_cycles: int = 20
    """Cycles after a change of modes until its joints follow."""
    still: float = 1e-3
    """[rad or m] by which a joint that holds may seem to move."""
    tolerance: float = 2e-3
    """[rad or m] between a commanded position and the measured one, when the joint has reached it."""
    step: float = 0.05
    """[rad or m] by which a test moves a joint, at most a fifth of its range."""
    excluded: Mapping[str, str] = field(default_factory=dict)
    """Part → why the tests do not move it."""

    def __post_init__(self) -> None:
        self.lockstep |= self.plugin.simulated


class Run:
    """One plugin in its life cycle; names instead of indices."""

    def __init__(self, device: ContractDevice, plugin: HardwarePlugin | None = None) -> None:
        self.device, self.info = device, device.info
        self.plugin = device.plugin() if plugin is None else plugin
        self.life = HardwareLifecycle(self.plugin, device.info)
        self.states = {i.name: k for k, i in enumerate(self.life.state_interfaces)}
        self.commands = {i.name: k for k, i in enumerate(self.life.command_interfaces)}
        self.count = 0

    def activate(self) -> Run:
        self.life.configure()
        self.life.activate()
        return self

    def cycle(self, n: int = 1) -> None:
        """As the driver process does: read first, write last."""
        period = self.info.period_s
        for _ in range(n):
            self.life.read(self.count * period, period)
            if self.life.can_write:
                self.life.write(self.count * period, period)
            self.count += 1
            self.pass_period()

    def pass_period(self) -> None:
        """Let the device take the last command."""
        if self.device.between is not None:
            self.device.between(self.plugin)
        elif not self.device.lockstep:
            time.sleep(self.info.period_s)

    def read(self) -> np.ndarray:
        """All states now."""
        self.life.read(self.count * self.info.period_s, self.info.period_s)
        return self.life.state.copy()

    def joints(self, part: HardwarePart, quantity: str) -> np.ndarray:
        """Last read position, velocity or effort of a part's joints."""
        return self.life.state[[self.states[f"{part.name}/{name}/{quantity}"] for name in part.joint_names]]

    def command(self, part: HardwarePart, quantity: str, values: np.ndarray) -> None:
        self.life.command[[self.commands[f"{part.name}/{name}/{quantity}"] for name in part.joint_names]] = values

    def follow(self, part: HardwarePart, mode: CommandMode) -> np.ndarray:
        """Switch a part to a mode, at rest where it is. Returns its positions."""
        self.cycle(2)
        self.read()
        start = self.joints(part, "position").copy()
        for quantity, value in (("position", start), ("velocity", 0.0 * start), ("effort", 0.0 * start)):
            self.command(part, quantity, value)
        self.life.switch_modes({part.name: mode})
        self.cycle(self.device.enable_cycles)
        return start

    def known(self, cycles: int = 200) -> Run:
        """Cycle until all positions are known."""
        for _ in range(cycles):
            self.cycle()
            self.read()
            if all(np.isfinite(self.joints(part, "position")).all() for part in jointed(self.info)):
                return self
        raise AssertionError(f"positions are still unknown after {cycles} cycles: {self.unknown()}")

    def unknown_of(self, places: list[int]) -> int:
        """How many of these states are unknown."""
        return int(np.isnan(self.life.state[places]).sum())

    def unknown(self) -> list[str]:
        return [name for name, k in self.states.items() if math.isnan(self.life.state[k])]


def jointed(info: HardwareInfo) -> list[HardwarePart]:
    return [part for part in info.parts if part.kind in JOINTED_KINDS]


def _check(right: bool, text: str) -> None:
    """As `assert`, with a text of its own: pytest explains asserts in test files only."""
    if not right:
        raise AssertionError(text)


def _refusal(action: Callable[[], object], what: str) -> str:
    """The text of the HardwareError that the action raises."""
    try:
        action()
    except HardwareError as error:
        return str(error)
    raise AssertionError(f"{what}: expected a HardwareError, got none")


class PluginContract(ABC):
    """Derive from it: see the module's text. Each `test_…` is one promise that a plugin makes."""

    seed = 1
    """Of the random lives."""
    lives = 6
    """How many random lives."""

    @abstractmethod
    def device(self) -> AbstractContextManager[ContractDevice]:
        """The device, ready to be configured; each test gets one of its own."""

    # --- names, units, shapes ---------------------------------------------------------------------

    def test_interfaces_have_the_names_units_and_order_of_the_parts(self) -> None:
        """The standard interfaces come first, in the order of the workcell file; further ones after them."""
        with self.device() as device:
            run = Run(device)
            for found, standard in (
                (run.life.state_interfaces, standard_state_interfaces(device.info)),
                (run.life.command_interfaces, standard_command_interfaces(device.info)),
            ):
                _check(found[: len(standard)] == standard, f"expected {standard} first, got {found}")
                for added in found[len(standard) :]:
                    _check(not added.field, f"{added.name}: only standard interfaces fill a field of the loop")
            _check(run.plugin.export_state_interfaces() == run.life.state_interfaces, "they differ when asked again")
            run.life.shutdown()
            DeviceHost(device.plugin(), device.info).shutdown()  # raises what a host would refuse

    def test_states_are_written_in_place(self) -> None:
        """The arrays stay the same objects, and `command` belongs to the caller."""
        with self.device() as device:
            run = Run(device).activate()
            run.cycle(3)
            before = run.life.command.copy()
            run.cycle(3)
            run.read()
            for name in ("state", "command"):
                mine, theirs = getattr(run.life, name), getattr(run.plugin, name)
                _check(theirs is mine, f"`self.{name}` was replaced: write it in place")
            _check(run.life.state.shape == (len(run.states),), f"shape of `state`: {run.life.state.shape}")
            _check(np.array_equal(before, run.life.command, equal_nan=True), "read or write changed `command`")
            run.life.shutdown()

    def test_states_are_known_and_plausible(self) -> None:
        """Positions are within the limits, give or take; digital inputs are 0, 1 or unknown; nothing is infinite but a
        distance out of range."""
        with self.device() as device:
            run = Run(device).activate().known()
            for part in jointed(device.info):
                position, limits = run.joints(part, "position"), part.limits
                low, high = np.array(limits.position_lower), np.array(limits.position_upper)
                margin = np.where(np.isfinite(high - low), 0.5 * (high - low), np.inf) + 0.1
                inside = (position >= low - margin) & (position <= high + margin)
                _check(bool(inside.all()), f"{part.name}: positions {position} within {low} to {high}? Check the units")
            for part in device.info.parts:
                for channel in (*part.inputs, *part.outputs):
                    value = run.life.state[run.states[f"{part.name}/{channel.name}"]]
                    digital = not channel.is_digital or value in (0.0, 1.0) or math.isnan(value)
                    _check(bool(digital), f"{part.name}/{channel.name}: {value}; expected 0, 1 or NaN")
            far = {i.name for i in run.life.state_interfaces if i.field == "distance"}
            infinite = [name for name, k in run.states.items() if math.isinf(run.life.state[k]) and name not in far]
            _check(not infinite, f"infinite states: {infinite}")
            run.life.shutdown()

    def test_unknown_parameters_are_refused_by_name(self) -> None:
        with self.device() as device:
            wrong = replace(device.info, parameters={**device.info.parameters, "no_such_parameter": 1})
            text = _refusal(lambda: HardwareLifecycle(device.plugin(), wrong), "an unknown parameter")
            _check("no_such_parameter" in text, f"the error does not name the parameter: {text}")

    # --- life cycle -------------------------------------------------------------------------------

    def test_it_can_be_configured_again(self) -> None:
        with self.device() as device:
            run = Run(device)
            for _ in range(3):
                run.activate()
                run.known()
                run.life.deactivate()
                run.read()
                run.life.cleanup()
            run.activate().known()
            run.life.deactivate()
            run.life.activate()  # without cleaning up
            run.known()
            run.life.shutdown()

    def test_lives_in_any_order(self) -> None:
        """Random sequences: allowed steps succeed, all others are refused and change nothing."""
        state = LifecycleState
        steps: dict[str, tuple[tuple[LifecycleState, ...], LifecycleState | None]] = {
            "configure": ((state.UNCONFIGURED,), state.INACTIVE),
            "activate": ((state.INACTIVE,), state.ACTIVE),
            "deactivate": ((state.ACTIVE,), state.INACTIVE),
            "cleanup": ((state.INACTIVE,), state.UNCONFIGURED),
            "read": ((state.INACTIVE, state.ACTIVE), None),
            "write": ((state.ACTIVE,), None),
        }
        chance = random.Random(self.seed)
        with self.device() as device:
            for _ in range(self.lives):
                run = Run(device)
                taken: list[str] = []
                for _ in range(chance.randrange(3, 12)):
                    name = chance.choice(list(steps))
                    taken.append(name)
                    start, goal = steps[name]
                    before, step = run.life.lifecycle_state, getattr(run.life, name)
                    arguments = (0.0, device.info.period_s) if name in ("read", "write") else ()
                    if before in start:
                        step(*arguments)
                        _check(run.life.lifecycle_state == (goal or before), f"state after {taken}")
                        if name == "write":
                            run.pass_period()
                    else:
                        _refusal(lambda step=step, given=arguments: step(*given), ", ".join(taken))  # type: ignore[misc]
                        _check(run.life.lifecycle_state == before, f"a refused step changed the state: {taken}")
                run.life.shutdown()
                run.life.shutdown()

    def test_close_may_be_repeated(self) -> None:
        """Before the device was opened, while it is open, and twice."""
        with self.device() as device:
            run = Run(device)
            run.plugin.close()
            run.activate().known()
            run.plugin.close()
            run.plugin.close()
            with suppress(HardwareError):  # it is closed already
                run.life.shutdown()
            Run(device).activate().known().life.shutdown()

    def test_each_callback_returns_its_own_type(self) -> None:
        """False and 0 are no answers: they would equal SUCCESS."""
        with self.device() as device:
            returned: dict[str, object] = {}
            run = Run(device, _spied(device.plugin, returned)())
            run.activate().known()
            for part in jointed(device.info):
                run.follow(part, min(part.supported_modes - {_NONE}))
            run.life.deactivate()
            run.life.cleanup()
            run.life.configure()
            run.life.shutdown()
            for name, value in returned.items():
                wanted = CallbackReturn if name.startswith("on_") else HardwareReturn
                _check(type(value) is wanted, f"{name} returned {value!r}; expected a {wanted.__name__}")

    def test_an_exception_in_any_method_leaves_nothing_open(self) -> None:
        """Each method in turn raises after it has done its work. The error has the text, and the device is released:
        another plugin can open it."""
        with self.device() as device:
            for name in _FALLIBLE:
                run: Run | None = None
                try:
                    run = Run(device, _raising(device.plugin, name)())
                    _whole_life(run)
                except HardwareError as error:
                    _check("out of order" in str(error), f"{name} raised, but the error is: {error}")
                else:
                    switches = "command_mode_switch" in name
                    _check(switches and not jointed(device.info), f"{name} raised, and nothing reports it")
                if run is not None:
                    with suppress(HardwareError):
                        run.life.shutdown()
                Run(device).activate().known().life.shutdown()

    def test_nothing_is_left_open(self) -> None:
        """Threads and files, after a few lives."""
        with self.device() as device:
            _whole_life(Run(device))  # what stays open once is a library's own
            threads, files = threading.active_count(), len(os.listdir("/proc/self/fd"))
            for _ in range(3):
                _whole_life(Run(device))
            given_up = time.monotonic() + _SETTLED_S
            while True:
                now = threading.active_count(), len(os.listdir("/proc/self/fd"))
                if now[0] <= threads and now[1] <= files:
                    return
                found = f"threads, files: {(threads, files)} after one life, {now} after four"
                _check(time.monotonic() < given_up, found)
                time.sleep(0.01)

    # --- modes and motion -------------------------------------------------------------------------

    def test_without_a_mode_nothing_moves(self) -> None:
        """Whatever is commanded, also if it is not a number."""
        with self.device() as device:
            run = Run(device).activate().known()
            start = {part.name: run.joints(part, "position").copy() for part in jointed(device.info)}
            for value in (0.3, -0.3, math.nan):
                for part in jointed(device.info):
                    q = start[part.name]
                    for quantity, values in (
                        ("position", q + value),
                        ("velocity", 0 * q + value),
                        ("effort", q + value),
                    ):
                        run.command(part, quantity, values)
                run.cycle(10)
            run.read()
            for part in jointed(device.info):
                moved = np.abs(run.joints(part, "position") - start[part.name])
                _check(bool((moved <= device.still).all()), f"{part.name} moved by {moved} without a command mode")
            run.life.shutdown()

    def test_unsupported_modes_are_refused_and_change_nothing(self) -> None:
        with self.device() as device:
            run = Run(device).activate().known()
            for part in jointed(device.info):
                usual = min(part.supported_modes - {_NONE})
                start = run.follow(part, usual)
                kept = run.life.modes[part.name]
                for mode in set(CommandMode) - {_NONE} - part.supported_modes:
                    text = _refusal(lambda part=part, mode=mode: run.life.switch_modes({part.name: mode}), str(mode))  # type: ignore[misc]
                    _check(part.name in text or part.joint_names[0] in text, f"the reason names no part: {text}")
                    _check(
                        run.life.modes[part.name] == kept and run.life.can_write, "a refused switch changed something"
                    )
                    run.cycle(5)
                run.read()
                if usual == _POSITION:
                    moved = np.abs(run.joints(part, "position") - start)
                    _check(bool((moved <= device.tolerance).all()), f"{part.name} moved by {moved} when it was refused")
                run.life.switch_modes({part.name: _NONE})
                run.cycle(3)
            run.life.shutdown()

    def test_mixed_modes_are_taken_or_refused_with_a_reason(self) -> None:
        """What is taken is done: the last joint follows while the first one holds."""
        with self.device() as device:
            run = Run(device).activate().known()
            for part in jointed(device.info):
                modes = sorted(part.supported_modes - {_NONE})
                if len(part.joint_names) < 2:
                    continue
                start = run.follow(part, modes[0])
                for other in (modes[-1], _NONE):
                    mixed = (other,) + (modes[0],) * (len(part.joint_names) - 1)
                    try:
                        run.life.switch_modes({part.name: mixed})
                    except HardwareError as error:
                        _check("no reason" not in str(error), f"refused without a reason: {error}")
                        _check(run.life.can_write, f"broke when joints had different modes: {error}")
                    else:
                        run.cycle(device.enable_cycles)
                        if other == _NONE and modes[0] == _POSITION and part.name not in device.excluded:
                            _move_joint(run, part, len(start) - 1, switch=False)
                    run.cycle(3)
                run.life.switch_modes({part.name: _NONE})
                run.cycle(3)
            run.life.shutdown()

    def test_activation_begins_without_modes(self) -> None:
        """After a life in which joints had modes, they hold until they get one again."""
        with self.device() as device:
            run = Run(device).activate().known()
            for cleans_up in (False, True):
                for part in jointed(device.info):
                    run.follow(part, min(part.supported_modes - {_NONE}))
                run.life.deactivate()
                if cleans_up:
                    run.life.cleanup()
                    run.life.configure()
                run.life.activate()
                run.known()
                start = {part.name: run.joints(part, "position").copy() for part in jointed(device.info)}
                for part in jointed(device.info):
                    for quantity in ("position", "velocity", "effort"):
                        run.command(part, quantity, start[part.name] + 0.2)
                run.cycle(10)
                run.read()
                for part in jointed(device.info):
                    moved = np.abs(run.joints(part, "position") - start[part.name])
                    text = f"{part.name} moved by {moved}: it had a command mode before it was deactivated"
                    _check(bool((moved <= device.still).all()), text)
            run.life.shutdown()

    def test_positions_are_reached_joint_by_joint(self) -> None:
        """Each joint alone moves, in its own direction and unit, and its measured velocity is that of its positions."""
        with self.device() as device:
            for part in _movable(device, _POSITION):
                run = Run(device).activate().known()
                for j in range(len(part.joint_names)):
                    _move_joint(run, part, j)
                run.life.shutdown()

    def test_velocities_move_as_far_as_they_say(self) -> None:
        with self.device() as device:
            for part in _movable(device, _VELOCITY):
                run = Run(device).activate().known()
                for j, joint in enumerate(part.joint_names):
                    start = run.follow(part, _VELOCITY)
                    step, speed = _step(device, part, j, start[j])
                    begun, cycles = time.monotonic(), math.ceil(abs(step) / (speed * device.info.period_s))
                    for _ in range(cycles):
                        run.command(part, "velocity", np.eye(len(start))[j] * math.copysign(speed, step))
                        run.cycle()
                    took = cycles * device.info.period_s if device.lockstep else time.monotonic() - begun
                    run.command(part, "velocity", 0 * start)
                    run.cycle(device.enable_cycles)
                    run.read()
                    moved, way = run.joints(part, "position") - start, math.copysign(speed * took, step)
                    least = 1.0 / _WRONG_SCALE if abs(way) > 2 * device.tolerance else -_WRONG_SCALE
                    text = f"{part.name}.{joint}: moved by {moved[j]:.4f} at a velocity that should give {way:.4f}"
                    _check(bool(least <= moved[j] / way < _WRONG_SCALE), text)
                    others = np.delete(np.abs(moved), j)
                    _check(bool((others <= device.still + 0.1 * abs(way)).all()), f"other joints moved too: {moved}")
                    run.life.switch_modes({part.name: _NONE})
                    run.cycle(3)
                run.life.shutdown()

    def test_a_change_between_all_modes_at_rest(self) -> None:
        """Efforts are commanded as zero for a moment: nothing becomes unknown."""
        with self.device() as device:
            run = Run(device).activate().known()
            for part in jointed(device.info):
                for mode in (
                    *sorted(part.supported_modes - {_NONE}),
                    _NONE,
                    min(part.supported_modes - {_NONE}),
                    _NONE,
                ):
                    run.follow(part, mode)
                    run.cycle(3)
                    run.read()
                    position = run.joints(part, "position")
                    _check(bool(np.isfinite(position).all()), f"{part.name}, mode {mode.name}: {position}")
            run.life.shutdown()

    def test_outputs_are_read_back(self) -> None:
        """An output of 0 or 1 reaches the device, and comes back as state."""
        with self.device() as device:
            run = Run(device).activate().known()
            for part in device.info.parts:
                for channel in part.outputs:
                    name = f"{part.name}/{channel.name}"
                    if not channel.is_digital:
                        continue
                    for value in (1.0, 0.0, 1.0):
                        run.life.command[run.commands[name]] = value
                        _until(run, lambda name=name, value=value: run.life.state[run.states[name]] == value, name)  # type: ignore[misc]
            run.life.shutdown()

    # --- time -------------------------------------------------------------------------------------

    def test_late_cycles_harm_nothing(self) -> None:
        """The driver's process was held up: the states go on, and a part that holds does not move."""
        with self.device() as device:
            run = Run(device).activate().known()
            start = {p.name: run.follow(p, _POSITION) for p in jointed(device.info) if _POSITION in p.supported_modes}
            for _ in range(3):
                for _ in range(3):
                    run.pass_period()
                run.read()
                run.read()
                run.cycle(2)
            run.known()
            for part in jointed(device.info):
                if part.name in start:
                    moved = np.abs(run.joints(part, "position") - start[part.name])
                    _check(bool((moved <= device.tolerance).all()), f"{part.name} moved by {moved} after late cycles")
            run.life.shutdown()

    def test_a_silent_device_is_noticed(self) -> None:
        """Old values do not stay known: `read` fails with a reason, or the values become NaN. After that the device can
        be opened again."""
        with self.device() as device:
            if not self._can_fall_silent(device):
                return
            run = Run(device).activate().known()
            watched = [k for k in range(len(run.states)) if math.isfinite(run.read()[k])]
            assert device.silence is not None and device.restore is not None
            device.silence()
            left = math.ceil(device.silence_s / device.info.period_s)
            try:
                while run.unknown_of(watched) == 0:
                    _check(left > 0, f"after {device.silence_s} s of silence all values are still known")
                    left -= 1
                    run.cycle()
            except HardwareError as error:
                _check("no reason" not in str(error), f"the error of a silent device has no reason: {error}")
            with suppress(HardwareError):  # a silent device cannot be brought to rest by a command
                run.life.shutdown()
            device.restore()
            Run(device).activate().known().life.shutdown()

    def test_reads_do_not_wait_for_a_silent_device(self) -> None:
        """The fastest of a few reads takes less than a period: the machine may be busy, but not each time."""
        with self.device() as device:
            if not self._can_fall_silent(device):
                return
            assert device.silence is not None and device.restore is not None
            run = Run(device).activate().known()
            device.silence()
            fastest = math.inf
            try:
                for _ in range(20):
                    begun = time.monotonic()
                    run.read()
                    fastest = min(fastest, time.monotonic() - begun)
                    run.pass_period()
            except HardwareError:
                _check(fastest < math.inf, "the first silent read failed: a single lost answer must not stop a device")
            period = device.info.period_s
            _check(
                fastest < period, f"each read of a silent device took {fastest:.4f} s or more; the period: {period} s"
            )
            with suppress(HardwareError):
                run.life.shutdown()
            device.restore()

    def test_without_a_device_it_says_so_and_can_try_again(self) -> None:
        with self.device() as device:
            if not self._can_fall_silent(device):
                return
            assert device.silence is not None and device.restore is not None
            device.silence()
            run = Run(device)
            try:
                run.life.configure()
            except HardwareError as error:
                _check("no reason" not in str(error), f"the error has no reason: {error}")
            else:
                run.cycle(3)
                values = [k for name, k in run.states.items() if not name.endswith("_age")]
                _check(run.unknown_of(values) == len(values), "values are known although no device is there")
            device.restore()
            if run.life.lifecycle_state == LifecycleState.FINALIZED:
                run = Run(device)
            if run.life.lifecycle_state == LifecycleState.UNCONFIGURED:
                run.life.configure()
            run.life.activate()
            run.known().life.shutdown()

    @staticmethod
    def _can_fall_silent(device: ContractDevice) -> bool:
        if device.silence is not None and device.restore is not None:
            return True
        text = f"{device.plugin.__name__} does not simulate: give ContractDevice `silence` and `restore`"
        _check(device.plugin.simulated, text)
        return False

    # --- in its host ------------------------------------------------------------------------------

    def test_its_host_brings_it_to_rest_when_commands_end(self) -> None:
        """In motion the executor falls silent: the joints stop, get the mode NONE, and outputs their safe values."""
        with self.device() as device:
            movable = _movable(device, _POSITION)
            host = DeviceHost(device.plugin(), device.info, silence_periods=5)
            loop = np.zeros(1, device_dtype)[0]
            host.image.connect_device(loop)
            host.activate()
            run = _hosted(device, host)

            def cycle(n: int, writes: bool = True) -> None:
                for _ in range(n):
                    if writes:
                        write_command(loop.image, loop)
                    host.cycle_write(0.0, device.info.period_s)
                    run.pass_period()
                    host.cycle_read(0.0, device.info.period_s)
                    if host.failure is not None:
                        raise host.failure

            cycle(10)
            loop.enabled = 1
            for k in range(len(run.commands)):
                loop.command[k] = run.life.command[k] if math.isfinite(run.life.command[k]) else 0.0
            for part in movable:
                for joint, q in zip(part.joint_names, run.joints(part, "position"), strict=True):
                    loop.command[run.commands[f"{part.name}/{joint}/position"]] = q
                loop.mode[part.index] = pack_modes([_POSITION] * len(part.joint_names))
            cycle(device.enable_cycles)
            for part in movable:
                step, speed = _step(device, part, 0, float(run.joints(part, "position")[0]))
                name = f"{part.name}/{part.joint_names[0]}/position"
                for _ in range(min(20, math.ceil(abs(step) / (speed * device.info.period_s)))):
                    loop.command[run.commands[name]] += math.copysign(speed * device.info.period_s, step)
                    cycle(1)
            _check(host.mode == DriverMode.FOLLOWING, f"it does not follow: {host.mode.name}")
            given_up = time.monotonic() + _SETTLED_S
            while host.mode != DriverMode.HOLDING:
                cycle(1, writes=False)
                _check(time.monotonic() < given_up, f"it is not at rest: {host.mode.name}")
            loop.enabled = 0
            cycle(10)
            _check(all(set(m) <= {_NONE} for m in host.lifecycle.modes.values()), f"modes: {host.lifecycle.modes}")
            given_up = time.monotonic() + _SETTLED_S
            while not all(np.isfinite(run.joints(part, "position")).all() for part in movable):  # a motion that ends
                cycle(1)
                _check(time.monotonic() < given_up, "it is at rest, but does not say where")
            before = host.lifecycle.state.copy()
            cycle(10)
            for part in movable:
                moved = np.abs(
                    run.joints(part, "position")
                    - before[[run.states[f"{part.name}/{j}/position"] for j in part.joint_names]]
                )
                _check(bool((moved <= device.still).all()), f"{part.name} still moves, by {moved}")
            host.shutdown()


# --- parts of the tests -----------------------------------------------------------------------------


def _movable(device: ContractDevice, mode: CommandMode) -> list[HardwarePart]:
    return [p for p in jointed(device.info) if mode in p.supported_modes and p.name not in device.excluded]


def _step(device: ContractDevice, part: HardwarePart, j: int, position: float) -> tuple[float, float]:
    """How far a joint is moved, to the wider side of its range; and how fast."""
    lower, upper = part.limits.position_lower[j], part.limits.position_upper[j]
    size = min(device.step, 0.2 * (upper - lower))
    speed = min(0.3 * part.limits.velocity[j], 5.0 * size)
    return (size if upper - position >= position - lower else -size), speed


def _move_joint(run: Run, part: HardwarePart, j: int, *, switch: bool = True) -> None:
    """Move one joint, and check that it and no other has moved; switch: to position commands, and back."""
    device, period = run.device, run.info.period_s
    if switch:
        run.follow(part, _POSITION)
    run.read()
    start = run.joints(part, "position").copy()
    step, speed = _step(device, part, j, start[j])
    goal = start.copy()
    cycles = math.ceil(abs(step) / (speed * period))
    measured, travelled = [], 0.0
    last, at = start[j], time.monotonic()
    for k in range(cycles):
        goal[j] = start[j] + step * (k + 1) / cycles
        run.command(part, "position", goal)
        run.cycle()
        now = time.monotonic()
        dt = period if device.lockstep else now - at
        measured.append(run.joints(part, "velocity")[j])
        travelled += measured[-1] * dt
        last, at = run.joints(part, "position")[j], now
    name = f"{part.name}.{part.joint_names[j]}"
    _until(run, lambda: abs(run.joints(part, "position")[j] - goal[j]) <= device.tolerance, f"{name} at {goal[j]:.4f}")
    others = np.abs(np.delete(run.joints(part, "position") - start, j))
    _check(bool((others <= device.tolerance).all()), f"{name} moved, and other joints by {others}")
    way = last - start[j]
    if not math.isnan(travelled) and abs(way) > 0.3 * abs(step):
        ratio = travelled / way
        text = f"{name}: measured velocities say {travelled:.4f}, its positions {way:.4f}"
        _check(1 / _WRONG_SCALE < ratio < _WRONG_SCALE, text)
    if switch:
        run.life.switch_modes({part.name: _NONE})
        run.cycle(3)


def _until(run: Run, holds: Callable[[], bool], what: str) -> None:
    given_up = time.monotonic() + _SETTLED_S
    while True:
        run.read()
        if holds():
            return
        run.cycle()
        _check(
            time.monotonic() < given_up,
            f"{what}: not reached; states {dict(zip(run.states, run.life.state, strict=True))}",
        )


def _hosted(device: ContractDevice, host: DeviceHost) -> Run:
    """A view of what a host runs."""
    run = Run.__new__(Run)
    run.device, run.info, run.plugin, run.life, run.count = device, device.info, host.plugin, host.lifecycle, 0
    run.states = {i.name: k for k, i in enumerate(run.life.state_interfaces)}
    run.commands = {i.name: k for k, i in enumerate(run.life.command_interfaces)}
    return run


_FALLIBLE = (
    *("on_init", "export_state_interfaces", "export_command_interfaces", "on_configure", "on_activate", "read"),
    *("prepare_command_mode_switch", "perform_command_mode_switch", "write", "on_deactivate", "on_cleanup"),
    "on_shutdown",
)
"""In the order of `_whole_life`."""


def _whole_life(run: Run) -> None:
    run.activate().known()
    for part in jointed(run.info):
        run.follow(part, min(part.supported_modes - {_NONE}))
        run.life.switch_modes({part.name: _NONE})
    run.cycle()
    run.life.deactivate()
    run.life.cleanup()
    run.life.configure()
    run.life.shutdown()


def _wrapped(plugin: type[HardwarePlugin], name: str, after: Callable[[Any], Any]) -> type[HardwarePlugin]:
    """The plugin's class, with a method whose result goes through `after`."""
    method = getattr(plugin, name)

    def call(self: HardwarePlugin, *arguments: Any) -> Any:
        return after(method(self, *arguments))

    return type(plugin.__name__, (plugin,), {name: call})


def _raising(plugin: type[HardwarePlugin], name: str) -> type[HardwarePlugin]:
    def fail(_result: Any) -> Any:
        raise RuntimeError("out of order")

    return _wrapped(plugin, name, fail)


def _spied(plugin: type[HardwarePlugin], returned: dict[str, object]) -> type[HardwarePlugin]:
    for name in (name for name in _FALLIBLE if not name.startswith("export")):

        def note(result: Any, name: str = name) -> Any:
            returned[name] = result
            return result

        plugin = _wrapped(plugin, name, note)
    return plugin
