"""Tables from another process: whatever they hold, they are refused, or they cannot lead the tick out of its memory."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from robot_rt_control.client.actions import Action, Reaction, Strategy
from robot_rt_control.memory.atomics import address_of
from robot_rt_control.memory.layout import blob_dtype, command_dtype, offset_of, part_dtype, tables_dtype, world_dtype
from robot_rt_control.memory.set_points import size_of_set_point
from robot_rt_control.realtime.executor import native_loader
from robot_rt_control.realtime.executor.installer import Installer
from robot_rt_control.realtime.executor.table_check import check_motion_queues, check_new_parameters, check_tables
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary import capacities as c
from robot_rt_control.vocabulary.enums import Command
from robot_rt_control.vocabulary.errors import RobotControlError

_WORKCELL = Path(__file__).parents[3] / "lockstep" / "rules" / "workcell.yaml"
NEAR = "rangefinder.distance < 0.3"


@pytest.fixture(scope="module")
def cell() -> Iterator[LockstepCell]:
    """Two sessions with actions and reactions of all kinds, some of them active."""
    with LockstepCell(_WORKCELL) as made:
        session, other = made.session("left", "tool"), made.session("right")
        session.add(
            Action("a", "probe", parts="left", reactions=[
                Reaction(f"{NEAR} and not is_done", start="b", signal="on_tool.pong", event="e", capture=["elapsed"]),
                Reaction("approx(elapsed, b.elapsed, 0.5) or senses == 3", signal="ping", fire_once=True),
                Reaction("elapsed > 0.003", stop=True),
            ]),
            Action("b", "probe", parts="left", reactions=[Reaction("senses > 2", start="on_tool", keep_owner=True)]),
            Action("on_tool", "probe", parts="tool"),
            Action("both", "pair", parts={"one": "tool", "two": "left"}),
            reactions=[Reaction(NEAR, start="both", event="free", capture=["time", "rangefinder.age"])],
        )  # fmt: skip
        other.add(Action("look", "watch", parts={"part": "right", "eye": "rangefinder"}))
        slow = Strategy("slow", "gauge", when=NEAR, inputs={"seen": "rangefinder.distance"}, capture=["time"])
        echo = Strategy("echo", "echo", parts="rangefinder")
        other.add(Action("governed", "hold", parts="right", strategies={"y": [slow, echo]}))
        along = Strategy("along", "velocity", velocity=0.1)
        other.add(Action("declared", "geared", parts="right", strategies={"along": [slow, along]}))
        other.add(reactions=[Reaction("time > 0.001", start="look")])
        session.start("a")
        made.step(2)
        yield made


@dataclass(repr=False)
class Saved:
    """A valid state, to go back to."""

    cell: LockstepCell
    tables: np.record
    world: bytes
    channel_heads: tuple[int, int]

    def restore(self) -> None:
        executor = self.cell.executor
        ctypes.memmove(executor.world.address, self.world, world_dtype.itemsize)
        memory = executor.channel.memory
        memory.commands.head = memory.commands.tail = self.channel_heads[0]
        memory.events.head = memory.events.tail = self.channel_heads[1]


@pytest.fixture(scope="module")
def saved(cell: LockstepCell) -> Saved:
    w, memory = cell.executor.world.memory, cell.executor.channel.memory
    tables = copy_of(w.tables[int(w.active_tables)])
    whole = ctypes.string_at(cell.executor.world.address, world_dtype.itemsize)
    return Saved(cell, tables, whole, (int(memory.commands.head), int(memory.events.head)))


def copy_of(tables: np.record) -> np.record:
    copy = np.zeros(1, tables_dtype)[0]
    ctypes.memmove(address_of(copy), address_of(tables), tables_dtype.itemsize)
    return copy


def test_the_servers_tables_pass(saved: Saved) -> None:
    check_tables(saved.tables, n_parts=5)
    assert saved.tables.n_actions >= 10 and saved.tables.n_reactions == 6 and saved.tables.n_free_reactions == 2


# --- each kind of corruption ---------------------------------------------------------------------

_USER_ACTION = "a"
CORRUPTIONS: dict[str, tuple[str, Any, str]] = {
    # field → what is written → the refusal; of rows, those of action `a`, or the reactions' and instructions' first
    "n_types": ("n_types", c.MAX_ACTION_TYPES + 1, "n_types"),
    "no sessions": ("n_sessions", 0, "sessions"),
    "many sessions": ("n_sessions", c.MAX_SESSIONS + 1, "n_sessions"),
    "n_actions": ("n_actions", -1, "n_actions"),
    "n_reactions": ("n_reactions", c.MAX_REACTIONS + 1, "n_reactions"),
    "n_instructions": ("n_instructions", -7, "n_instructions"),
    "n_free_reactions": ("n_free_reactions", 7, "n_free_reactions"),
    "free reactions owned": ("n_free_reactions", 3, "first reaction of action|order of reactions"),
    "session identity": ("sessions.identity", 0, "sessions"),
    "n_starts": ("n_starts", c.MAX_ACTIONS_PER_COMMAND + 1, "number of starts"),
    "n_starts negative": ("n_starts", -2, "number of starts"),
    "n_axes": ("n_axes", c.MAX_AXES + 1, "n_axes"),
    "no axes": ("n_axes", 0, "axes of action|strategies of axis|number of axes"),
    "n_strategies": ("n_strategies", 1, "strategies of axis|number of strategies|instructions"),
    "axis' action": ("axes.action", 1023, "action of axis"),
    "axis' part": ("axes.part", 0, "axes of action"),
    "axis' joint": ("axes.joint", c.MAX_JOINTS, "joint of axis"),
    "axis' strategies": ("axes.first_strategy", 1, "strategies of axis"),
    "axis' state": ("axes.state_offset", 0, "state"),
    "axis' state outside": ("axes.state_offset", c.STATE_ARENA_BYTES, "state"),
    "axis' record": ("axes.record_offset", 0, "record of axis"),
    "axis' record negative": ("axes.record_offset", -8, "record of axis"),
    "axis' record beyond its action": ("axes.record_offset", c.STATE_ARENA_BYTES - 8, "record of axis"),
    "number of inputs": ("strategies.n_inputs", c.MAX_LAW_INPUTS + 1, "number of inputs of strategy"),
    "input": ("strategies.inputs", [offset_of(world_dtype, "tick"), 0, 0, 0], "input of strategy"),
    "input outside": ("strategies.inputs", [-2, 0, 0, 0], "input of strategy"),
    "law's captures": ("strategies.n_captures", c.MAX_CAPTURES + 1, "number of captures of strategy"),
    "law's capture": ("strategies.captures", [offset_of(world_dtype, "tick")] * 8, "captured variable of strategy"),
    "law": ("strategies.type", 200, "law of strategy"),
    "law's part": ("strategies.parts", [64, 0, 0], "part of strategy"),
    "law's state": ("strategies.state_size", -8, "state size"),
    "law's parameters": ("strategies.parameter_offset", c.PARAMETER_ARENA_BYTES, "parameters of strategies"),
    "strategy without condition": ("strategies.n_instructions", 0, "instructions of reaction or strategy"),
    "action's axes": ("actions.n_axes", 1, "axes of action"),
    "action's session": ("actions.session", 60, "session of action"),
    "action's type": ("actions.type", 200, "type of action"),
    "no parts": ("actions.n_parts", 0, "number of parts of action"),
    "many parts": ("actions.n_parts", 5, "number of parts of action"),
    "part": ("actions.parts", [63, *63 * [0]], "part of action"),
    "negative part": ("actions.parts", [-1, *63 * [0]], "part of action"),
    "flags of a group": ("actions.group", 64, "flags of group"),
    "group of an ordinary type": ("actions.group", 1, "records of group"),
    "parameters outside": ("actions.parameter_offset", c.PARAMETER_ARENA_BYTES, "parameters"),
    "parameters unaligned": ("actions.parameter_offset", 4, "parameters"),
    "parameters negative": ("actions.parameter_size", -8, "parameters size"),
    "state outside": ("actions.state_offset", c.STATE_ARENA_BYTES - 8, "state"),
    "state shared": ("actions.state_offset", 0, "state"),
    "signals": ("actions.n_signals", 1 << 20, "state"),
    "negative signals": ("actions.n_signals", -1, "number of signals"),
    "variables": ("actions.n_variables", 1 << 20, "state"),
    "time limit": ("actions.time_limit", -1.0, "time limit of action"),
    "no time limit": ("actions.time_limit", float("nan"), "time limit of action"),
    "first reaction": ("actions.first_reaction", 0, "after the free-standing ones"),
    "too many reactions": ("actions.n_reactions", 6, "at most 6"),
    "reactions of another": ("actions.n_reactions", 4, "those that it owns"),
    "fewer reactions": ("actions.n_reactions", 2, "those that it owns"),
    "no reactions": ("actions.n_reactions", 0, "those that it owns"),
    "reaction's session": ("reactions.session", 64, "session of reaction"),
    "owner": ("reactions.owner", 900, "owner of reaction"),
    "free one with an owner": ("reactions.owner", 6, "another session|order of reactions|same session"),
    "start": ("reactions.starts", [900, *63 * [0]], "start of reaction"),
    "start of another session": ("reactions.starts", [0, *63 * [0]], "same session"),
    "no start": ("reactions.starts", [-1, *63 * [0]], "start of reaction"),
    "starts": ("reactions.n_starts", c.MAX_ACTIONS_PER_COMMAND + 1, "number of starts of reaction"),
    "program left": ("reactions.leaves", c.MAX_USE_DEPTH, "leaves of reaction"),
    "signal of nobody": ("reactions.signal_action", -2, "signal_action of reaction"),
    "runtime slot": ("reactions.runtime_slot", c.MAX_REACTIONS, "runtime slot of reaction"),
    "runtime slot twice": ("reactions.runtime_slot", 1, "runtime slots of reactions"),
    "captures": ("reactions.n_captures", c.MAX_CAPTURES + 1, "captures of reaction"),
    "captured offset": (
        "reactions.captures",
        [offset_of(world_dtype, "tick"), 0, 0, 0, 0, 0, 0, 0],
        "captured value of reaction",
    ),
    "captured command": (
        "reactions.captures",
        [offset_of(world_dtype, "parts", 0, "chain"), 0, 0, 0, 0, 0, 0, 0],
        "captured value of reaction",
    ),
    "captured runtime": (
        "reactions.captures",
        [offset_of(world_dtype, "actions_runtime", 0, "status"), 0, 0, 0, 0, 0, 0, 0],
        "captured value of reaction",
    ),
    "first instruction": ("reactions.first_instruction", 1, "instructions of reaction"),
    "no instructions": ("reactions.n_instructions", 0, "instructions of reaction"),
    "too many instructions": ("reactions.n_instructions", 1 << 30, "instructions of reaction"),
    "operator": ("instructions.operator", 31, "operator 31"),
    "operator that joins": ("instructions.operator", 64 + 17, "operator"),
    "empty stack": ("instructions.operator", 17, "empty stack"),
    "variable outside": ("instructions.left", (1 << 31) - 8, "variable of instruction"),
    "variable negative": ("instructions.left", -8, "variable of instruction"),
    "variable unaligned": ("instructions.left", offset_of(world_dtype, "time") + 4, "variable of instruction"),
    "default of another part": ("default_action", "a", "default_action of part"),
    "default outside": ("default_action", 1000, "default_action of part"),
    "safety outside": ("safety_action", -2, "safety_action of part"),
}


def corrupt(cell: LockstepCell, tables: np.record, field: str, value: Any) -> None:
    slot = slot_of(cell, _USER_ACTION)
    if value == "a":
        value = slot
    table, _, column = field.partition(".")
    if not column:
        if isinstance(tables[table], np.ndarray):
            tables[table][0] = value
        else:
            tables[table] = value
        return
    tables[table][slot if table == "actions" else 0][column] = value


def slot_of(cell: LockstepCell, action: str) -> int:
    defined = (cell.server.contents(session).actions for session in cell.server.sessions())
    return next(actions[action].entry.slot for actions in defined if action in actions)


@pytest.mark.parametrize("kind", CORRUPTIONS)
def test_corrupted_tables_are_refused_by_name(cell: LockstepCell, saved: Saved, kind: str) -> None:
    field, value, text = CORRUPTIONS[kind]
    tables = copy_of(saved.tables)
    corrupt(cell, tables, field, value)
    with pytest.raises(RobotControlError, match=text) as error:
        check_tables(tables, n_parts=5)
    assert str(error.value).startswith("program tables refused: ")


def test_two_actions_never_share_reactions(cell: LockstepCell, saved: Saved) -> None:
    """Each would judge them in its own activation: more firings in a tick than there is room for."""
    tables = copy_of(saved.tables)
    a, b = tables.actions[slot_of(cell, "a")], tables.actions[slot_of(cell, "b")]
    b["first_reaction"], b["n_reactions"] = a["first_reaction"], a["n_reactions"]
    with pytest.raises(RobotControlError, match="reactions of action; expected those that it owns"):
        check_tables(tables, n_parts=5)


def test_what_starts_with_the_tables_are_actions_of_one_session(cell: LockstepCell, saved: Saved) -> None:
    tables = copy_of(saved.tables)
    tables.n_starts = 2
    for slots, refusal in (
        ((c.MAX_ACTIONS, 0), "action to start of entry 0"),
        ((0, 0), "actions to start; expected actions of one session, not the system's"),
        ((slot_of(cell, "a"), slot_of(cell, "look")), "actions to start; expected actions of one session"),
    ):
        tables.starts[:2] = slots
        with pytest.raises(RobotControlError, match=f"program tables refused: {refusal}"):
            check_tables(tables, n_parts=5)
    tables.starts[:2] = slot_of(cell, "a"), slot_of(cell, "on_tool")
    check_tables(tables, n_parts=5)


def test_an_action_takes_each_part_in_one_slot(cell: LockstepCell, saved: Saved) -> None:
    tables = copy_of(saved.tables)
    tables.actions[slot_of(cell, "both")]["parts"][:2] = 0
    with pytest.raises(RobotControlError, match="parts of action; expected each part in one slot"):
        check_tables(tables, n_parts=5)


def test_actions_that_start_together_share_no_part(cell: LockstepCell, saved: Saved) -> None:
    """The loop does not look again: two activations on one part would leave one of them without it."""
    tables = copy_of(saved.tables)
    tables.reactions[0]["starts"][:2] = slot_of(cell, "both"), slot_of(cell, "on_tool")
    tables.reactions[0]["n_starts"] = 2
    with pytest.raises(RobotControlError, match="starts of reaction; expected actions that share no part; got two"):
        check_tables(tables, n_parts=5)


def test_new_parameters_touch_nothing_in_use(saved: Saved) -> None:
    used = int(saved.tables.actions[0]["parameter_offset"])
    free = c.PARAMETER_ARENA_BYTES - 64

    def check(count: int, *blobs: tuple[int, int]) -> None:
        check_new_parameters(count, np.array(list(blobs), blob_dtype), saved.tables)

    check(0)
    check(2, (free, 32), (free + 32, 32))
    for count, blobs, text in (
        (1, [(used, 8)], "beside those in use"),
        (2, [(free, 32), (free + 24, 32)], "beside those in use"),
        (1, [(free, 128)], "an end within"),
        (1, [(-8, 8)], "new parameters offset"),
        (1, [(free, -8)], "new parameters size"),
        (1, [(free, (1 << 62) + 7)], "new parameters size"),
        (1, [(free + 4, 8)], "multiples of 8 bytes"),
        (-1, [], "number of new parameter records"),
        (c.MAX_ACTIONS + c.MAX_STRATEGIES + 1, [], "number of new parameter records"),
    ):
        with pytest.raises(RobotControlError, match=text):
            check(count, *blobs)


# --- random corruption ---------------------------------------------------------------------------

_HEADER = [n for n in tables_dtype.names or () if tables_dtype[n].shape == ()]
_TABLES = ("sessions", "actions", "reactions", "instructions", "types", "axes", "strategies")
_NUMBERS = st.one_of(
    st.sampled_from([-(1 << 31), -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 63, 64, 1023, 1024, 16384, (1 << 31) - 1]),
    st.integers(-(1 << 31), (1 << 31) - 1),
    st.integers(0, 400).map(lambda i: offset_of(world_dtype, "parts") + 8 * i),
    st.integers(0, 400).map(lambda i: offset_of(world_dtype, "state_arena") + 8 * i),
)


@st.composite
def corruptions(draw: st.DrawFn) -> list[tuple[str, int, str, int, int]]:
    """(table, row, field, element, number); a table "" stands for the header and the fallbacks."""
    found = []
    for _ in range(draw(st.integers(1, 3))):
        table = draw(st.sampled_from(("", *_TABLES)))
        if table:
            row_dtype = tables_dtype[table].base
            fields = [n for n in row_dtype.names or () if n not in ("on_enter", "sense", "set_parameters", "control")]
            row = draw(st.integers(0, 12))
        else:
            fields, row = [*_HEADER, "default_action", "safety_action"], 0
        found.append((table, row, draw(st.sampled_from(fields)), draw(st.integers(0, 7)), draw(_NUMBERS)))
    return found


def apply(tables: np.record, corruption: tuple[str, int, str, int, int]) -> None:
    table, row, field, element, number = corruption
    if not table:
        if isinstance(tables[field], np.ndarray):
            tables[field][element] = wrapped(number, tables[field].dtype)
        else:
            tables[field] = wrapped(number, tables.dtype[field])
        return
    column = tables[table][row : row + 1][field]
    if column.dtype.kind == "S":
        flat = column.view(np.uint8)
        flat[element] = number & 0xFF
    elif column.ndim > 1:
        column[0, element % column.shape[1]] = wrapped(number, column.dtype)
    else:
        column[0] = wrapped(number, column.dtype)


def wrapped(number: int, dtype: np.dtype) -> np.ndarray:
    """The number as a field of fewer bits keeps it."""
    return np.asarray(number, np.int64).astype(dtype)


def start_everything(cell: LockstepCell, tables: np.record) -> None:
    """START of every action there is, in its session, by itself."""
    ring = cell.executor.channel.memory.commands
    for slot in range(min(int(tables.n_actions), 16)):
        action = tables.actions[slot]
        if action["identity"] == 0 or action["session"] == 0:
            continue
        row: Any = np.zeros(1, command_dtype)[0]
        row.command, row.n_actions = int(Command.START), 1
        row.session = tables.sessions[int(action["session"])]["identity"]
        row.actions[0], row.identities[0] = slot, action["identity"]
        ring.entries[int(ring.head) % c.COMMAND_RING_ENTRIES] = row
        ring.head += 1


def untouched(cell: LockstepCell) -> list[bytes]:
    """What no tick writes: limits, chains, links, parameters, and the tables themselves."""
    w = cell.executor.world.memory
    regions = [w.limits.tobytes(), w.reads.tobytes(), w.writes.tobytes(), w.parameter_arena.tobytes()]
    regions += [w.parts[f"{name}_limit"].tobytes() for name in ("velocity", "acceleration", "jerk", "effort")]
    regions += [w.parts["chain"].tobytes(), w.devices["mock_source"].tobytes()]
    return regions


@pytest.mark.long
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True
)
@given(given_corruptions=corruptions())
def test_what_is_accepted_is_harmless(
    cell: LockstepCell, saved: Saved, given_corruptions: list[tuple[str, int, str, int, int]]
) -> None:
    """Installed as the executor does it; then every action is started, and every reaction may fire."""
    saved.restore()
    executor, w = cell.executor, cell.executor.world.memory
    staging = executor.channel.memory.staging
    ctypes.memmove(address_of(staging.tables), address_of(saved.tables), tables_dtype.itemsize)
    staging.n_blobs = 0
    for corruption in given_corruptions:
        apply(staging.tables, corruption)
    installer = Installer(w, executor.world.address, executor.channel, native_loader.load, ticking=False)
    before = untouched(cell)
    try:
        installer.install(staging)
    except RobotControlError:
        event("refused")
        assert w.pending_tables == 0
        assert untouched(cell) == before
        return
    event("accepted")
    cell.set_sensor("rangefinder/distance", 0.1)
    start_everything(cell, staging.tables)
    installed = w.tables[1 - int(w.active_tables)].tobytes()
    for _ in range(6):
        executor.step(1)
        active = w.active[: int(w.n_active)].tolist()
        assert len(set(active)) == len(active) <= int(w.n_parts)
        assert all(0 <= slot < int(w.tables[int(w.active_tables)].n_actions) for slot in active)
        moved = w.parts_runtime["active_action"][: int(w.n_parts)].tolist()
        assert set(moved) - {-1} == set(active)
    assert w.tables[int(w.active_tables)].tobytes() == installed
    assert untouched(cell) == before
    assert part_dtype.itemsize  # the world's parts stay where they are
    assert np.isfinite(w.parts["commanded_position"][: int(w.n_parts)]).all()


@pytest.mark.parametrize(
    "changed",
    [
        {"queue_offset": -8},
        {"queue_offset": 4},
        {"queue_entries": 1},
        {"queue_entries": c.MOTION_QUEUE_BYTES},
        {"queue_offset": c.MOTION_QUEUE_BYTES},
        {"n_points": 0},
        {"braking_rate": float("nan")},
    ],
)
def test_the_queue_of_a_motion_group_lies_among_the_set_points(changed: dict[str, float]) -> None:
    tables, dofs = np.zeros(1, tables_dtype)[0], np.full(c.MAX_PARTS, 7)
    tables.n_actions = 1
    a = tables.actions[0]
    for name, value in {"identity": 1, "group": 1, "n_parts": 2, "n_points": 9, "braking_rate": 1.0}.items():
        a[name] = value
    a["parts"][:2], a["queue_offset"], a["queue_entries"] = (0, 1), 64, 10
    assert check_motion_queues(tables, dofs) == [(64, 10 * size_of_set_point(14))]
    for name, value in changed.items():
        a[name] = value
    with pytest.raises(RobotControlError, match="queue of group|set points of group"):
        check_motion_queues(tables, dofs)
