"""A whole workcell in one process, without ROS and without waiting, for testing programs tick by tick.

with LockstepCell("config/arm7.yaml") as cell:
    session = cell.session("arm")
    near = Reaction("rangefinder.distance < 0.3", start="up")
    session.add(
        Action("down", "velocity_move", linear=[0, 0, -0.1], reactions=[near]),
        Action("up", "velocity_move", linear=[0, 0, 0.1]),
    )
    session.start("down")
    cell.set_sensor("rangefinder/distance", 0.5)
    cell.step(100)
    cell.set_sensor("rangefinder/distance", 0.2)
    tick = cell.step()
    assert cell.active("arm") == "up"
    assert [e.tick for e in cell.kinds("reaction_fired")] == [tick]

`session` is the `client.Session` that applications have: a function that defines an application's actions can be handed
a session of either.
"""

from __future__ import annotations

import functools
import inspect
import os
import struct
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from robot_rt_control.actions import BUILTIN
from robot_rt_control.client.backend import SessionRequest
from robot_rt_control.client.session import Session
from robot_rt_control.definitions.action_type import ActionType
from robot_rt_control.memory.layout import offset_of, world_dtype
from robot_rt_control.model.workcell.interfaces import tool_interface
from robot_rt_control.model.workcell.part_description import PartDescription
from robot_rt_control.model.workcell.workcell import MOCK, Workcell, load_workcell
from robot_rt_control.native.c_compiler import SUFFIXES
from robot_rt_control.realtime.executor.mock_states import mock_setters
from robot_rt_control.recording.inputs import InputKind
from robot_rt_control.server.types.action_types import ActionTypes
from robot_rt_control.server.types.type_building import LoadedType, build_types
from robot_rt_control.testing.cell_backend import CellBackend
from robot_rt_control.testing.interpreted_types import InterpretedTypes
from robot_rt_control.testing.shared_builder import shared_builder
from robot_rt_control.testing.stepped_cell import SteppedCell
from robot_rt_control.vocabulary.errors import HardwareError, unknown


class LockstepCell(SteppedCell):
    """A workcell on mock or simulated hardware, with its executor and control server.

    Nothing happens by itself: commands and definitions wait for the next `step`, so that a test is exact to the tick
    and gives the same result each time. Ticks count from the executor's start; some have passed when the cell is made.
    `step` calls callbacks right after the tick of their event; if gated, it raises their exceptions.

    Args:
        workcell: a workcell file, or the result of `load_workcell`.
        hardware: the plugin to run a file's devices on.
        simulator: as of `load_workcell`.
        action_types: classes in addition to the built-in ones and those of the workcell.
        interpreted: run all action types but the built-in ones as plain Python, to debug them: breakpoints and print
            work, and nothing is compiled or checked. What a method raises is raised by `step`, but for an index out of
            range: that is the action's failure, as in compiled code.
        gated: commands wait for the next `step`; else one that waits for the loop's answer lets it tick.
        record: the file to record all ticks to.

    Attributes:
        events: what happened since the cell was made.

    Raises:
        DefinitionError: the workcell or an action type is not valid.
        CompileError: an action type is not real-time safe.
        HardwareError: the hardware did not start.
        RobotControlError: the file of the recording cannot be written.
    """

    def __init__(
        self,
        workcell: Workcell | Path | str,
        *,
        hardware: str = MOCK,
        simulator: str = "",
        action_types: Iterable[type[ActionType]] = (),
        interpreted: bool = False,
        gated: bool = True,
        record: Path | None = None,
    ) -> None:
        if not isinstance(workcell, Workcell):
            workcell = load_workcell(workcell, hardware, simulator=simulator)
        python = InterpretedTypes() if interpreted else None
        types = _types(workcell, action_types, python)
        super().__init__(workcell, types, interpreted=python, gated=gated, record=record)
        self._sensors = mock_setters(self.executor)
        self._written = {part.name: self._command_places(part) for part in workcell.parts}
        self.step()  # the parts take their default actions
        self.events.clear()

    def _command_places(self, part: PartDescription) -> dict[str, tuple[int, int]]:
        """Command interface → device and place in its command image."""
        world = self.executor.world.memory
        interfaces = [*part.command_interfaces, tool_interface(part.name)]
        names = {offset_of(world_dtype, "parts", part.index) + i.offset: i.name for i in interfaces}
        links = world.writes[: int(world.n_writes)]
        return {
            names[int(link["offset"])]: (int(link["device"]), int(link["interface"]))
            for link in links[links["part"] == part.index]
        }

    # --- time -----------------------------------------------------------------------------------

    def step_until(self, condition: Callable[[], bool], *, at_most: int = 10_000) -> int:
        """Run ticks until a condition holds after one. Returns the number of ticks that it took.

        Raises:
            TimeoutError: it did not hold within `at_most` ticks.
        """
        for n in range(1, at_most + 1):
            self.step()
            if condition():
                return n
        raise TimeoutError(f"the condition did not hold within {at_most} ticks")

    # --- hardware -------------------------------------------------------------------------------

    @property
    def sensors(self) -> Iterable[str]:
        """State interfaces of mock devices, which `set_sensor` can set."""
        return self._sensors.keys()

    def set_sensor(self, name: str, value: float) -> None:
        """Set a mock device's state interface, such as "rangefinder/distance", from the next tick on.

        Raises:
            HardwareError: there is no such state interface on a mock device.
        """
        if name not in self._sensors:
            what = f"workcell {self.workcell.name!r}: state interface {name!r}"
            raise HardwareError(what, expected=unknown("state interface of a mock device", name, self._sensors))
        self.executor.session_recorder.note(InputKind.STATE, lambda: struct.pack("<d", value) + name.encode())
        self._sensors[name](value)

    def drive_sensor(self, name: str, value: Callable[[], float]) -> None:
        """From now on, set a state interface to `value()` before each tick.

        Raises:
            HardwareError: there is no such state interface on a mock device.
        """
        self.set_sensor(name, value())
        self.before_tick[name] = lambda: self.set_sensor(name, value())

    def silence(self, device: str, silent: bool = True) -> None:
        """Stop the states of a device that is hosted in this process, as if its cable were pulled.

        Raises:
            HardwareError: there is no such device beside the loop (mock devices in the loop never fall silent).
        """
        hosts = self.executor.devices.hosts
        if device not in hosts:
            raise HardwareError(f"device {device!r}", expected=unknown("device beside the loop", device, hosts))
        if silent:
            self.executor.devices.silent.add(device)
        else:
            self.executor.devices.silent.discard(device)

    def publish(self, topic: str, message: Any) -> None:
        """Pass a message to the devices on the plugin `topic` that subscribe to a topic; the next tick sees it.

        Nothing is sent over ROS, so the test is exact to the tick.

        Args:
            topic: as in the workcell file.
            message: of the type in the workcell file.

        Raises:
            HardwareError: no device subscribes to the topic with this message type.
        """
        plugins = [host.plugin for host in self.executor.devices.hosts.values() if hasattr(host.plugin, "receive")]
        listening = [plugin for plugin in plugins if topic in plugin.topics]
        if not listening:
            known = [name for plugin in plugins for name in plugin.topics]
            what = f"workcell {self.workcell.name!r}: topic {topic!r}"
            raise HardwareError(what, expected=unknown("topic of a device on the plugin topic", topic, known))
        for plugin in listening:
            plugin.receive(topic, message)

    def part(self, name: str) -> np.record:
        """The record of a part (`layout.part_dtype`), as actions see it: measured and commanded values."""
        return self.executor.world.memory.parts[self.workcell.part(name).index]

    def written(self, part: str) -> dict[str, float]:
        """The last command sent to a part's hardware, by command interface; empty: none may be sent."""
        world = self.executor.world.memory
        if not world.parts_runtime[self.workcell.part(part).index].written:
            return {}
        return {name: float(world.devices[device].command[i]) for name, (device, i) in self._written[part].items()}

    # --- sessions -------------------------------------------------------------------------------

    def session(
        self,
        *parts: str,
        lease_s: float = 0.0,
        deadline_s: float = 0.0,
        read_only: bool = False,
        detached_s: float = 0.0,
        name: str = "",
    ) -> Session:
        """Open a session on parts; by default it lives until it is closed. Only the test renews its lease."""
        request = SessionRequest(
            name=name,
            parts=parts,
            lease_s=lease_s,
            deadline_s=deadline_s,
            read_only=read_only,
            detached_s=detached_s,
        )
        return Session(self._backend, request)

    @functools.cached_property
    def _backend(self) -> CellBackend:
        return CellBackend(self, keeps_leases=False)


def _types(
    workcell: Workcell, classes: Iterable[type[ActionType]], interpreted: InterpretedTypes | None
) -> ActionTypes:
    """The types of one cell, which it may load and unload; builds are shared by all cells of a test run."""
    builtin = tuple((name, b"") for name in BUILTIN)
    if interpreted is not None:
        named: list[str | type[ActionType]] = [s.text for s in workcell.action_types]
        python = [t for source in [*named, *classes] for t in interpreted.add(source)]
        return ActionTypes([*_built(builtin), *python], period=workcell.period)
    folders = {s.path.parent for s in workcell.action_types if s.path is not None}
    c_code = {folder: _c_code(folder) for folder in folders}
    sources = [
        (s.text, b"" if s.path is None else s.path.read_bytes() + c_code[s.path.parent]) for s in workcell.action_types
    ]
    classes = tuple(classes)
    beside = b"".join(_c_code(Path(inspect.getfile(c)).parent) for c in classes if c.realtime_source)
    built = _built((*builtin, *sources, *classes, ("", beside)), workcell.trusted_native_code)
    return ActionTypes(built, period=workcell.period)


def _c_code(folder: Path) -> bytes:
    """All C and C++ code in a folder of action types."""
    names = sorted(name for name in os.listdir(folder) if name.endswith((*SUFFIXES, ".h", ".hpp")))
    return b"".join((folder / name).read_bytes() for name in names)


@functools.cache
def _built(
    sources: tuple[tuple[str, bytes] | type[ActionType], ...], trusted: tuple[Path, ...] = ()
) -> list[LoadedType]:
    """The types of these sources, each with the present text of its file and of what it is built from, and classes."""
    named = [s[0] if isinstance(s, tuple) else s for s in sources]
    return build_types([n for n in named if n != ""], shared_builder(), lambda _: None, trusted)
