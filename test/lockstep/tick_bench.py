"""A tick on its bench: a world with parts and private device images, where a program runs tick by tick."""

from __future__ import annotations

import contextlib
import ctypes
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

import numba
import numpy as np
import scripted_action
from numba.core.registry import cpu_target
from program_tables import Installation
from reference_definitions import (
    At,
    ClearFaults,
    Disable,
    Enable,
    EndSession,
    Inputs,
    ProtectiveStop,
    RaiseSignal,
    ReleaseProtectiveStop,
    Resume,
    ServerLost,
    SetParameters,
    SetSpeed,
    Start,
    Stop,
    StopSession,
)
from reference_model import OVERRUN_LIMIT, OVERRUN_REPORT, OVERRUN_WINDOW

from robot_rt_control.memory.channel import Channel
from robot_rt_control.memory.joint_modes import mode_of, pack_modes
from robot_rt_control.memory.layout import (
    channel_dtype,
    command_dtype,
    device_image_dtype,
    offset_of,
    part_dtype,
    snapshot_dtype,
    world_dtype,
)
from robot_rt_control.memory.stops import stop_request
from robot_rt_control.native.code_cache import alone
from robot_rt_control.realtime.executor.table_check import check_tables
from robot_rt_control.realtime.tick.tick import tick as compiled_tick
from robot_rt_control.testing.interpreted_tick import interpreted
from robot_rt_control.vocabulary.defaults import REST_SPEED_FRACTION
from robot_rt_control.vocabulary.enums import Authority, Command, CommandMode, OperationalState, OverrunPolicy

PERIOD = 0.001
MAX_AGE = 1
MAX_SPEED = 1.0
GARBAGE = 777.0
"""Content of the state arena before anything is installed: no code may read it."""

_TABLES = offset_of(world_dtype, "tables")
_SNAPSHOT = offset_of(channel_dtype, "snapshot")
_SNAPSHOT_SIZE = snapshot_dtype.itemsize


@dataclass(frozen=True)
class Workcell:
    """Parts: of each, its joints and its device."""

    dof: tuple[int, ...]
    devices: tuple[int, ...]
    enabled: frozenset[int]


@dataclass(frozen=True)
class Code:
    """A tick, and the addresses of the scripted action's methods for it."""

    tick: Any
    addresses: tuple[int, ...]


@cache
def compiled_code() -> Code:
    """The compiled tick, and the methods compiled in the calling convention of `realtime/tick/native_call.py`."""
    part = numba.from_dtype(part_dtype)
    state, params = numba.from_dtype(scripted_action.STATE), numba.from_dtype(scripted_action.PARAMS)
    addresses = []
    for method in scripted_action.METHODS:
        entry = numba.jit(
            nopython=True, nogil=True, boundscheck=True, error_model="numpy",
            no_cpython_wrapper=True, no_cfunc_wrapper=True,
        )(getattr(scripted_action, method))  # fmt: skip
        arguments = (state, params, part, part, part, part)
        entry.compile(arguments)
        overload = entry.overloads[arguments]
        assert overload.signature.return_type == numba.types.int64
        addresses.append(overload.library.get_pointer_to_function(overload.fndesc.llvm_func_name))
        _alive.append(entry)
    _compile_tick()
    return Code(compiled_tick, tuple(addresses))


def _compile_tick() -> None:
    """For Python. It takes a minute: of tests that run at the same time, one compiles it, and the others load it."""
    tick: Any = compiled_tick
    signature = numba.from_dtype(world_dtype), numba.from_dtype(channel_dtype)
    file = tick.for_python._cache.file(signature, cpu_target.target_context)
    with contextlib.nullcontext() if file.exists() else alone(file):
        tick.for_python.compile(signature)
    assert file.exists(), "it is what the cache keeps"


_alive: list[Any] = []


@cache
def interpreted_code() -> Code:
    """The interpreted twin of the tick, and of the methods."""
    script: ModuleType = interpreted("scripted_action")
    native_call = interpreted("robot_rt_control.realtime.tick.native_call")
    addresses = tuple(range(1, 1 + len(scripted_action.METHODS)))
    for address, method in zip(addresses, scripted_action.METHODS, strict=True):
        native_call.register_interpreted(address, getattr(script, method), script.STATE, script.PARAMS, 4)
    return Code(interpreted("robot_rt_control.realtime.tick.tick").tick, addresses)


class Bench:
    """Memory of its own for one tick, used for one program after the other."""

    def __init__(self, code: Code) -> None:
        self.code = code
        self._world_array = np.zeros(1, world_dtype)
        self.world: Any = self._world_array[0]
        self.channel = Channel.private()
        self.images = np.zeros(2, device_image_dtype)
        self.log = np.zeros(1 + scripted_action.LOG_ENTRIES)
        self._links: list[list[Any]] = []
        self._parameters: dict[int, np.void] = {}

    def reset(self, workcell: Workcell) -> None:
        """Everything as at first, with the parts of this workcell."""
        w = self.world
        address = self._world_array.ctypes.data
        ctypes.memset(address, 0, _TABLES)
        for table in w.tables:
            table["version"] = 0
            for name in table.dtype.names:
                if name.startswith("n_"):
                    table[name] = 0
            table["default_action"][:] = -1
            table["safety_action"][:] = -1
        w.state_arena[:1024] = GARBAGE
        self.images[:] = 0
        commands, events = self.channel.memory.commands, self.channel.memory.events
        events.entries[: int(events.head)] = 0  # an event does not clear the values that it does not use
        commands.head = commands.tail = events.head = events.tail = 0
        ctypes.memset(self.channel.address + _SNAPSHOT, 0, _SNAPSHOT_SIZE)
        w.period, w.speed, w.speed_target = PERIOD, 1.0, 1.0
        w.overrun.policy, w.overrun.limit = OverrunPolicy.FAULT, OVERRUN_LIMIT
        w.overrun.window, w.overrun.report_ticks = OVERRUN_WINDOW, OVERRUN_REPORT
        w.n_parts, w.n_devices = len(workcell.dof), len(set(workcell.devices))
        n_states, n_commands = [0, 0], [0, 0]
        self._links = []
        for p, (dof, device) in enumerate(zip(workcell.dof, workcell.devices, strict=True)):
            self._place_part(p, dof, p in workcell.enabled, device)
            first = n_states[device]
            paths: list[tuple] = [("distance",), ("inputs", 0)]
            paths += [(name, j) for j in range(dof) for name in ("position", "velocity")]
            for path in paths:
                self._link("reads", "n_reads", p, device, n_states[device], path)
                n_states[device] += 1
            for j in range(dof):
                for name in ("commanded_position", "commanded_velocity", "commanded_effort"):
                    self._link("writes", "n_writes", p, device, n_commands[device], (name, j))
                    n_commands[device] += 1
            self._links.append([device, first])
        for d in range(w.n_devices):
            device_record = w.devices[d]
            device_record.image = self.images.ctypes.data + d * device_image_dtype.itemsize
            device_record.n_state, device_record.n_command = n_states[d], n_commands[d]
            device_record.n_parts = len(workcell.dof)
            device_record.max_age = MAX_AGE
            device_record.state[:] = np.nan

    def _place_part(self, p: int, dof: int, enabled: bool, device: int) -> None:
        part, runtime, limits = self.world.parts[p], self.world.parts_runtime[p], self.world.limits[p]
        part.dof, part.dt = dof, PERIOD
        chain = part.chain
        chain.n_joints, chain.joint_type[dof - 1] = dof, dof - 1  # the second one is prismatic
        chain.origin[:dof] = chain.tool = chain.base = np.eye(3, 4, 0)
        chain.origin[:dof, :, 3] = (0.1, 0.2, 0.3)
        chain.axis[:dof] = (0.6, 0.0, 0.8)
        state = OperationalState.ENABLED if enabled else OperationalState.DISABLED
        part.operational_state = runtime.state = int(state)
        runtime.rest_wait_ticks = 1_000_000
        if enabled:  # it has been held
            runtime.written = 1
            self.world.left[p].modes = pack_modes([CommandMode.POSITION] * dof)
        runtime.device, runtime.active_action, runtime.fault_joint = device, -1, -1
        for name, value in (
            ("position_lower", -1.0), ("position_upper", 1.0), ("velocity", MAX_SPEED), ("acceleration", 100.0),
            ("effort", 10.0), ("effort_rate", 1000.0),
        ):  # fmt: skip
            limits[name][:] = value
        limits.position_tolerance, limits.velocity_tolerance = 0.01, 0.1
        limits.supported_modes = 1 << CommandMode.POSITION | 1 << CommandMode.VELOCITY | 1 << CommandMode.EFFORT

    def _link(self, table: str, counter: str, part: int, device: int, interface: int, path: tuple) -> None:
        n = int(self.world[counter])
        array = "state" if table == "reads" else "command"
        self.world[table][n] = (
            device,
            interface,
            part,
            offset_of(world_dtype, "parts", part, *path),
            offset_of(world_dtype, "devices", device, array, interface),
            offset_of(world_dtype, "parts_runtime", part, "written"),
        )
        self.world[counter] = n + 1

    def install(self, new: Installation) -> None:
        """Put tables where the next tick takes them, like the executor."""
        w = self.world
        t = w.tables[1 - int(w.active_tables)]
        t.n_types = 1
        for name, address in zip(scripted_action.METHODS, self.code.addresses, strict=True):
            t.types[0][name] = address
        for name in ("sessions", "actions", "reactions", "instructions", "axes", "strategies"):
            rows = getattr(new, name)
            t[name][: len(rows)] = rows
            t[f"n_{name}"] = len(rows)
        t.n_free_reactions = new.n_free_reactions
        t.default_action[:], t.safety_action[:] = new.default, new.safety
        t.version += 1
        parameters = new.parameters.copy()
        parameters["log"] = self.log.ctypes.data
        self._parameters = {int(row["identity"]): row for row in parameters}
        words = np.frombuffer(parameters.tobytes(), np.float64)
        first = new.parameter_offset // 8
        w.parameter_arena[first : first + len(words)] = words
        check_tables(t, n_parts=int(w.n_parts))
        w.pending_tables = 1

    def push(self, command: Any, transaction: int, slots: dict[int, int]) -> None:
        """Put a command into the ring. `slots`: identity of an action → its slot (a stale one for others)."""
        row: Any = np.zeros(1, command_dtype)[0]
        if isinstance(command, At):
            row.target_tick = command.tick
            command = command.command
        row.transaction, row.part = transaction, -1
        parameters, request = None, None
        match command:
            case Start(session, actions) | Stop(session, actions):
                row.command = Command.START if isinstance(command, Start) else Command.STOP
                row.session, row.n_actions = session, len(actions)
                for i, identity in enumerate(actions):
                    row.identities[i], row.actions[i] = identity, slots.get(identity, 0)
            case StopSession(session) | EndSession(session):
                row.command = Command.STOP_SESSION if isinstance(command, StopSession) else Command.END_SESSION
                row.session = session
            case RaiseSignal(session, action, signal):
                row.command, row.session, row.signal, row.n_actions = Command.SIGNAL, session, signal, 1
                row.identities[0], row.actions[0] = action, slots.get(action, 0)
            case SetParameters(session, action, gain):
                row.command, row.session, row.n_actions = Command.SET_PARAMETERS, session, 1
                row.identities[0], row.actions[0] = action, slots.get(action, 0)
                record = np.zeros(1, scripted_action.PARAMS)
                if action in self._parameters:
                    record[0] = self._parameters[action]
                record["gain"] = gain
                parameters = record.view(np.uint8)
                row.record_size = len(parameters)
            case SetSpeed(speed, authority):
                row.command, row.value, row.signal = Command.SET_SPEED, speed, authority
            case ProtectiveStop(source, secret):
                row.command = Command.PROTECTIVE_STOP
                request = stop_request(source=source, secret=secret)
            case ReleaseProtectiveStop(source, secret, everything, authority):
                row.command = Command.RELEASE_PROTECTIVE_STOP
                given = Authority.GIVEN if authority else Authority.NONE
                request = stop_request(source=source, secret=secret, everything=everything, authority=given)
            case Resume(session):
                row.command, row.session = Command.RESUME, session
            case Enable(part):
                row.command, row.part = Command.ENABLE, part
            case Disable(part):
                row.command, row.part = Command.DISABLE, part
            case ClearFaults(part):
                row.command, row.part = Command.CLEAR_FAULTS, part
            case ServerLost():
                row.command = Command.SERVER_LOST
        if request is not None:
            parameters = np.frombuffer(request.tobytes(), np.uint8)
            row.record_size = len(parameters)
        assert row.command != 0 and self.channel.push_command(row, parameters)

    def show(self, inputs: Inputs) -> None:
        """Let the devices write what the hardware shows in the next tick."""
        self.world.overrun.missed += inputs.missed
        for p, (device, first) in enumerate(self._links):
            image: Any = self.images[device]
            image["state"][first] = inputs.distance[p]
            image["state"][first + 1] = inputs.switch[p]
            for j in range(int(self.world.parts[p].dof)):
                image["state"][first + 2 + 2 * j] = inputs.position
            image["state"][first + 3] = 10.0 * MAX_SPEED if p in inputs.too_fast else 0.0
        for d in range(int(self.world.n_devices)):
            image = self.images[d]
            if d not in inputs.frozen and d not in inputs.errors:
                image["state_cycle"] += 1
            image["state_error"] = int(d in inputs.errors)
            image["state_sequence"] += 2

    def tick(self) -> np.ndarray:
        """Run one tick. Returns its events, of `layout.event_dtype`."""
        self.log[0] = 0.0
        self.world.now_ns = (int(self.world.tick) + 1) * 1_000_000
        self.code.tick(self.world, self.channel.memory)
        return self.channel.take_events()

    def moving(self) -> frozenset[int]:
        """Parts that the last commands have not brought to rest; of an effort, the measured velocity counts."""
        found = set()
        for p in range(int(self.world.n_parts)):
            part, modes = self.world.parts[p], int(self.world.parts_runtime[p].last_modes)
            for j in range(int(part.dof)):
                v, a = float(part.commanded_velocity[j]), float(part.commanded_acceleration[j])
                by_effort = mode_of(modes, j) == CommandMode.EFFORT
                if abs(v) > REST_SPEED_FRACTION * MAX_SPEED if by_effort else v != 0.0 or a != 0.0:
                    found.add(p)
        return frozenset(found)

    def calls(self) -> list[tuple[int, str]]:
        """The calls of the last tick: (identity of the action, method)."""
        numbers = [int(x) for x in self.log[1 : 1 + int(self.log[0])]]
        assert len(numbers) < scripted_action.LOG_ENTRIES
        return [(n // 8, scripted_action.METHODS[n % 8]) for n in numbers]
