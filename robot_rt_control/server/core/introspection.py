"""All state variables of the workcell and of the active actions, as one list of names and one of values."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.server.views.snapshot_view import SnapshotView, word_of
from robot_rt_control.vocabulary.errors import ChannelError

if TYPE_CHECKING:
    from robot_rt_control.server.core.attachment import Attachment
    from robot_rt_control.server.core.server_core import ServerCore

LOOP_VARIABLES = ("tick", "events_lost", "deadline_misses", "compute_max", "lateness_max")
"""The loop itself. The longest time of a tick and its latest start are in seconds, since the loop's start."""


@dataclass(frozen=True, kw_only=True)
class Look:
    """The variables in one tick."""

    tick: int
    time_ns: int
    """The tick's start."""
    version: int
    """Version of the names: changes whenever they do, and after a restart of the control server."""
    names: tuple[str, ...]
    values: NDArray[np.float64]
    """NaN: unknown."""


class Introspection:
    """Reads snapshots of the loop, which the loop writes in any case. One thread at a time.

    A variable with two names has the first one of `list_state_variables` (`arm.position[0]`). Those of an action are
    `session/action.variable`, those of default and safety actions `arm_default_action.variable`.

    Args:
        core: of the control server.
    """

    def __init__(self, core: ServerCore) -> None:
        self._core = core
        self._workcell: dict[int, str] = {}
        for variable in core.variables.values():
            word = word_of(variable.offset)
            if variable.length == 1 and word is not None:
                self._workcell.setdefault(word, variable.name)
        self._active: tuple[object, ...] | None = None
        self._names: tuple[str, ...] = ()
        self._words = np.zeros(0, np.int64)
        self._version = random.getrandbits(31)  # readers keep the names of a control server before this one

    def look(self) -> Look | None:
        """The last tick; None: there is no executor, or no tick yet."""
        try:
            at = self._core.connection.at()
        except ChannelError:
            return None
        seen = at.figures()
        if seen is None:
            return None
        snapshot, figures = seen
        view = SnapshotView(snapshot)
        actions = [at.directory.actions.get(identity) for identity in view.active_identities]
        if (active := (*actions, view.first_axes)) != self._active:
            self._active = active
            self._rebuild(at, view)
        values = np.concatenate([[view.tick, view.events_lost, *figures], view.words[self._words]])
        return Look(tick=view.tick, time_ns=view.time_ns, version=self._version, names=self._names, values=values)

    def _rebuild(self, at: Attachment, view: SnapshotView) -> None:
        found = self._workcell | dict(self._of_actions(at, view))
        names = (*LOOP_VARIABLES, *found.values())
        self._words = np.array(list(found), np.int64)
        if names != self._names:
            self._names, self._version = names, (self._version + 1) % 2**32

    def _of_actions(self, at: Attachment, view: SnapshotView) -> Iterator[tuple[int, str]]:
        """Word and name of each variable of the active actions."""
        for session, action in at.store.among(view.active_identities):
            owner = at.directory.session_id(session)
            for variable, ref in action.variables.items():
                word = view.action_word(action, variable)
                if ref.length == 1 and word is not None:
                    yield word, f"{owner}/{action.id}.{variable}" if owner else f"{action.id}.{variable}"
