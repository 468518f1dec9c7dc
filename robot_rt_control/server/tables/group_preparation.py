"""From the motion commands of a group to the parameter records of its parts, and to plans for the profiler.

It runs outside the loop, without time limits, and reports the mistakes of all commands together (document 3:
MotionCommandGroup.Initialize and MotionCommand.Initialize). Nothing moves by it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from robot_rt_control.actions.motion_group import MotionGroup
from robot_rt_control.definitions.action_type import ParameterValue, parameter_dtype
from robot_rt_control.definitions.motion_command import MotionCommand
from robot_rt_control.model.workcell.part_facts import PartFacts
from robot_rt_control.motion_group.check import command_mistakes
from robot_rt_control.motion_group.move import Move, move_of
from robot_rt_control.motion_group.plan import Plan, braking_rate, sequence, stretched
from robot_rt_control.text.mistakes import Mistakes
from robot_rt_control.vocabulary.capacities import MAX_GROUP_COMMANDS
from robot_rt_control.vocabulary.enums import GroupFlag
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError


@dataclass(frozen=True, eq=False, kw_only=True)
class PreparedGroup:
    """What a motion group needs besides its parameters."""

    flags: GroupFlag
    plans: tuple[Plan, ...] = ()
    """One for each part, if they are profiled outside the loop."""
    n_points: int = 0
    """Set points of the longest plan, one for each tick."""
    braking_rate: float = 0.0
    """[1/s] with which the path time of all plans can be braked anywhere."""

    @property
    def is_asynchronous(self) -> bool:
        """Whether its set points come from outside the loop."""
        return bool(self.plans)


def prepare_group(
    of: str,
    commands: Sequence[MotionCommand],
    parts: Sequence[PartFacts],
    values: Mapping[str, ParameterValue],
    period: float,
) -> tuple[PreparedGroup, np.ndarray]:
    """Prepare the motions of all parts.

    Args:
        of: the action, for messages.
        commands: of all parts, in the order in which each part carries its own out.
        values: checked values of the type's parameters.
        period: of the loop [s].

    Returns:
        The group, and the parameter records of all parts as bytes, shape (size,) of uint8.

    Raises:
        DefinitionError: the mistakes of all commands.
    """
    mistakes = Mistakes()
    asynchronous = values["profile"] == "async"
    moves = []
    # All of a part's motions for one tool: another may be put on meanwhile.
    parts = [part.with_tool(part.tool) if part.tools else part for part in parts]
    for part in parts:
        given = [(i, command) for i, command in enumerate(commands) if command.part == part.name]
        with mistakes.collect():
            moves.append(_moves_of(of, part, given, asynchronous, mistakes))
    mistakes.raise_all()
    flags = GroupFlag.GROUP
    if values["finish"] == "together":
        flags |= GroupFlag.TOGETHER
    if values["on_failure"] == "continue":
        flags |= GroupFlag.GO_ON
    records = np.zeros(len(parts), parameter_dtype(MotionGroup))
    group = PreparedGroup(flags=flags)
    if asynchronous:
        group = _asynchronous(flags, parts, moves, period)
    with_pose = {command.part for command in commands if command.has_pose}
    for record, part, own in zip(records, parts, moves, strict=True):
        _fill(record, part, own, values, period, group)
        # It is planned with the limits of the tool that is on, and its poses are those of this tool.
        bound = part.name in with_pose or part.description.tools_limit
        record.tool_number = part.record.tool_number if bound else math.nan
    for record, plan in zip(records, group.plans, strict=False):
        record.asynchronous, record.checks_start, record.duration = 1, 1, plan.duration
        record.start_velocity[: plan.dof] = plan.sample(np.zeros(1))[1][0]
    return group, records.view(np.uint8)


def _moves_of(
    of: str, part: PartFacts, commands: Sequence[tuple[int, MotionCommand]], asynchronous: bool, mistakes: Mistakes
) -> list[Move]:
    """The motions of one part, each from the end of the one before."""
    if not asynchronous and len(commands) > MAX_GROUP_COMMANDS:
        raise CapacityError(
            f"{of}: too many motion commands of part {part.name!r}",
            expected=f"at most {MAX_GROUP_COMMANDS} (MAX_GROUP_COMMANDS)",
            got=str(len(commands)),
            hint="Give `profile: async`, which takes more",
        )
    moves: list[Move] = []
    before: np.ndarray | None = None
    for i, command in commands:
        label = f"{of}: motion command {i + 1}, of part {part.name!r}"
        own = command_mistakes(label, command, part)
        for error in own:
            error.item = ("commands", i)
        mistakes.errors += own
        if own:
            return moves  # what follows has no known start
        n = len(moves)
        with mistakes.collect(), named(label, i):
            moves.append(_checked(move_of(part, command, before), asynchronous))
        if len(moves) == n:
            return moves
        before = moves[-1].end
    return moves


def _checked(move: Move, asynchronous: bool) -> Move:
    if not asynchronous and move.path is not None:
        raise DefinitionError(
            "a path through points",
            expected="`profile: async`: the loop has no time to plan it",
            got="profile 'realtime'",
        )
    return move


@contextmanager
def named(label: str, i: int) -> Iterator[None]:
    """Put a label before the text of a DefinitionError of motion command i."""
    try:
        yield
    except DefinitionError as error:
        found = DefinitionError(f"{label}: {error.what}", expected=error.expected, got=error.got, hint=error.hint)
        found.item = ("commands", i)
        raise found from error


def _asynchronous(
    flags: GroupFlag, parts: Sequence[PartFacts], moves: Sequence[Sequence[Move]], period: float
) -> PreparedGroup:
    plans = [sequence([move.plan(None) for move in own]) for own in moves]
    if flags & GroupFlag.TOGETHER:
        longest = max(plan.duration for plan in plans)
        plans = [_lasting(own, plan, longest) for own, plan in zip(moves, plans, strict=True)]
    rates = [
        braking_rate(plan, part.description.system_limits.acceleration[: part.dof])
        for plan, part in zip(plans, parts, strict=True)
    ]
    longest = max(plan.duration for plan in plans)
    return PreparedGroup(
        flags=flags,
        plans=tuple(plans),
        n_points=math.ceil(longest / period - 1e-9) + 1,
        braking_rate=min([100.0, *rates]),
    )


def _lasting(moves: Sequence[Move], plan: Plan, duration: float) -> Plan:
    """All of a part's motions, slower: each as the loop would plan it."""
    if not duration > plan.duration > 0.0:
        return plan
    slower = plan.duration / duration
    return stretched(sequence([move.plan(move.plan(None).duration / slower) for move in moves]), duration)


def _fill(
    record: np.record,
    part: PartFacts,
    moves: Sequence[Move],
    values: Mapping[str, ParameterValue],
    period: float,
    group: PreparedGroup,
) -> None:
    n = part.dof
    record.period, record.tolerance = period, values["tolerance"]
    record.start[:n], record.end[:n] = moves[0].start, moves[-1].end
    record.checks_start, record.start_tolerance = int(moves[0].checks_start), moves[0].start_tolerance
    if group.is_asynchronous:
        return
    record.n_commands = len(moves)
    for i, move in enumerate(moves):
        record.goal[i, :n] = move.end
        record.velocity[i, :n], record.acceleration[i, :n] = move.limits.velocity, move.limits.acceleration
        record.jerk[i, :n] = move.limits.jerk
        record.lasts[i] = (move.duration or 0.0) if i == 0 else move.plan(None).duration
    record.duration = sum(record.lasts[1 : len(moves)])
