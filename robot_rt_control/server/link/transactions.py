"""Transactions of the command ring, as the control server sends them and waits for their answers."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robot_rt_control.memory.command_places import MOST_BYTES
from robot_rt_control.memory.layout import command_dtype
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.enums import Command, Refusal
from robot_rt_control.vocabulary.errors import CapacityError, CommandRefused

_GAP, _FAR = 3, 2**62
"""[words] Runs of changes nearer than the first are one, because each needs two words of its own; no run is so far."""


@dataclass(frozen=True)
class Answer:
    """The loop's answer to a command."""

    queued: bool
    """The loop runs on request only: nobody has seen the command yet, it waits for the next step."""
    tick: int = 0
    refusal: Refusal = Refusal.NONE
    transaction: int = 0
    event: np.record | None = None
    """The loop's event (`layout.event_dtype`), if it is a refusal."""


class InstallRefused(CommandRefused):
    """The loop did not take new tables, because an action that was to start with them cannot start."""

    def __init__(self, answer: Answer) -> None:
        super().__init__("the start of actions with new definitions was refused")
        self.answer = answer


class Waiter:
    """One caller's wait for one answer."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.event: np.record | None = None


@dataclass(frozen=True)
class Posted:
    """A transaction on its way to the loop."""

    transaction: int
    what: str
    """For messages."""
    timeout_s: float
    """How long the answer may take."""
    waiter: Waiter


def transaction_row(command: Command, *, session: int, actions: Sequence[tuple[int, int]]) -> np.record:
    """A transaction (a record of `layout.command_dtype`) without its number.

    Args:
        session: identity of the session.
        actions: (slot, identity) of each action.

    Raises:
        CapacityError: too many actions.
    """
    row = np.zeros(1, command_dtype)[0]
    row.command, row.session, row.n_actions = int(command), session, len(actions)
    if len(actions) > capacities.MAX_ACTIONS_PER_COMMAND:
        raise CapacityError(
            "too many actions in one command",
            expected=f"at most {capacities.MAX_ACTIONS_PER_COMMAND} (MAX_ACTIONS_PER_COMMAND)",
            got=str(len(actions)),
        )
    for i, (slot, identity) in enumerate(actions):
        row.actions[i], row.identities[i] = slot, identity
    return row


def changes_of(before: np.ndarray, now: np.ndarray) -> np.ndarray | None:
    """What differs between two parameter records, bytes of the same size, as the loop takes it: how many runs, offset
    and size of each [bytes], and then the new bytes. None: a command cannot carry so much."""
    differs = np.flatnonzero(before.view(np.int64) != now.view(np.int64))
    last = np.flatnonzero(np.diff(differs, append=_FAR) > _GAP)
    first = np.concatenate([[0], last[:-1] + 1]) if len(last) else last
    runs = 8 * np.stack([differs[first], differs[last] + 1 - differs[first]], axis=1)
    found = [np.array([len(runs)]).view(np.uint8), runs.reshape(-1).view(np.uint8)]
    if 8 + runs.nbytes + int(runs[:, 1].sum()) > MOST_BYTES:
        return None
    return np.concatenate([*found, *(now[first : first + size] for first, size in runs)])
