"""Runs a plan on a workcell, by the client library: approach, check of the start, motion."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence

from robot_rt_control.client import Action, Client
from robot_rt_control.client.event import Event
from robot_rt_control.client.session import Session
from robot_rt_control.planning.plan import Plan
from robot_rt_control.vocabulary.errors import RobotControlError
from robot_rt_control.vocabulary.event_kinds import Kind

_POLL_S = 0.02
_APPROACH = 0.3
"""Velocity scale of the approach."""
_BROKEN = (Kind.ACTION_FAILED, Kind.COMMAND_REFUSED, Kind.PART_FAULTED, Kind.PROTECTIVE_STOP, Kind.SESSION_ENDED)


class Cancelled(Exception):
    """The motion was broken off on request; all parts were stopped."""


def run_plan(
    client: Client,
    plan: Plan,
    *,
    check: Callable[[], None],
    cancelled: Callable[[], bool] = lambda: False,
    phase: Callable[[str], None] = lambda _: None,
) -> None:
    """Run a plan, until its parts are measured at its end.

    Args:
        client: of the workcell.
        check: raises if the start is not as planned; called when the parts are there, before the motion.
        cancelled: asked every 20 ms.
        phase: called with `approach`, then `motion`.

    Raises:
        Cancelled: as asked; its parts take their default action.
        RobotControlError: it could not be started, or did not come to its end; the session is closed.
    """
    with client.session(plan.parts, name="planner") as session:
        approach = [
            Action(f"approach_{part}", "move_joint", parts=part, position=plan.start_joints(part),
                   velocity_scale=_APPROACH)
            for part in plan.parts
        ]  # fmt: skip
        session.add(*approach, *plan.actions("motion"))
        watch = _Watch(session, cancelled)
        phase("approach")
        session.start(*approach)
        watch.wait([f"{action.id}.is_settled" for action in approach])
        check()
        phase("motion")
        session.start(*plan.first("motion"))
        watch.wait([f"{id}.is_done" for id in plan.last("motion")])


class _Watch:
    """Waits for actions of a session, while they may be cancelled and may fail."""

    def __init__(self, session: Session, cancelled: Callable[[], bool]) -> None:
        self._session, self._cancelled = session, cancelled
        self._broken: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._pause = threading.Event()
        for kind in _BROKEN:
            session.on(kind, self._broken.put)

    def wait(self, variables: Sequence[str]) -> None:
        """Wait until all of these state variables are true."""
        was_active = False
        while True:
            if self._cancelled():
                self._session.stop()
                raise Cancelled
            if not self._broken.empty():
                event = self._broken.get()
                what = event.previous_action or event.current_action or event.part or event.kind
                raise RobotControlError(f"the plan was not run to its end: {what}: {event.reason or event.kind}")
            values = self._session.values(variables)
            if all(values.get(name) == 1.0 for name in variables):
                return
            active = bool(self._session.active)
            if was_active and not active:
                raise RobotControlError("the plan was not run to its end: its actions were stopped")
            was_active = was_active or active
            self._pause.wait(_POLL_S)
