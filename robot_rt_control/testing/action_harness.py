"""Runs one action without ROS, server or executor: a test of an action takes ten lines.

harness = ActionHarness(SineWave, parameters={"amplitude": 0.2, "frequency": 0.5})
harness.start()
harness.step(1000)
assert harness.state.settled == 1.0
assert abs(harness.part("arm").position[3]) <= 0.2

Breakpoints work in the methods; with compiled=True the harness runs the same native code as the loop. Each slot of an
action gets a fake, or a part that the test makes: parts={"left": FakeArm(...), ...}.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from robot_rt_control.client.stream import Stream
from robot_rt_control.definitions.action_type import (
    REALTIME_METHODS,
    ActionType,
    fill_parameters,
    gap_method,
    parameter_dtype,
    realtime_method_names,
    state_dtype,
    stream_inputs,
)
from robot_rt_control.definitions.definitions import ParameterValue
from robot_rt_control.definitions.parameters import check_parameters
from robot_rt_control.definitions.stream_sample import OutputSample
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.realtime.executor.native_loader import load
from robot_rt_control.realtime.tick.native_call import call_action, call_entry
from robot_rt_control.server.builder.build import build_c
from robot_rt_control.testing.fake_arm import FakeArm, FakePart
from robot_rt_control.testing.harness_streams import HarnessStreams
from robot_rt_control.testing.shared_builder import shared_builder
from robot_rt_control.vocabulary.capacities import MAX_ACTION_SLOTS
from robot_rt_control.vocabulary.defaults import PERIOD_S
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError, unknown
from robot_rt_control.vocabulary.part_kinds import PART_KINDS


@realtime
def _call(address, state, params, p0, p1, p2, p3):
    return call_action(address, state, params, p0, p1, p2, p3)


class ActionHarness:
    """One action on fake parts, tick by tick, in the order of the real tick.

    Args:
        action_type: the class under test.
        parts: slot name → part; the other slots get a fake of their first kind.
        parameters: as in an application.
        compiled: False runs the methods as plain Python, to debug them: breakpoints and print work, an index out
            of range raises where it happens. (Functions marked @realtime stay compiled unless NUMBA_DISABLE_JIT=1.)
            True builds native code as the server does, and calls it as the executor does. Methods in C or C++ are
            compiled in both cases.
        period: of a tick [s].
        speed: speed override, 0 to 1.

    Raises:
        DefinitionError: `create` or `prepare_parameters` refuse, or a part is of the wrong kind.
        CompileError: compiled, and the code is not real-time safe.
    """

    def __init__(
        self,
        action_type: type[ActionType],
        *,
        parts: Mapping[str, FakePart] | None = None,
        parameters: Mapping[str, Any] | None = None,
        compiled: bool = False,
        period: float = PERIOD_S,
        speed: float = 1.0,
    ) -> None:
        self.action_type = action_type
        self.parts = _fill_slots(action_type, dict(parts or {}))
        for part in self.parts.values():
            part.workcell = MappingProxyType({p.name: p for p in self.parts.values()})
            part.description.initial_record.dt = period
        self.period, self.speed = period, speed
        self.tick = 0
        self.status = 0
        """Status of the action: 0, or the status with which it failed."""
        self._parameters = dict(parameters or {})
        self._state = np.zeros(1, state_dtype(action_type))
        self._params = np.zeros(1, parameter_dtype(action_type))
        self._started = self._entering = False
        self._activation = 0
        first = next(iter(self.parts.values()), None)
        self._streams = HarnessStreams(
            action_type, self._state, self._params, joint_units=first.joint_units if first else (), period=period
        )
        self.action = action_type.create(self.parts)
        self.set_parameters()
        self._methods = self._native(compiled) if compiled or action_type.realtime_source else self._interpreted()

    def _interpreted(self) -> dict[str, Callable[[], int]]:
        def method(function: Callable[..., Any]) -> Callable[[], int]:
            def run() -> int:
                parts = [self.parts[slot.name].live for slot in self.action_type.slots]
                status = function(self._state[0], self._params[0], *parts)
                return 0 if status is None else int(status)

            return run

        names = realtime_method_names(self.action_type)
        return {n: method(getattr(self.action_type, n)) for n in names if hasattr(self.action_type, n)}

    def _native(self, compiled: bool) -> dict[str, Callable[[], int]]:
        native = load(shared_builder().build(self.action_type).key if compiled else build_c(self.action_type))
        call = _call if compiled else call_entry
        slots = [self.parts[slot.name].memory.ctypes.data for slot in self.action_type.slots]
        slots += [0] * (MAX_ACTION_SLOTS - len(slots))

        def method(address: int) -> Callable[[], int]:
            return lambda: int(call(address, self._state.ctypes.data, self._params.ctypes.data, *slots))

        found = {name: method(getattr(native, name)) for name in REALTIME_METHODS if getattr(native, name) != 0}
        for stream, address in zip(stream_inputs(self.action_type), native.gap, strict=True):
            name = gap_method(self.action_type, stream.name)
            if name is not None:
                found[name] = method(address)
        return found

    # --- what a test does ------------------------------------------------------------------------

    def start(self) -> None:
        """Start or restart the action: in the next tick its state is zeroed and `on_enter` runs."""
        self._started = self._entering = True
        self._activation += 1
        self.status = 0

    def step(self, n: int = 1) -> int:
        """Run n ticks, or fewer if the action fails.

        Returns:
            Its status: 0, or the status with which it failed.

        Raises:
            RobotControlError: `start` was not called, the action failed before, or a command is not finite.
        """
        if not self._started:
            raise RobotControlError("the action has not been started", hint="Call start() before step()")
        if self.status != 0:
            raise RobotControlError(f"the action has failed with status {self.status}", hint="Call start() again")
        for _ in range(n):
            self.status = self._step()
            if self.status != 0:
                break
        return self.status

    def step_until(self, condition: Callable[[], bool], *, at_most: int = 10_000) -> int:
        """Run ticks until a condition holds after one.

        Returns:
            The number of ticks that it took.

        Raises:
            RobotControlError: it did not hold within `at_most` ticks, or the action failed.
        """
        for n in range(1, at_most + 1):
            if self.step() != 0:
                raise RobotControlError(f"the action failed with status {self.status} in tick {self.tick}")
            if condition():
                return n
        raise RobotControlError(f"the condition did not hold within {at_most} ticks")

    def set_parameters(self, **changes: Any) -> None:
        """Change parameters; they reach the action in the next tick."""
        first = self.action_type.slots[0].name if self.action_type.slots else None
        dof = self.parts[first].dof if first is not None else 0
        parameters = self._parameters | changes
        prepared = np.zeros(1, self._params.dtype)
        given = [ParameterValue(name=name, value=value) for name, value in parameters.items()]
        checked = check_parameters(self.action_type.name, self.action_type.parameters, given, dof=dof)
        fill_parameters(self.action, checked, prepared[0])
        self._parameters = parameters
        self._params[0] = prepared[0]

    def signal(self, name: str) -> None:
        """Raise a signal: it reads 1.0 in the next tick."""
        if name not in self.action_type.signals:
            raise DefinitionError(
                f"action type {self.action_type.name!r} has no signal {name!r}",
                expected=unknown("signal", name, self.action_type.signals),
            )
        self._state[0][name] = 1.0

    def stream(self, name: str) -> Stream:
        """Open a stream input for writing; `write` samples before or between steps.

        Raises:
            DefinitionError: the action type has no such stream input.
        """
        return self._streams.open(name, lambda: self.tick, self.action)

    def samples(self, stream: str) -> list[OutputSample]:
        """The samples that the action has written to a stream output so far."""
        return self._streams.samples[stream]

    def idle(self, n: int = 1) -> None:
        """Let n ticks pass in which the action is not active; samples of its streams still take effect."""
        for _ in range(n):
            self.tick += 1
            self._streams.take_in(self.tick, 0, self.speed, self._run)

    @property
    def state(self) -> np.record:
        """The action's state record: signals, state variables, and its own fields."""
        return self._state[0]

    @property
    def params(self) -> np.record:
        """The action's parameter record, as prepared."""
        return self._params[0]

    def part(self, slot: str) -> np.record:
        """The record of the part in a slot, as the action sees it."""
        if slot not in self.parts:
            raise DefinitionError(
                f"action type {self.action_type.name!r}: slot {slot!r}", expected=unknown("slot", slot, self.parts)
            )
        return self.parts[slot].live

    def _take_in_streams(self) -> int:
        return self._streams.take_in(self.tick, self._activation, self.speed, self._run)

    # --- one tick --------------------------------------------------------------------------------

    def _run(self, method: str) -> int:
        return self._methods[method]() if method in self._methods else 0

    def _advance_path_time(self) -> None:
        """What the loop does for a motion group, here of one part."""
        state = self._state[0]
        state.total, state.rate = state.duration, 1.0
        state.elapsed += self.period * self.speed

    def _step(self) -> int:
        self.tick += 1
        parts = self.parts.values()
        for part in parts:
            part.measure(self.period * self.speed, speed=self.speed)
        if self._entering:
            self._entering = False
            raised = {name: self._state[0][name] for name in self.action_type.signals}
            self._state[:] = np.zeros(1, self._state.dtype)
            for name, value in raised.items():
                self._state[0][name] = value
            if status := self._take_in_streams():
                return status
            if status := self._run("on_enter"):
                return status
        elif status := self._take_in_streams():
            return status
        if status := self._run("sense"):
            return status
        for part in parts:
            part.prepare_command()
        if self.action_type.each_part:
            self._advance_path_time()
        status = self._run("set_parameters") or self._run("control")
        for name in self.action_type.signals:
            self._state[0][name] = 0.0
        if status == 0:
            self._streams.send(self.tick)
            try:
                for part in parts:
                    part.obey(self.period)
            except ValueError as error:
                raise RobotControlError(
                    f"tick {self.tick}: {error}", hint="The loop would brake and fault the part"
                ) from error
        return status


def _fill_slots(action_type: type[ActionType], parts: dict[str, FakePart]) -> dict[str, FakePart]:
    """A part for each slot, in the order of the slots."""
    names = [slot.name for slot in action_type.slots]
    for name in parts:
        if name not in names:
            raise DefinitionError(
                f"action type {action_type.name!r}: no slot {name!r}", expected=unknown("slot", name, names)
            )
    filled: dict[str, FakePart] = {}
    for slot in action_type.slots:
        part = parts.get(slot.name)
        if part is None:
            kind = slot.kinds[0]
            part = FakeArm(name=slot.name) if kind == PartKind.ARM else None
            usual = PART_KINDS[kind]
            part = part or FakePart(
                name=slot.name,
                kind=kind,
                dof=usual.sample_joints,
                inputs=slot.inputs or usual.sample_inputs,
                outputs=usual.sample_outputs,
            )
        if part.kind not in slot.kinds:
            raise DefinitionError(
                f"action type {action_type.name!r}, slot {slot.name!r}",
                expected=" or ".join(k.name for k in slot.kinds),
                got=f"{part.name!r}, which is {part.kind.name}",
            )
        filled[slot.name] = part
    return filled
