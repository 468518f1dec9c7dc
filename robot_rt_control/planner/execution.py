"""Runs a plan on a workcell, by the client library: approach, check of the start, motion."""

from __future__ import annotations

import queue
from collections.abc import Callable, Sequence

from robot_rt_control.client import Action, Client
from robot_rt_control.client.event import Event
from robot_rt_control.client.session import Session
from robot_rt_control.model.workcell import Workcell
from robot_rt_control.planner.measured import Measured, measure_start
from robot_rt_control.planning.plan import Plan
from robot_rt_control.vocabulary.errors import RobotControlError
from robot_rt_control.vocabulary.event_kinds import Kind

_POLL_S = 0.02
_APPROACH = 0.3
"""Velocity scale of the approach."""
_BROKEN = (Kind.ACTION_FAILED, Kind.COMMAND_REFUSED, Kind.PART_FAULTED, Kind.PROTECTIVE_STOP, Kind.SESSION_ENDED)


class Cancelled(Exception):
    """The motion was broken off on request; all parts were stopped."""


def measured(client: Client, workcell: Workcell, parts: Sequence[str], pose: str = "") -> Measured:
    """Where joints and body are now.

    Args:
        workcell: the running one.
        parts: whose joints are measured.
        pose: part of kind sensor that measures where the body is; empty: that is not asked for.

    Raises:
        DefinitionError, ProgramError: all values that are unknown or too old; or there is no such part.
        RobotControlError: the workcell does not answer.
    """
    return measure_start(workcell, parts, pose, lambda p: client.backend.state_values(p, ""), body=bool(pose))


def run_plan(
    client: Client,
    plan: Plan,
    workcell: Workcell,
    *,
    pose: str = "",
    cancelled: Callable[[], bool] = lambda: False,
    phase: Callable[[str], None] = lambda _: None,
) -> int:
    """Run a plan, until its parts are measured at its end: approach, check of the start, motion.

    Args:
        client: of the running workcell, or a LockstepClient.
        workcell: the plan's.
        pose: part of kind sensor that measures where the body is; empty: that is not checked.
        cancelled: asked every 20 ms.
        phase: called with `approach`, then `motion`.

    Returns:
        The tick in which all parts began the motion.

    Raises:
        DefinitionError, ProgramError: nothing moved: the plan is for another workcell than the running one, the body is
            elsewhere, or the speed override too low. Or it is so after the approach.
        Cancelled: as asked; its parts take their default action.
        RobotControlError: it could not be started, or did not come to its end; the session is closed.
    """

    def check(parts: Sequence[str]) -> None:
        found = measured(client, workcell, parts, pose)
        plan.check_start(joints=found.joints, body=found.body, speed=client.executor_status().speed)

    plan.check_start(workcell=client.backend.workcell_digest())  # alone: another one has other parts
    check(())
    with client.session(plan.parts, name="planner") as session:
        approach = [
            Action(f"approach_{part}", "move_joint", parts=part, position=plan.start_joints(part),
                   velocity_scale=_APPROACH)
            for part in plan.parts
        ]  # fmt: skip
        session.add(*approach, *plan.actions("motion"))
        watch = _Watch(client, session, cancelled)
        phase("approach")
        session.start(*approach)
        watch.wait([f"{action.id}.is_settled" for action in approach])
        check(plan.parts)
        phase("motion")
        tick = session.start(*plan.first("motion"))
        watch.wait([f"{id}.is_done" for id in plan.last("motion")])
        return tick


def retreat(client: Client, plan: Plan) -> None:
    """From the end of a plan that was run back to its start, the way the parts came; errors as of `run_plan`."""
    with client.session(plan.parts, name="planner") as session:
        session.add(*plan.retreat("back"))
        watch = _Watch(client, session, lambda: False)
        session.start(*plan.first("back"))
        watch.wait([f"{id}.is_settled" for id in plan.last("back")])


class _Watch:
    """Waits for actions of a session, while they may be cancelled and may fail."""

    def __init__(self, client: Client, session: Session, cancelled: Callable[[], bool]) -> None:
        self._client, self._session, self._cancelled = client, session, cancelled
        self._broken: queue.SimpleQueue[Event] = queue.SimpleQueue()
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
            self._client.sleep(_POLL_S)  # simulated time goes on meanwhile
