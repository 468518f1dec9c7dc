"""FollowJointTrajectory, as MoveIt sends it: from a goal to the first command, from a cancel to rest."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.report import Options, Report
from bench.running import running_workcell

if TYPE_CHECKING:
    from robot_rt_control.client import Client
    from robot_rt_control.client.event import Event

_GOALS = 100
_PATIENCE_S = 30.0
_MOVE_S, _MOVE_RAD = 2.0, 0.4
_CONTROLLER = "arm_controller"


def measure(options: Options) -> Report:
    goals = options.amount(_GOALS)
    with running_workcell(options, "goals", controllers="true") as client:
        measured = time_goals(client, goals)
    rows = [
        [name, *[f"{1e3 * x:.1f}" for x in (*np.percentile(seconds, [50, 90, 99]), seconds.max())]]
        for name, seconds in measured.items()
    ]
    return Report(
        title="From a goal of FollowJointTrajectory, and from its cancellation",
        columns=["until", "median [ms]", "p90", "p99", "max"],
        rows=rows,
        goals=[],
        notes=[
            f"{goals} goals: joint 1 by {_MOVE_RAD} rad in {_MOVE_S} s, replaced at a random time by one to go back, "
            "which is cancelled. "
            "The first command leaves in the tick that reports the start. The result of a cancelled goal comes when "
            "the arm stands, so braking along the path is part of it.",
        ],
        data={name: seconds.tolist() for name, seconds in measured.items()},
    )


def time_goals(client: Client, n: int) -> dict[str, np.ndarray]:
    """Seconds, each of shape (n,)."""
    arm = next(part for part in client.parts() if part.name == "arm")
    started: list[Event] = []
    client.add_listener(lambda e: started.append(e) if e.kind == "action_started" and e.session else None)
    return time_goals_of(
        client.node,
        arm.joint_names,
        positions=lambda: [client.value(f"arm.{joint}.position") for joint in arm.joint_names],
        clear=started.clear,
        commanded=lambda: started[0].time if started else 0.0,
        n=n,
        replaces=True,
    )


def time_goals_of(
    node: Any,
    joints: Sequence[str],
    *,
    positions: Callable[[], list[float]],
    clear: Callable[[], object],
    commanded: Callable[[], float],
    n: int,
    replaces: bool = False,
    before_cancel: Callable[[], object] = lambda: None,
    after_rest: Callable[[], object] = lambda: None,
) -> dict[str, np.ndarray]:
    """Seconds, each of shape (n,), of any controller of this name.

    Args:
        node: that another thread spins.
        joints: of the controller.
        positions: measured [rad].
        clear: forget the commands until now.
        commanded: time [s] of the first command that is new since then; 0: none yet.
        n: goals.
        replaces: a second goal replaces each one, and is the one that is cancelled.
        before_cancel, after_rest: called for each goal, outside what is timed.
    """
    from action_msgs.msg import GoalStatus
    from builtin_interfaces.msg import Duration
    from control_msgs.action import FollowJointTrajectory
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

    from robot_rt_control.ros.goal_client import GoalClient

    sender = GoalClient(node, FollowJointTrajectory, f"{_CONTROLLER}/follow_joint_trajectory")
    if not sender.wait_for_server(_PATIENCE_S):
        raise TimeoutError(f"{_CONTROLLER} offers no follow_joint_trajectory within {_PATIENCE_S:g} s")
    chance = random.Random(1)
    to_command, to_rest, to_answer, to_replacing = np.empty((4, n))

    def send(by: float) -> tuple[Any, float, float]:
        """A goal for joint 1, and the seconds until it is accepted and until its first command."""
        goal_positions = positions()
        goal_positions[0] += by
        point = JointTrajectoryPoint(positions=goal_positions, time_from_start=Duration(sec=int(_MOVE_S)))
        goal = FollowJointTrajectory.Goal()
        goal.trajectory = JointTrajectory(joint_names=list(joints), points=[point])
        clear()
        begin = time.time()
        sent = sender.send_goal_async(goal)
        handle: Any = _await(sent.done, sent.result)
        accepted = time.time() - begin
        if not handle.accepted:
            raise RuntimeError(f"goal {i} was rejected: the log says why")
        return handle, accepted, _await_value(commanded) - begin

    for i in range(n):
        by = _MOVE_RAD if i % 2 == 0 else -_MOVE_RAD
        handle, to_answer[i], to_command[i] = send(by)
        time.sleep(chance.uniform(0.3, 0.7) * _MOVE_S)
        if replaces:
            handle, _, to_replacing[i] = send(-by / 2.0)
            time.sleep(0.2 * _MOVE_S)
        before_cancel()
        begin = time.time()
        handle.cancel_goal_async()
        result = handle.get_result_async()
        status = _await(result.done, result.result).status
        to_rest[i] = time.time() - begin
        after_rest()
        if status != GoalStatus.STATUS_CANCELED:
            raise RuntimeError(f"goal {i} ended with status {status}, not as cancelled")
    measured = {
        "the goal is accepted": to_answer,
        "the first command leaves": to_command,
        "the first command of a goal that replaces another leaves": to_replacing,
        "a cancelled arm stands": to_rest,
    }
    return {name: seconds for name, seconds in measured.items() if replaces or seconds is not to_replacing}


def _await(condition: Callable[[], Any], then: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + _PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"no answer within {_PATIENCE_S:g} s")
        time.sleep(0.0005)
    return then()


def _await_value(value: Callable[[], float]) -> float:
    found = 0.0

    def came() -> bool:
        nonlocal found
        found = value()
        return bool(found)

    return _await(came, lambda: found)
