"""The attachment to an executor that there is at present, and what the loop's last tick shows."""

from __future__ import annotations

import time

import numpy as np

from robot_rt_control.memory.stops import Stop, latched_stops
from robot_rt_control.model.workcell.workcell import Workcell
from robot_rt_control.server.core.attachment import Attachment
from robot_rt_control.server.events.session_ends import Stamp
from robot_rt_control.server.sessions import Session
from robot_rt_control.server.tables.entities import SessionContents
from robot_rt_control.server.types.action_types import RegisteredType
from robot_rt_control.server.views.snapshot_view import SnapshotView
from robot_rt_control.vocabulary.errors import ChannelError

_SNAPSHOT_WAIT_S = 0.1


class Connection:
    """One attachment, or none. All methods may be called from any thread; none holds a lock as it waits.

    It is put and taken under the server's lock for changes, and lost at any time: so each method looks once which
    attachment there is, and goes on with that one. One that was closed shows nothing.
    """

    def __init__(self, workcell: Workcell) -> None:
        self._workcell = workcell
        self._attachment: Attachment | None = None
        self.lost = ""
        """Why the executor is gone; empty: attached, or never attached."""

    def put(self, attachment: Attachment) -> None:
        """There is this attachment from now on."""
        self.lost, self._attachment = "", attachment

    def take(self) -> Attachment | None:
        """There is none from now on. Returns the one that there was."""
        attachment, self._attachment = self._attachment, None
        return attachment

    def lose(self, reason: str) -> None:
        """The executor is gone: the attachment stays until it is taken."""
        self.lost = reason

    @property
    def present(self) -> Attachment | None:
        """The attachment, also to an executor that is gone; None: there is none."""
        return self._attachment

    @property
    def living(self) -> Attachment | None:
        """The attachment; None: there is none, or the executor is gone."""
        return None if self.lost else self._attachment

    def at(self) -> Attachment:
        """The attachment.

        Raises:
            ChannelError: there is none, or the executor is gone.
        """
        attachment = self._attachment
        if attachment is None:
            raise ChannelError("there is no executor: the control server is not attached", hint="Start the executor")
        if self.lost:
            raise ChannelError(f"there is no executor: {self.lost}", hint="Start the executor again")
        return attachment

    @property
    def gated(self) -> bool:
        """Whether the loop ticks on request only: then commands are not awaited."""
        return self.at().link.gated

    def tick(self, tick: int) -> int:
        """The tick of an answer; 0, as nobody has answered yet: the next one."""
        return tick or self.at().now()[0] + 1

    def stamp(self) -> Stamp:
        """The tick of the last event: the server's own events are in order of ticks as well."""
        attachment = self._attachment
        return attachment.link.latest if attachment is not None else (0, 0)

    def contents(self, session: Session) -> SessionContents:
        """What a session has defined."""
        return self.at().definer.contents(session)

    def used_types(self) -> dict[RegisteredType, str]:
        """The types that actions have, each with one of these actions."""
        attachment = self._attachment
        return attachment.store.used_types() if attachment is not None else {}

    def take_events(self) -> None:
        """Hand out, in this thread, all events that have come: then they are as new as an earlier snapshot."""
        attachment = self.living
        if attachment is not None:
            attachment.link.dispatch()

    # --- looking --------------------------------------------------------------------------------

    def _raw(self) -> np.record | None:
        attachment = self.living
        return attachment.snapshot() if attachment is not None else None

    def measured(self) -> np.ndarray | None:
        """What was measured of all parts in the last tick; None: there was none yet, or there is no executor."""
        raw = self._raw()
        return None if raw is None else raw.parts["measured"][: len(self._workcell.parts)]

    def snapshot(self) -> SnapshotView | None:
        """The last tick; None: there was none yet, or there is no executor."""
        raw = self._raw()
        return SnapshotView(raw) if raw is not None else None

    def snapshot_after(self, tick: int) -> SnapshotView | None:
        """The snapshot of this tick or a later one: answers come in the middle of a tick, the snapshot at its end."""
        deadline = time.monotonic() + _SNAPSHOT_WAIT_S
        while True:
            view = self.snapshot()
            if view is None or view.tick >= tick or time.monotonic() > deadline:
                return view
            time.sleep(0.0005)

    def stops(self) -> list[Stop]:
        """The protective stops that are latched, the oldest first.

        Raises:
            ChannelError: there is no executor.
        """
        return latched_stops(self.at().stops())

    def fault_file(self, part: str) -> str:
        """The log of the last ticks before a part's fault, on the executor's machine; empty: there is none."""
        attachment, view = self._attachment, self.snapshot()
        if attachment is None or view is None:
            return ""
        return attachment.fault_file(view.fault_log(self._workcell.part(part).index))
