"""What the reference model speaks of: definitions, commands, what the hardware shows, and what a tick must bring."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

SYSTEM = 1
"""Identity of the session that default and safety actions belong to; it is the oldest and never ends."""


@dataclass(frozen=True)
class Behaviour:
    """What an action does. Counts are of calls in one activation, 1 is the first; 0 means never."""

    enter_status: int = 0
    fail_sense_at: int = 0
    fail_settings_at: int = 0
    fail_control_at: int = 0
    status: int = 1
    """Status of a failure. -1: an index is out of range, in sense."""
    done_at: int = 0
    """`is_done` from this sense on."""
    bad_command_at: int = 0
    """This control writes a command to the first part that must not leave."""
    bad_command: str = "NON_FINITE_COMMAND"
    """What is wrong with it: NON_FINITE_COMMAND or UNSUPPORTED_COMMAND_MODE."""
    gain: float = 1.0
    """`value` is the first part's distance times this, as it was on entry or in the last set_parameters."""


@dataclass(frozen=True)
class ActionDefinition:
    identity: int
    session: int
    parts: tuple[int, ...]
    behaviour: Behaviour
    within: tuple[int, ...] = ()
    """Numbers of the used programs that contain it, outermost first."""


@dataclass(frozen=True)
class ReactionDefinition:
    identity: int
    session: int
    owner: int | None
    """Identity of the action that it belongs to; None: free-standing."""
    condition: Any
    """See `evaluate`."""
    start: tuple[int, ...] = ()
    stop: bool = False
    signal: tuple[int, int] | None = None
    """(identity of the action, index of its signal)"""
    event: bool = False
    fire_once: bool = False
    keep_owner: bool = False
    captures: tuple[tuple, ...] = ()
    leaves: int | None = None
    """Index in its owner's `within` of a used program that it ends in any case."""


@dataclass(frozen=True)
class Definitions:
    """Everything that is defined. Sessions from old to new; actions and reactions as they were defined."""

    sessions: tuple[int, ...]
    actions: tuple[ActionDefinition, ...]
    reactions: tuple[ReactionDefinition, ...]
    default: dict[int, int]
    """Part → identity of its default action."""
    safety: dict[int, int]

    def action(self, identity: int) -> ActionDefinition | None:
        return next((a for a in self.actions if a.identity == identity), None)

    def rank(self, action: ActionDefinition) -> tuple[int, int]:
        """The global order of actions (R5): the older session first, then as they were defined."""
        return self.sessions.index(action.session), self.actions.index(action)


# --- commands, inputs, outcome -------------------------------------------------------------------


@dataclass(frozen=True)
class Start:
    session: int
    actions: tuple[int, ...]


@dataclass(frozen=True)
class Stop:
    session: int
    actions: tuple[int, ...]


@dataclass(frozen=True)
class StopSession:
    session: int


@dataclass(frozen=True)
class EndSession:
    session: int


@dataclass(frozen=True)
class RaiseSignal:
    session: int
    action: int
    signal: int


@dataclass(frozen=True)
class SetParameters:
    session: int
    action: int
    gain: float


@dataclass(frozen=True)
class SetSpeed:
    speed: float
    authority: bool = True


@dataclass(frozen=True)
class ProtectiveStop:
    source: str = "stop"
    secret: str = ""


@dataclass(frozen=True)
class ReleaseProtectiveStop:
    source: str = ""
    """Empty: the only one."""
    secret: str = ""
    everything: bool = False
    authority: bool = True


@dataclass(frozen=True)
class Resume:
    session: int


@dataclass(frozen=True)
class Enable:
    part: int  # -1: all


@dataclass(frozen=True)
class Disable:
    part: int  # -1: all


@dataclass(frozen=True)
class ClearFaults:
    part: int  # -1: all


@dataclass(frozen=True)
class ServerLost:
    pass


@dataclass(frozen=True)
class At:
    """A command for a certain tick."""

    tick: int
    command: Any


@dataclass
class Inputs:
    """What the hardware shows in one tick."""

    distance: dict[int, float]
    switch: dict[int, float]
    """Part → its first digital input."""
    too_fast: frozenset[int] = frozenset()
    """Parts whose measured velocity violates the system limit (L3)."""
    frozen: frozenset[int] = frozenset()
    """Devices that have written no new state since the last tick."""
    errors: frozenset[int] = frozenset()
    """Devices that report an error, and no new state."""
    position: float = 0.0
    """Position of all joints; within the limits, so that no rule depends on it."""
    missed: int = 0
    """Deadlines that were missed since the last tick."""


@dataclass(frozen=True)
class Event:
    kind: str
    """The name in vocabulary.EventKind."""
    reaction: int = 0
    previous: int = 0
    current: int = 0
    reason: str = ""
    """The name in StopCause, Refusal or FaultReason; "A|B" if the rules do not define which of two comes first."""
    part: int = -1
    status: int = 0
    values: tuple[float, ...] = ()


@dataclass
class Outcome:
    active: dict[int, int]
    """Part → identity of its active action; parts that the loop holds itself are missing."""
    calls: list[tuple[int, str]]
    """(identity of the action, method), in the order of the calls."""
    events: list[Event]
    memories: dict[int, bool]
    """Reaction that is being judged → last known value of its condition."""
    variables: dict[int, dict[str, float]]
    """Values of each defined action; NaN: it is not active (C3)."""
    states: dict[int, str]
    """Part → enabled, disabled or faulted."""
