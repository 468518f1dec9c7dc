"""Checks of program tables before the loop may see them: every index, offset and region, and every condition's stack.

The tables come from another process. Whatever they hold, the tick must not leave its memory.
"""

from __future__ import annotations

from typing import NoReturn

import numpy as np

from robot_rt_control.conditions.check import find_fault, offsets_read
from robot_rt_control.definitions.streams import SETTINGS, VARIABLES, record_size
from robot_rt_control.memory.layout import (
    action_runtime_dtype,
    degree_dtype,
    governed_dtype,
    motion_dtype,
    offset_of,
    part_dtype,
    world_dtype,
)
from robot_rt_control.memory.set_points import size_of_set_point
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.enums import GroupFlag
from robot_rt_control.vocabulary.errors import DefinitionError

_TIME = offset_of(world_dtype, "time")
_SPEED, _PROTECTIVE_STOP = offset_of(world_dtype, "speed"), offset_of(world_dtype, "protective_stop")
_PARTS = offset_of(world_dtype, "parts")
_STATE = offset_of(world_dtype, "state_arena")
_RUNTIMES, _RUNTIME_SIZE = offset_of(world_dtype, "actions_runtime"), action_runtime_dtype.itemsize
_VARIABLES = offset_of(world_dtype, "session_variables")
_VARIABLES_SIZE = 8 * capacities.MAX_SESSIONS * capacities.MAX_SESSION_VARIABLES
_OF_RUNTIME = [offset_of(action_runtime_dtype, name) for name in ("elapsed", "timed_out")]
_PART_END_OF_FLOATS = offset_of(part_dtype, "command_mode")


def _refuse(item: str, expected: str, got: object) -> NoReturn:
    raise DefinitionError(f"program tables refused: {item}", expected=expected, got=str(got))


def _in_range(item: str, values: np.ndarray, low: int, high: int) -> None:
    """All values in [low, high)."""
    bad = np.flatnonzero((values < low) | (values >= high))
    if len(bad):
        _refuse(f"{item} of entry {bad[0]}", f"at least {low} and below {high}", int(values[bad[0]]))


def _disjoint(item: str, offsets: np.ndarray, sizes: np.ndarray) -> None:
    """No two of the regions [offset, offset + size) share a byte."""
    order = np.argsort(offsets, kind="stable")
    ends = (offsets + sizes)[order]
    bad = np.flatnonzero(offsets[order][1:] < ends[:-1])
    if len(bad):
        _refuse(item, "regions that do not overlap", f"two that share offset {int(offsets[order][bad[0] + 1])}")


def _regions(item: str, offsets: np.ndarray, sizes: np.ndarray, arena: int) -> None:
    """Regions are aligned to 8 bytes and lie inside their arena."""
    _in_range(f"{item} size", sizes, 0, arena + 1)
    _in_range(f"{item} offset", offsets, 0, arena + 1)
    if len(offsets) and int((offsets + sizes).max()) > arena:
        _refuse(item, f"an end within {arena} bytes", int((offsets + sizes).max()))
    if ((offsets | sizes) & 7).any():
        _refuse(item, "multiples of 8 bytes", "another number")


def _readable(item: str, offsets: np.ndarray, n_parts: int) -> None:
    """Offsets of state variables: system values, measured values of a part, those of every action, of the sessions'
    applications, the state arena."""
    offsets = offsets.astype(np.int64)
    in_part = (offsets >= _PARTS) & (offsets < _PARTS + n_parts * part_dtype.itemsize)
    in_part &= (offsets - _PARTS) % part_dtype.itemsize < _PART_END_OF_FLOATS
    in_state = (offsets >= _STATE) & (offsets < _STATE + capacities.STATE_ARENA_BYTES)
    system = (offsets == _TIME) | (offsets == _SPEED) | (offsets == _PROTECTIVE_STOP)
    of_action = (offsets >= _RUNTIMES) & (offsets < _RUNTIMES + capacities.MAX_ACTIONS * _RUNTIME_SIZE)
    of_action &= np.isin((offsets - _RUNTIMES) % _RUNTIME_SIZE, _OF_RUNTIME)
    of_session = (offsets >= _VARIABLES) & (offsets < _VARIABLES + _VARIABLES_SIZE)
    good = (in_part | in_state | of_action | of_session | system) & (offsets % 8 == 0)
    if not good.all():
        _refuse(item, "the offset of a state variable", int(offsets[~good][0]))


def _check_actions(t: np.record, n_parts: int) -> None:
    actions = t.actions[: t.n_actions]
    used = actions[actions["identity"] != 0]
    if len(np.unique(used["identity"])) != len(used):
        _refuse("action identities", "each once", "one twice")
    _in_range("session of action", used["session"], 0, int(t.n_sessions))
    _in_range("type of action", used["type"], 0, int(t.n_types))
    _in_range("number of parts of action", used["n_parts"], 1, capacities.MAX_PARTS + 1)
    _check_groups(used)
    _in_range("part of action", used["parts"].ravel(), 0, max(n_parts, 1))
    for s in range(capacities.MAX_ACTION_SLOTS):
        for u in range(s):
            twice = (used["parts"][:, s] == used["parts"][:, u]) & (used["n_parts"] > s)
            if twice.any():
                _refuse("parts of action", "each part in one slot", f"identity {int(used['identity'][twice][0])}")
    _regions("parameters", used["parameter_offset"], used["parameter_size"], capacities.PARAMETER_ARENA_BYTES)
    axes, laws = t.axes[: t.n_axes], t.strategies[: t.n_strategies]
    governed = np.full(len(axes), governed_dtype.itemsize)
    offsets = np.concatenate([used["state_offset"], axes["state_offset"], laws["state_offset"]])
    sizes = np.concatenate([used["state_size"], governed, laws["state_size"]])
    _regions("state", offsets, sizes, capacities.STATE_ARENA_BYTES)
    _disjoint("state", offsets, sizes)
    _in_range("size of a state", used["state_size"], 0, capacities.ACTION_STATE_BYTES + 1)
    _in_range("number of signals", used["n_signals"], 0, capacities.STATE_ARENA_BYTES)
    _in_range("number of state variables", used["n_variables"], 0, capacities.STATE_ARENA_BYTES)
    if not (used["time_limit"] >= 0.0).all():
        _refuse("time limit of action", "at least 0", float(used["time_limit"][~(used["time_limit"] >= 0.0)][0]))
    if (8 * (used["n_signals"] + used["n_variables"]) > used["state_size"]).any():
        _refuse("state", "room for all signals and state variables", "a smaller record")
    _in_range("number of reactions of action", used["n_reactions"], 0, int(t.n_reactions) + 1)
    _in_range("first reaction of action", used["first_reaction"], 0, int(t.n_reactions) + 1)
    owned = used[used["n_reactions"] > 0]
    if (owned["first_reaction"] < t.n_free_reactions).any():
        _refuse("first reaction of action", "after the free-standing ones", "an earlier one")
    if len(owned) and int((owned["first_reaction"] + owned["n_reactions"]).max()) > t.n_reactions:
        _refuse("reactions of action", f"at most {int(t.n_reactions)}", "more")


def _check_groups(used: np.ndarray) -> None:
    plain, groups = used[used["group"] == 0], used[used["group"] != 0]
    _in_range("number of parts of action", plain["n_parts"], 1, capacities.MAX_ACTION_SLOTS + 1)
    _in_range("flags of group", groups["group"], 1, 2 * max(GroupFlag))
    _in_range("queue of group", groups["queue"], -1, capacities.MAX_MOTION_QUEUES)
    queues = groups["queue"][groups["queue"] >= 0]
    if len(np.unique(queues)) != len(queues):
        _refuse("queues of groups", "each once", "one twice")
    for a in groups:
        n = int(a["n_parts"])
        if len(set(a["parts"][:n])) != n:
            _refuse("parts of group", "each part once", f"identity {int(a['identity'])}")
        room = int(a["state_size"]) - motion_dtype.itemsize
        if room < n * motion_dtype.itemsize or room % (8 * n) or int(a["parameter_size"]) % (8 * n):
            _refuse("records of group", "one of equal size for each part", f"identity {int(a['identity'])}")


def _check_fallbacks(t: np.record, n_parts: int) -> None:
    for name in ("default_action", "safety_action"):
        slots = t[name][:n_parts]
        _in_range(f"{name} of part", slots, -1, int(t.n_actions))
        for part, slot in enumerate(slots):
            if slot < 0:
                continue
            a = t.actions[slot]
            if a.identity == 0 or a.session != 0 or a.n_parts != 1 or a.parts[0] != part or a.n_axes != 0:
                wanted = "an action of session 0 on this part alone, without strategies"
                _refuse(f"{name} of part {part}", wanted, f"action slot {slot}")


def _check_reactions(t: np.record, n_parts: int) -> None:
    r = t.reactions[: t.n_reactions]
    n_actions = int(t.n_actions)
    exists = np.append(t.actions["identity"][:n_actions] != 0, False)  # the last one answers for -1
    session_of = np.append(t.actions["session"][:n_actions], -1)
    _in_range("session of reaction", r["session"], 0, int(t.n_sessions))
    _in_range("number of starts of reaction", r["n_starts"], 0, capacities.MAX_ACTIONS_PER_COMMAND + 1)
    _in_range("leaves of reaction", r["leaves"], -1, capacities.MAX_USE_DEPTH)
    starting = np.arange(r["n_starts"].max(initial=0)) < r["n_starts"][:, None]
    starts = np.where(starting, r["starts"][:, : starting.shape[1]], -1)
    names = ("owner", "signal_action")
    for name, index in (*((name, r[name]) for name in names), *(("start", start) for start in starts.T)):
        _in_range(f"{name} of reaction", index, -1, n_actions)
        named = index >= 0
        if (named & ~exists[index]).any() or (named & (session_of[index] != r["session"])).any():
            _refuse(f"{name} of reaction", "an action of the same session", "another one")
    if (starts[starting] < 0).any():
        _refuse("start of reaction", "an action of the same session", "none")
    for together in starts[r["n_starts"] > 1]:
        moved = [p for a in t.actions[together[together >= 0]] for p in a["parts"][: a["n_parts"]]]
        if len(set(moved)) < len(moved):
            _refuse("starts of reaction", "actions that share no part", "two that do")
    place = np.arange(len(r))
    free = place < t.n_free_reactions
    if ((r["owner"] < 0) != free).any():
        _refuse("order of reactions", "the free-standing ones first", "another one")
    # Exactly those of its range are an action's: a reaction that two of them judge could fire more often than fits.
    first = np.append(t.actions["first_reaction"][:n_actions], 0).astype(np.int64)[r["owner"]]
    count = np.append(t.actions["n_reactions"][:n_actions], 0).astype(np.int64)
    owned = ~free & (place >= first) & (place < first + count[r["owner"]])
    in_use = np.append(t.actions["identity"][:n_actions] != 0, False)
    if (owned != ~free).any() or int(count[in_use].sum()) != int(owned.sum()):
        _refuse("reactions of action", "those that it owns", "others")
    signals = np.append(t.actions["n_signals"][:n_actions], 0)[r["signal_action"]]
    raises = r["signal_action"] >= 0
    if (raises & ((r["signal"] < 0) | (r["signal"] >= signals))).any():
        _refuse("signal of reaction", "a signal of the action", "another number")
    _in_range("runtime slot of reaction", r["runtime_slot"], 0, capacities.MAX_REACTIONS)
    if len(np.unique(r["runtime_slot"])) != len(r):
        _refuse("runtime slots of reactions", "each once", "one twice")
    _in_range("captures of reaction", r["n_captures"], 0, capacities.MAX_CAPTURES + 1)
    captured = np.arange(capacities.MAX_CAPTURES) < r["n_captures"][:, None]
    _readable("captured value of reaction", r["captures"][captured], n_parts)


def _check_conditions(t: np.record, n_parts: int) -> None:
    r, s = t.reactions[: t.n_reactions], t.strategies[: t.n_strategies]
    s = s[s["n_instructions"] != 0]
    lengths = np.concatenate([r["n_instructions"], s["n_instructions"]])
    _in_range("instructions of reaction or strategy", lengths, 1, capacities.MAX_INSTRUCTIONS + 1)
    ends = np.cumsum(lengths, dtype=np.int64)
    firsts = np.concatenate([r["first_instruction"], s["first_instruction"]])
    if (firsts != ends - lengths).any() or (len(ends) and int(ends[-1]) != t.n_instructions):
        wanted = "those of all reactions, then of all strategies, in order, without gaps"
        _refuse("instructions of reaction or strategy", wanted, "another place")
    ins = t.instructions[: t.n_instructions]
    fault = find_fault(ins, lengths)
    if fault:
        _refuse("condition", "a valid program", fault)
    _readable("variable of instruction", offsets_read(ins), n_parts)


def _check_strategies(t: np.record, n_parts: int) -> None:
    axes, laws, actions = t.axes[: t.n_axes], t.strategies[: t.n_strategies], t.actions[: t.n_actions]
    _in_range("action of axis", axes["action"], 0, int(t.n_actions))
    _in_range("joint of axis", axes["joint"], 0, capacities.MAX_JOINTS)
    # Exactly those of its range are an action's, and on one of its parts; likewise the strategies of an axis.
    used = actions["identity"] != 0
    _in_range("number of axes of action", actions["n_axes"][used], 0, len(axes) + 1)
    owners = actions[axes["action"]]
    first, count = owners["first_axis"].astype(np.int64), owners["n_axes"].astype(np.int64)
    rows = np.arange(len(axes))
    owned = (rows >= first) & (rows < first + count) & (owners["identity"] != 0)
    moved = np.arange(capacities.MAX_PARTS) < owners["n_parts"][:, None]
    owned &= ((owners["parts"] == axes["part"][:, None]) & moved).any(axis=1)
    if not owned.all() or int(actions["n_axes"][used].sum()) != len(axes):
        _refuse("axes of action", "those that it owns, on parts that it moves", "others")
    # A declared degree of freedom lies in the state of its action.
    records = axes["record_offset"]
    low, high = owners["state_offset"], owners["state_offset"] + owners["state_size"] - degree_dtype.itemsize
    if not ((records == -1) | ((records >= low) & (records <= high) & (records & 7 == 0))).all():
        _refuse("record of axis", "one in the state of its action", "another place")
    _in_range("number of strategies of axis", axes["n_strategies"], 1, len(laws) + 1)
    ends = np.cumsum(axes["n_strategies"], dtype=np.int64)
    if (axes["first_strategy"] != ends - axes["n_strategies"]).any() or int(ends[-1] if len(ends) else 0) != len(laws):
        _refuse("strategies of axis", "those of all axes in order, without gaps", "another place")
    if len(laws):
        last = np.isin(np.arange(len(laws)), ends - 1)
        if ((laws["n_instructions"] == 0) != last).any():
            _refuse("conditions of strategies", "one for each but the last of an axis", "others")
    _in_range("law of strategy", laws["type"], 0, int(t.n_types))
    _in_range("number of inputs of strategy", laws["n_inputs"], 0, capacities.MAX_LAW_INPUTS + 1)
    bound = laws["inputs"][np.arange(capacities.MAX_LAW_INPUTS) < laws["n_inputs"][:, None]]
    _readable("input of strategy", bound[bound != -1], n_parts)
    _in_range("number of captures of strategy", laws["n_captures"], 0, capacities.MAX_CAPTURES + 1)
    captured = np.arange(capacities.MAX_CAPTURES) < laws["n_captures"][:, None]
    _readable("captured variable of strategy", laws["captures"][captured], n_parts)
    _in_range("part of strategy", laws["parts"].ravel(), 0, max(n_parts, 1))
    _in_range("size of the state of a strategy", laws["state_size"], 0, capacities.ACTION_STATE_BYTES + 1)
    _regions(
        "parameters of strategies", laws["parameter_offset"], laws["parameter_size"], capacities.PARAMETER_ARENA_BYTES
    )


def _check_starts(t: np.record) -> None:
    """Actions that start with these tables; in the tick it is seen whether they share a part."""
    _in_range("number of starts", np.array([t.n_starts]), -1, capacities.MAX_ACTIONS_PER_COMMAND + 1)
    slots = t.starts[: max(int(t.n_starts), 0)]
    _in_range("action to start", slots, 0, int(t.n_actions))
    actions = t.actions[slots]
    if (actions["identity"] == 0).any() or len(np.unique(actions["session"])) > 1 or (actions["session"] == 0).any():
        _refuse("actions to start", "actions of one session, not the system's", "others")


def _check_streams(t: np.record) -> None:
    streams, actions = t.streams[: t.n_streams], t.actions[: t.n_actions]
    _in_range("action of stream", streams["action"], 0, int(t.n_actions))
    used = actions["identity"] != 0
    _in_range("number of streams of action", actions["n_streams"][used], 0, capacities.MAX_ACTION_STREAMS + 1)
    # Exactly those of its range are an action's, one range after the other.
    rows = np.arange(len(streams))
    first, count = actions["first_stream"].astype(np.int64), actions["n_streams"].astype(np.int64)
    of = streams["action"]
    owned = (rows >= first[of]) & (rows < first[of] + count[of]) & used[of]
    owned &= streams["identity"] == actions["identity"][of]
    if not owned.all() or int(count[used].sum()) != len(streams):
        _refuse("streams of action", "those that it owns", "others")
    _in_range("place of stream", streams["place"], 0, capacities.MAX_STREAMS)
    if len(np.unique(streams["place"])) != len(streams):
        _refuse("places of streams", "each once", "one twice")
    _in_range("values of stream", streams["n_values"], 1, capacities.MAX_STREAM_VALUES + 1)
    _in_range("width of stream", streams["width"], 1, capacities.MAX_STREAM_VALUES + 1)
    if (streams["n_values"] > streams["width"]).any():
        _refuse("values of stream", "at most as many as there is room for", "more")
    _in_range("quaternion of stream", streams["quaternion"], -1, capacities.MAX_STREAM_VALUES - 3)
    if ((streams["quaternion"] >= 0) & (streams["quaternion"] + 4 > streams["n_values"])).any():
        _refuse("quaternion of stream", "four of its values", "values that it does not have")
    _in_range("gap function of stream", streams["method"], -1, capacities.MAX_ACTION_STREAMS)
    state, parameters = actions["state_size"][of], actions["parameter_size"][of]
    sizes = np.array([record_size(int(s["width"]), bool(s["is_output"]), int(s["method"]) >= 0) for s in streams])
    for item, offsets, length, room in (
        ("record of stream", streams["record"], sizes, state),
        ("variables of stream", streams["variables"], 8 * len(VARIABLES), state),
        ("settings of stream", streams["settings"], 8 * len(SETTINGS), parameters),
    ):
        bad = (offsets < 0) | (offsets & 7 != 0) | (offsets + length > room)
        if item != "record of stream":
            bad &= streams["is_output"] == 0
        if bad.any():
            _refuse(item, "a place inside its action's records", f"offset {int(offsets[bad][0])}")


def check_tables(t: np.record, *, n_parts: int) -> None:
    """Check tables (a record of `layout.tables_dtype`) as a whole.

    Raises:
        DefinitionError: names the first thing that is wrong.
    """
    for name, capacity in (
        ("n_types", capacities.MAX_ACTION_TYPES),
        ("n_sessions", capacities.MAX_SESSIONS),
        ("n_actions", capacities.MAX_ACTIONS),
        ("n_reactions", capacities.MAX_REACTIONS),
        ("n_instructions", capacities.MAX_INSTRUCTIONS),
        ("n_streams", capacities.MAX_STREAMS),
        ("n_axes", capacities.MAX_AXES),
        ("n_strategies", capacities.MAX_STRATEGIES),
    ):
        if not 0 <= t[name] <= capacity:
            _refuse(name, f"at most {capacity}", int(t[name]))
    if not 0 <= t.n_free_reactions <= t.n_reactions:
        _refuse("n_free_reactions", f"at most {int(t.n_reactions)}", int(t.n_free_reactions))
    if t.n_sessions < 1 or (t.sessions["identity"][: t.n_sessions] <= 0).any():
        _refuse("sessions", "identities above 0, the system's session first", "another list")
    if (t.sessions["detached"][: t.n_sessions] < 0).any():
        _refuse("bound of a detached session", "at least 0", int(t.sessions["detached"][: t.n_sessions].min()))
    _check_actions(t, n_parts)
    _check_fallbacks(t, n_parts)
    _check_reactions(t, n_parts)
    _check_conditions(t, n_parts)
    _check_strategies(t, n_parts)
    _check_starts(t)
    _check_streams(t)


def check_motion_queues(t: np.record, dofs: np.ndarray) -> list[tuple[int, int]]:
    """The queues of motion groups lie inside their arena. The tables must have been checked.

    Args:
        dofs: number of joints of each part.

    Returns:
        Place of each queue among the set points: (offset, size) [bytes].

    Raises:
        DefinitionError: names what is wrong.
    """
    actions = t.actions[: t.n_actions]
    places = []
    for a in actions[(actions["identity"] != 0) & (actions["group"] != 0) & (actions["queue"] >= 0)]:
        of = f"identity {int(a['identity'])}"
        if not (a["n_points"] >= 1 and 0.0 < a["braking_rate"] < np.inf):
            _refuse("set points of group", "at least one, and a braking rate", of)
        size = size_of_set_point(int(dofs[a["parts"][: int(a["n_parts"])]].sum()))
        offset, entries = int(a["queue_offset"]), int(a["queue_entries"])
        end = offset + entries * size
        if offset < 0 or offset % 8 or entries < 2 or end > capacities.MOTION_QUEUE_BYTES:
            _refuse("queue of group", "a place among the set points, with room for at least two", of)
        places.append((offset, entries * size))
    return places


def check_new_parameters(count: int, blobs: np.ndarray, active: np.record) -> None:
    """The new parameter regions lie inside the arena, and touch nothing that the loop may be reading.

    Args:
        count: number of regions, by the tables.
        blobs: the regions, of `layout.blob_dtype`.
        active: the tables that the loop uses (a record of `layout.tables_dtype`).

    Raises:
        DefinitionError: names what is wrong.
    """
    most = capacities.MAX_ACTIONS + capacities.MAX_STRATEGIES
    if not 0 <= count <= most:
        _refuse("number of new parameter records", f"at most {most}", count)
    _regions("new parameters", blobs["offset"], blobs["size"], capacities.PARAMETER_ARENA_BYTES)
    used = active.actions[: active.n_actions]
    used = used[used["identity"] != 0]
    laws = active.strategies[: active.n_strategies]
    _disjoint(
        "new parameters, beside those in use",
        np.concatenate([blobs["offset"], used["parameter_offset"], laws["parameter_offset"]]),
        np.concatenate([blobs["size"], used["parameter_size"], laws["parameter_size"]]),
    )
