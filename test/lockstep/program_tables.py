"""Program tables for random definitions, in the places (slots, regions) that the server would give them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from reference_definitions import ActionDefinition, Behaviour, Definitions, ReactionDefinition
from scripted_action import PARAMS, SIGNALS, STATE, VARIABLES

from robot_rt_control.conditions.compiler import compile_condition
from robot_rt_control.conditions.types import VariableRef
from robot_rt_control.memory.layout import (
    action_dtype,
    axis_dtype,
    instruction_dtype,
    offset_of,
    reaction_dtype,
    session_dtype,
    strategy_dtype,
    world_dtype,
)
from robot_rt_control.vocabulary.capacities import MAX_PARTS
from robot_rt_control.vocabulary.enums import CommandMode, ReactionFlag

_TYPES = {"switch": "bool", "is_done": "bool", "senses": "int", "settings": "int", "controls": "int"}
_STATE_ARENA = offset_of(world_dtype, "state_arena")
UNSUPPORTED_MODE = 5


@dataclass(frozen=True)
class Installation:
    """The content of the inactive tables; arrays end after the last used element."""

    sessions: np.ndarray
    actions: np.ndarray
    reactions: np.ndarray
    n_free_reactions: int
    instructions: np.ndarray
    default: np.ndarray
    safety: np.ndarray
    parameters: np.ndarray
    """Parameters of all actions in a row, from `parameter_offset` in the arena; without the addresses of logs."""
    parameter_offset: int
    axes: np.ndarray = field(default_factory=lambda: np.zeros(0, axis_dtype))
    strategies: np.ndarray = field(default_factory=lambda: np.zeros(0, strategy_dtype))


class Places:
    """Identities to numbers: who stays keeps its own, who comes takes the lowest free one (also one just freed)."""

    def __init__(self, first: int = 0) -> None:
        self._first = first
        self.of: dict[int, int] = {}

    def assign(self, identities: Iterable[int]) -> int:
        """Returns how many numbers may be in use."""
        identities = list(identities)
        self.of = {i: n for i, n in self.of.items() if i in identities}
        for identity in identities:
            if identity not in self.of:
                free = self._first
                while free in self.of.values():
                    free += 1
                self.of[identity] = free
        return max(self.of.values(), default=-1) + 1


class TableWriter:
    """Keeps the places of what is defined over several installations."""

    def __init__(self) -> None:
        self.sessions, self.slots, self.memories = Places(), Places(), Places()
        self._installations = 0

    def write(self, definitions: Definitions, commands: dict[int, tuple[int, float]]) -> Installation:
        """The tables of these definitions. `commands`: identity of an action → (mode, step) of what it commands."""
        d = definitions
        n_sessions = self.sessions.assign(d.sessions)
        n_actions = self.slots.assign(a.identity for a in d.actions)
        self.memories.assign(r.identity for r in d.reactions)
        self._installations += 1
        sessions = np.zeros(n_sessions, session_dtype)
        sessions["identity"] = 1 << 40  # a place that is free at present still needs an identity
        for rank, identity in enumerate(d.sessions):
            sessions[self.sessions.of[identity]] = (identity, rank, 0, 0, b"")
        parameter_offset = (self._installations % 2) * 64 * PARAMS.itemsize
        actions = np.zeros(n_actions, action_dtype)
        parameters = np.zeros(n_actions, PARAMS)
        for action in d.actions:
            slot = self.slots.of[action.identity]
            self._write_action(d, action, actions[slot])
            actions[slot]["parameter_offset"] = parameter_offset + slot * PARAMS.itemsize
            write_parameters(action, commands[action.identity], parameters[slot])
        reactions, n_free, instructions = self._reactions(d, actions)
        return Installation(
            sessions, actions, reactions, n_free, instructions,
            self._fallbacks(d.default), self._fallbacks(d.safety), parameters, parameter_offset,
        )  # fmt: skip

    def _write_action(self, d: Definitions, action: ActionDefinition, row: np.void) -> None:
        slot = self.slots.of[action.identity]
        row["identity"] = action.identity
        row["session"] = self.sessions.of[action.session]
        row["rank"] = sorted(d.actions, key=d.rank).index(action)
        row["n_parts"] = len(action.parts)
        row["parts"][: len(action.parts)] = action.parts
        row["within"][: len(action.within)] = action.within
        row["parameter_size"], row["state_size"] = PARAMS.itemsize, STATE.itemsize
        row["state_offset"] = slot * STATE.itemsize
        row["n_signals"], row["n_variables"] = len(SIGNALS), len(VARIABLES)

    def _fallbacks(self, of_parts: dict[int, int]) -> np.ndarray:
        table = np.full(MAX_PARTS, -1, np.int32)
        for part, identity in of_parts.items():
            table[part] = self.slots.of[identity]
        return table

    # --- reactions ------------------------------------------------------------------------------

    def _reactions(self, d: Definitions, actions: np.ndarray) -> tuple[np.ndarray, int, np.ndarray]:
        free = sorted((r for r in d.reactions if r.owner is None), key=lambda r: d.sessions.index(r.session))
        ordered = list(free)
        for action in d.actions:
            owned = [r for r in d.reactions if r.owner == action.identity]
            row = actions[self.slots.of[action.identity]]
            row["first_reaction"], row["n_reactions"] = len(ordered), len(owned)
            ordered += owned
        reactions = np.zeros(len(ordered), reaction_dtype)
        programs = [np.zeros(0, instruction_dtype)]
        first = 0
        for reaction, row in zip(ordered, reactions, strict=True):
            program = compile_condition(render(reaction.condition), self.resolve).instructions
            row["first_instruction"], row["n_instructions"] = first, len(program)
            first += len(program)
            programs.append(program)
            self._write_reaction(reaction, row)
        return reactions, len(free), np.concatenate(programs)

    def _write_reaction(self, reaction: ReactionDefinition, row: np.void) -> None:
        def slot(identity: int | None) -> int:
            return -1 if identity is None else self.slots.of[identity]

        row["identity"] = reaction.identity
        row["owner"], row["session"] = slot(reaction.owner), self.sessions.of[reaction.session]
        row["n_starts"] = len(reaction.start)
        row["starts"][: len(reaction.start)] = [self.slots.of[i] for i in reaction.start]
        row["leaves"] = -1 if reaction.leaves is None else reaction.leaves
        flags = ReactionFlag(0)
        for given, flag in (
            (reaction.fire_once, ReactionFlag.FIRE_ONCE),
            (reaction.stop, ReactionFlag.STOP),
            (reaction.event, ReactionFlag.EVENT),
            (reaction.keep_owner, ReactionFlag.KEEP_OWNER),
        ):
            flags |= flag if given else ReactionFlag(0)
        row["flags"] = int(flags)
        signal_action, signal = reaction.signal or (None, 0)
        row["signal_action"], row["signal"] = slot(signal_action), signal
        row["runtime_slot"] = self.memories.of[reaction.identity]
        row["n_captures"] = len(reaction.captures)
        for i, variable in enumerate(reaction.captures):
            row["captures"][i] = self.resolve(name_of(variable)).offset

    def resolve(self, name: str) -> VariableRef:
        """Where a state variable of a condition lies in the world."""
        owner, _, field = name.rpartition(".")
        if not owner:
            return VariableRef(offset_of(world_dtype, field))
        number = int(owner.lstrip("partcion"))
        kind = _TYPES.get(field, "float")
        if owner.startswith("part"):
            path = ("inputs", 0) if field == "switch" else (field,)
            return VariableRef(offset_of(world_dtype, "parts", number, *path), kind)
        start = _STATE_ARENA + self.slots.of[number] * STATE.itemsize
        return VariableRef(start + offset_of(STATE, field), kind)


def write_parameters(action: ActionDefinition, command: tuple[int, float], row: np.void) -> None:
    """The parameter record of a scripted action. The address of the log is the bench's business."""
    behaviour: Behaviour = action.behaviour
    row["identity"], row["n_parts"] = action.identity, len(action.parts)
    for name in ("enter_status", "fail_sense_at", "fail_settings_at", "fail_control_at", "status", "done_at", "gain"):
        row[name] = getattr(behaviour, name)
    row["bad_command_at"] = behaviour.bad_command_at
    row["bad_mode"] = UNSUPPORTED_MODE if behaviour.bad_command == "UNSUPPORTED_COMMAND_MODE" else 0
    row["mode"], row["step"] = command
    assert CommandMode.POSITION <= command[0] <= CommandMode.EFFORT


def name_of(variable: tuple) -> str:
    """The name of a reference model's variable in the text of a condition."""
    if len(variable) == 1:
        return variable[0]
    kind, number, field = variable
    return f"{kind}{number}.{field}"


def render(condition: Any) -> str:
    """The text of a condition of `reference_conditions.evaluate`."""

    def operand(x: Any) -> str:
        if isinstance(x, bool):
            return "true" if x else "false"
        if isinstance(x, float):
            return repr(x)
        if x[0] == "abs":
            return f"abs({operand(x[1])})"
        return f"({operand(x[1])} {x[0]} {operand(x[2])})" if x[0] in ("+", "-") else name_of(x)

    if isinstance(condition, bool):
        return operand(condition)
    operator, *operands = condition
    if operator == "not":
        return f"not ({render(operands[0])})"
    if operator in ("and", "or"):
        return f"({render(operands[0])}) {operator} ({render(operands[1])})"
    if operator == "unknown":
        return f"is_unknown({operand(operands[0])})"
    if operator == "true":
        return operand(operands[0])
    if operator == "approx":
        return f"approx({', '.join(operand(x) for x in operands)})"
    return f"{operand(operands[0])} {operator} {operand(operands[1])}"
