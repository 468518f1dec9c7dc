"""Runs a plan on a workcell, by the client library: approach, check of the start, motion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from robot_rt_control.client import Action, Client, Followed, Session
from robot_rt_control.model.workcell.workcell import Workcell
from robot_rt_control.planner.measured import Measured, measure_start
from robot_rt_control.planning.plan.plan import Plan, PoseDifference
from robot_rt_control.planning.plan.verdict import MEASURED_DISTANCE
from robot_rt_control.vocabulary.errors import RobotControlError

_POLL_S = 0.02
_REST_S = 0.5
"""From the robot's rest until the body is looked at, as in a plan's program."""
_APPROACH = 0.3
"""Velocity scale of the approach."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """A plan that was run to its end."""

    tick: int
    """In which all parts began the motion."""
    end: PoseDifference | None
    """Of the body, as measured after the motion; None: nothing measures it."""

    @property
    def where(self) -> str:
        """Where the body is."""
        if self.end is None:
            return "nowhere that was measured"
        near = f"{1e3 * self.end.position:.1f} mm ({100 * self.end.normalized:.1f} % of the way)"
        return f"{near} and {self.end.orientation:.3f} rad from the target"

    def check_arrived(self, plan: Plan) -> None:
        """Refuse a body that is measured elsewhere than its task wants it.

        Raises:
            RobotControlError: with its distance.
        """
        its = plan.tolerance
        if self.end is not None and not its.near(self.end.position, self.end.orientation, MEASURED_DISTANCE):
            expected = f"within {1e3 * max(its.position, MEASURED_DISTANCE):.1f} mm and {its.orientation:.3f} rad"
            raise RobotControlError(f"{plan.header['body']!r} after the plan", expected=expected, got=self.where)


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
    unverified: bool = False,
    feedback: bool = True,
    cancelled: Callable[[], bool] = lambda: False,
    phase: Callable[[str], None] = lambda _: None,
) -> Run:
    """Run a plan, until its parts are measured at its end: approach, check of the start, motion.

    Args:
        client: of the running workcell, or a LockstepClient.
        workcell: the plan's.
        pose: part of kind sensor that measures where the body is; empty: that is not checked.
        feedback: whether the plan's feedback, if it has any, leads the motion by `pose`.
        unverified: whether a plan may be run that reaches its target in the planner's engine alone.
        cancelled: asked every 20 ms.
        phase: called with `approach`, then `motion`.

    Raises:
        DefinitionError, ProgramError: nothing moved: the plan is not verified, it is for another workcell than the
            running one, or for another tool than is on, the body is elsewhere, or the speed override too low. Or so
            it is after the approach.
        Cancelled: as asked; its parts take their default action.
        RobotControlError: it could not be started, or did not come to its end; the session is closed.
    """

    led = bool(pose) and feedback and plan.feedback is not None

    def check(parts: Sequence[str]) -> None:
        found = measured(client, workcell, parts, pose)
        status = client.executor_status()
        tools = {part.name: part.tool for part in status.parts}
        plan.check_start(joints=found.joints, body=found.body, speed=status.speed, tools=tools, led=led)

    plan.check_verified(unverified=unverified)
    plan.check_start(workcell=client.backend.workcell_digest())  # alone: another one has other parts
    check(())
    with client.session(plan.parts, name="planner") as session:
        approach = [
            Action(f"approach_{part}", "move_joint", parts=part, position=plan.start_joints(part),
                   velocity_scale=_APPROACH)
            for part in plan.parts
        ]  # fmt: skip
        motion = plan.actions("motion", pose if led else "")
        session.add(*approach, *motion)
        phase("approach")
        _finish(session, session.follow(*approach), cancelled)
        check(plan.parts)
        phase("motion")
        followed = session.follow(*plan.first("motion"), chain=motion, until=_all("is_done", plan.last("motion")))
        _finish(session, followed, cancelled)
    return Run(tick=followed.tick, end=_end(client, plan, workcell, pose) if pose else None)


def _end(client: Client, plan: Plan, workcell: Workcell, pose: str) -> PoseDifference:
    """How far the body is from the target, once it has had time to come to rest."""
    client.backend.sleep(_REST_S)
    body = measured(client, workcell, (), pose).body
    assert body is not None  # it was asked for
    return plan.error_of(np.array(body.position), body.matrix[:3, :3])


def retreat(client: Client, plan: Plan) -> None:
    """From the end of a plan that was run back to its start, the way the parts came; errors as of `run_plan`."""
    with client.session(plan.parts, name="planner") as session:
        until = _all("is_settled", plan.last("back"))
        ends = None if plan.feedback is None else _commanded(client, plan)
        back = plan.retreat("back", ends)
        _finish(session, session.follow(*plan.first("back"), add=back, until=until), lambda: False)


def _commanded(client: Client, plan: Plan) -> dict[str, list[float]]:
    """Part → [rad or m] where its joints are commanded to be."""
    values = client.backend.state_values([f"{part}.commanded_position[" for part in plan.parts], "")
    counts = {part: len(plan.start_joints(part)) for part in plan.parts}
    return {part: [values[f"{part}.commanded_position[{j}]"] for j in range(n)] for part, n in counts.items()}


def _all(variable: str, actions: Iterable[str]) -> str:
    """The condition that this state variable is true of all these actions."""
    return " and ".join(f"{id}.{variable}" for id in actions)


def _finish(session: Session, followed: Followed, cancelled: Callable[[], bool]) -> None:
    """Wait until a motion has reached its end. Raises Cancelled and RobotControlError as `run_plan`."""
    while (ending := followed.poll()) is None:
        if cancelled():
            session.stop()
            raise Cancelled
        session.backend.sleep(_POLL_S)  # simulated time goes on meanwhile
    if not ending.reached:
        raise RobotControlError(f"the plan was not run to its end: {ending.action or ending.end}: {ending.reason}")
