"""Writes everything that is defined into the staging area, as the tables that the loop reads.

Reactions and instructions are kept as arrays for each action, made once when it is defined; composing
joins them and numbers what depends on the whole: ranks, and where each action's reactions begin.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robot_rt_control.memory.layout import action_dtype, instruction_dtype, reaction_dtype
from robot_rt_control.recording.reaction_names import NamedReaction
from robot_rt_control.server.profiler.queue_writer import MotionQueue
from robot_rt_control.server.tables.strategy_entries import AxisEntry, write_strategies
from robot_rt_control.server.tables.stream_entries import StreamEntry, write_streams
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.errors import CapacityError


@dataclass(frozen=True, eq=False)
class ReactionBlock:
    """Reactions that lie side by side in the tables, with their instructions in the same order."""

    reactions: np.ndarray
    """Shape (n,) of `layout.reaction_dtype`; `first_instruction` is set when composing."""
    instructions: np.ndarray
    """Shape (m,) of `layout.instruction_dtype`."""


def join_blocks(blocks: Sequence[ReactionBlock]) -> ReactionBlock:
    """Several blocks as one."""
    if not blocks:
        return NO_REACTIONS
    return ReactionBlock(
        np.concatenate([b.reactions for b in blocks]), np.concatenate([b.instructions for b in blocks])
    )


NO_REACTIONS = ReactionBlock(np.zeros(0, reaction_dtype), np.zeros(0, instruction_dtype))


@dataclass(frozen=True, eq=False)
class ActionEntry:
    """What the tables hold of one action."""

    identity: int
    slot: int
    session: int
    """Index of its session."""
    type_index: int
    moved_parts: tuple[int, ...]
    read_parts: tuple[int, ...]
    parameter_offset: int
    parameter_size: int
    state_offset: int
    state_size: int
    n_signals: int
    n_variables: int
    time_limit: float = 0.0
    """[s]; 0: none."""
    name: str = ""
    """Its id, for people."""
    reactions: ReactionBlock = NO_REACTIONS
    streams: tuple[StreamEntry, ...] = ()
    axes: tuple[AxisEntry, ...] = ()
    within: tuple[int, ...] = ()
    """Numbers of the used programs that contain it, outermost first: the identity of the first action of each."""
    group: int = 0
    """GroupFlag; 0: an ordinary action."""
    queue: MotionQueue | None = None
    """Queue of a motion group's set points; None: they do not come from outside the loop."""
    n_points: int = 0
    """Set points of its whole motion."""
    braking_rate: float = 0.0
    """[1/s] see `action_dtype`."""
    replaces: int = 0
    """Identity of the action whose id and slot it took over; 0: none."""


@dataclass(frozen=True, eq=False)
class SessionEntry:
    """What the tables hold of one session. Its index stays with it for as long as it lives."""

    index: int
    identity: int
    name: str = ""
    """Its id, for people."""
    actions: tuple[ActionEntry, ...] = ()
    free: tuple[ReactionBlock, ...] = ()
    """Free-standing reactions, as they were defined."""
    detached: int = 0
    """[ticks] for which it goes on without client or server; 0: it ends with them."""
    suspended: bool = False
    """A protective stop came before the tables knew it, and it was not resumed since."""


@dataclass(frozen=True, eq=False)
class TableContents:
    """Everything that is defined."""

    version: int
    type_keys: Sequence[str]
    sessions: Sequence[SessionEntry]
    """By age: the system's first."""
    former_sessions: Sequence[tuple[int, int]] = ()
    """(index, identity) of sessions that have gone, so that indices below the highest have no gap."""
    type_budgets_ns: Sequence[int] = ()
    """Time budgets of the types [ns]; 0: none."""
    default_action: Sequence[int] = ()
    """Action slot for each part; -1: the loop brakes and holds."""
    safety_action: Sequence[int] = ()
    starts: Sequence[int] | None = ()
    """Slots of the actions that start as the loop takes the tables; None: active ones that are replaced."""


@dataclass(frozen=True, eq=False)
class Blob:
    """A parameter record that is new in these tables."""

    offset: int
    data: np.ndarray
    """Bytes, shape (size,) of uint8."""


def check_capacities(contents: TableContents) -> None:
    """Refuse what does not fit into the tables.

    Raises:
        CapacityError: names the capacity, its limit and how much would be needed.
    """
    actions = [a for s in contents.sessions for a in s.actions]
    blocks = [b for s in contents.sessions for b in s.free] + [a.reactions for a in actions]
    strategies = [s for a in actions for axis in a.axes for s in axis.strategies]
    for what, limit, name, needed in (
        ("action types", capacities.MAX_ACTION_TYPES, "MAX_ACTION_TYPES", len(contents.type_keys)),
        ("sessions", capacities.MAX_SESSIONS, "MAX_SESSIONS", len(contents.sessions)),
        ("actions", capacities.MAX_ACTIONS, "MAX_ACTIONS", len(actions)),
        ("reactions", capacities.MAX_REACTIONS, "MAX_REACTIONS", sum(len(b.reactions) for b in blocks)),
        ("streams", capacities.MAX_STREAMS, "MAX_STREAMS", sum(len(a.streams) for a in actions)),
        ("degrees of freedom with strategies", capacities.MAX_AXES, "MAX_AXES", sum(len(a.axes) for a in actions)),
        ("strategies", capacities.MAX_STRATEGIES, "MAX_STRATEGIES", len(strategies)),
        (
            "instructions of all conditions",
            capacities.MAX_INSTRUCTIONS,
            "MAX_INSTRUCTIONS",
            sum(len(b.instructions) for b in blocks) + sum(len(s.instructions) for s in strategies),
        ),
    ):
        if needed > limit:
            raise CapacityError(
                f"too many {what}",
                expected=f"at most {limit} ({name})",
                got=f"{needed} needed",
                hint="Remove those that are not needed any more, or close sessions",
            )


def compose(
    contents: TableContents, blobs: Sequence[Blob], staging: np.record, names: Sequence[NamedReaction] = ()
) -> None:
    """Write tables and new parameter records into the staging area (a record of `layout.staging_dtype`).

    Args:
        names: what new reactions are called; those that have no room are left out.

    Raises:
        CapacityError: it does not fit; nothing was written.
    """
    check_capacities(contents)
    tables = staging.tables
    tables.version = contents.version
    tables.n_types = len(contents.type_keys)
    tables.types["key"][: len(contents.type_keys)] = [key.encode() for key in contents.type_keys]
    tables.types["budget_ns"][:] = 0
    tables.types["budget_ns"][: len(contents.type_budgets_ns)] = contents.type_budgets_ns
    _write_sessions(contents, tables)
    actions = [a for s in contents.sessions for a in s.actions]
    free = [b for s in contents.sessions for b in s.free]
    first_reactions = _write_reactions(free, [a.reactions for a in actions], tables)
    _write_actions(actions, first_reactions, _write_streams(actions, tables), _write_axes(actions, tables), tables)
    for name in ("default_action", "safety_action"):
        slots = getattr(contents, name)
        tables[name][:] = -1
        tables[name][: len(slots)] = slots
    tables.n_starts = -1 if contents.starts is None else len(contents.starts)
    tables.starts[: max(int(tables.n_starts), 0)] = contents.starts or ()
    staging.n_blobs = len(blobs)
    parameters = staging.parameters.view(np.uint8)
    for i, blob in enumerate(blobs):
        staging.blobs["offset"][i] = blob.offset
        staging.blobs["size"][i] = len(blob.data)
        parameters[blob.offset : blob.offset + len(blob.data)] = blob.data
    text = b"\n".join(each.line() for each in names)
    if len(text) > capacities.REACTION_NAMES_BYTES:
        text = text[: text.rindex(b"\n", 0, capacities.REACTION_NAMES_BYTES)]
    staging.n_names = len(text)
    staging.names[: len(text)] = np.frombuffer(text, np.uint8)


def _write_sessions(contents: TableContents, tables: np.record) -> None:
    rows = tables.sessions
    for index, identity in contents.former_sessions:
        rows["identity"][index] = identity
        rows["rank"][index] = capacities.MAX_SESSIONS
    for rank, session in enumerate(contents.sessions):
        rows["identity"][session.index] = session.identity
        rows["name"][session.index] = _label(session.name)
        rows["rank"][session.index] = rank
        rows["detached"][session.index] = session.detached
        rows["suspended"][session.index] = session.suspended
    indices = [s.index for s in contents.sessions] + [index for index, _ in contents.former_sessions]
    tables.n_sessions = max(indices) + 1


def _label(name: str) -> bytes:
    """A name as far as it fits into the tables: they only show it to people."""
    return name.encode()[: capacities.MAX_LABEL_BYTES]


def _write_reactions(free: list[ReactionBlock], owned: list[ReactionBlock], tables: np.record) -> np.ndarray:
    """Write all reactions and instructions. Returns the number of each owned block's first reaction."""
    blocks = free + owned
    reactions = _join([b.reactions for b in blocks], tables.reactions)
    tables.n_reactions = len(reactions)
    tables.n_free_reactions = sum(len(b.reactions) for b in free)
    tables.n_instructions = len(_join([b.instructions for b in blocks], tables.instructions))
    counts = reactions["n_instructions"]
    reactions["first_instruction"] = np.cumsum(counts) - counts
    lengths = np.array([len(b.reactions) for b in owned], np.int64)
    return tables.n_free_reactions + np.cumsum(lengths) - lengths


def _join(pieces: list[np.ndarray], target: np.ndarray) -> np.ndarray:
    """Write the pieces one after the other into the target; returns the part of the target that was filled.

    As plain bytes: NumPy copies records field by field, which takes ten times as long.
    """
    total = sum(len(piece) for piece in pieces)
    if total:
        joined = [piece.view(np.uint8) for piece in pieces if len(piece)]
        np.concatenate(joined, out=target[:total].view(np.uint8))
    return target[:total]


def _write_streams(actions: list[ActionEntry], tables: np.record) -> list[int]:
    """Write all streams. Returns the number of each action's first one."""
    firsts, n = [], 0
    for action in actions:
        firsts.append(n)
        write_streams(action.streams, action.identity, action.slot, tables.streams[n : n + len(action.streams)])
        n += len(action.streams)
    tables.n_streams = n
    return firsts


def _write_axes(actions: list[ActionEntry], tables: np.record) -> list[int]:
    """Write all strategies, their conditions after those of the reactions. Returns each action's first axis."""
    first = int(tables.n_instructions)
    firsts, tables.n_strategies = write_strategies(
        [(a.slot, a.axes) for a in actions], first, tables.axes, tables.strategies
    )
    conditions = [s.instructions for a in actions for axis in a.axes for s in axis.strategies]
    tables.n_instructions += len(_join(conditions, tables.instructions[first:]))
    tables.n_axes = sum(len(a.axes) for a in actions)
    return firsts


def _write_actions(
    actions: list[ActionEntry],
    first_reactions: np.ndarray,
    first_streams: list[int],
    first_axes: list[int],
    tables: np.record,
) -> None:
    tables.actions["identity"][: max(int(tables.n_actions), 1)] = 0
    n = len(actions)
    tables.n_actions = max((a.slot for a in actions), default=-1) + 1
    if n == 0:
        return
    rows = np.zeros(n, action_dtype)
    rows["rank"] = np.arange(n)
    rows["first_reaction"] = first_reactions
    rows["n_reactions"] = [len(a.reactions.reactions) for a in actions]
    rows["first_stream"] = first_streams
    rows["n_streams"] = [len(a.streams) for a in actions]
    rows["first_axis"] = first_axes
    rows["n_axes"] = [len(a.axes) for a in actions]
    rows["type"] = [a.type_index for a in actions]
    rows["n_parts"] = [len(a.moved_parts) for a in actions]
    for name in (
        "identity",
        "replaces",
        "session",
        "parameter_offset",
        "parameter_size",
        "state_offset",
        "state_size",
        "n_signals",
        "n_variables",
        "time_limit",
        "group",
        "n_points",
        "braking_rate",
    ):
        rows[name] = [getattr(a, name) for a in actions]
    rows["name"] = [_label(a.name) for a in actions]
    rows["queue"] = -1
    for row, action in zip(rows["parts"], actions, strict=True):
        parts = action.moved_parts + action.read_parts
        row[: len(parts)] = parts
    for row, action in zip(rows, actions, strict=True):
        if action.queue is not None:
            row["queue"], row["queue_offset"] = action.queue.number, action.queue.offset
            row["queue_entries"] = action.queue.entries
        if action.within:
            row["within"][: len(action.within)] = action.within
    tables.actions[[a.slot for a in actions]] = rows
