"""FollowJointTrajectory as MoveIt uses it: these tests speak ROS alone, and would run against another implementation.

The workcell's controller manager has the controller `arm_controller` (conftest.py).
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
import rclpy
from action_msgs.msg import GoalStatus
from action_msgs.srv import CancelGoal
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance, JointTrajectoryControllerState, SpeedScalingFactor
from control_msgs.srv import QueryTrajectoryState
from controller_manager_msgs.srv import ListControllers
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from robot_rt_control.client import Client
from robot_rt_control.demo.demo_workcell import DemoWorkcell
from robot_rt_control.ros.goal_client import GoalClient
from robot_rt_control.ros.spinning import spin

pytestmark = pytest.mark.timeout(900)

NAME = "arm_controller"
JOINTS = [f"lbr_iiwa_joint_{j}" for j in range(1, 8)]
CODES = FollowJointTrajectory.Result


def wait(condition: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + 60.0
    while not (found := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.005)
    return found


class MoveIt:
    """What MoveIt's controller manager and a teleoperation node do."""

    def __init__(self) -> None:
        self._context = rclpy.Context()
        rclpy.init(context=self._context)
        self.node = rclpy.create_node("moveit", context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self._thread = threading.Thread(target=spin, args=(self._executor, print), daemon=True)
        self._thread.start()
        self.states: list[Any] = []
        self.feedback: list[Any] = []
        self._client = GoalClient(self.node, FollowJointTrajectory, f"{NAME}/follow_joint_trajectory")
        self.trajectories = self.node.create_publisher(JointTrajectory, f"{NAME}/joint_trajectory", 1)
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.speed = self.node.create_publisher(SpeedScalingFactor, f"{NAME}/speed_scaling_input", latched)
        self.node.create_subscription(
            JointTrajectoryControllerState, f"{NAME}/controller_state", self.states.append, 10
        )
        assert self._client.wait_for_server(60.0)
        self._cancel: Any = self.node.create_client(CancelGoal, f"{NAME}/follow_joint_trajectory/_action/cancel_goal")
        assert self._cancel.wait_for_service(60.0)
        self._query: Any = self.node.create_client(QueryTrajectoryState, f"{NAME}/query_state")
        manager: Any = self.node.create_client(ListControllers, "controller_manager/list_controllers")
        assert manager.wait_for_service(60.0)

        def is_active() -> bool:
            listed = manager.call_async(ListControllers.Request())
            wait(listed.done)
            return (NAME, "active") in [(c.name, c.state) for c in listed.result().controller]

        wait(is_active)

    def close(self) -> None:
        self._executor.shutdown()
        self._thread.join()
        self.node.destroy_node()
        self._context.try_shutdown()

    def state(self) -> Any:
        """The next state of the controller."""
        seen = len(self.states)
        wait(lambda: len(self.states) > seen + 1)
        return self.states[-1]

    def here(self) -> list[float]:
        return list(self.state().reference.positions)

    def at_rest(self) -> list[float]:
        """Where it is, once states say that it stands: on a busy machine they come after the result."""
        wait(lambda: self.here() == self.here())
        return self.here()

    def comes_to(self, positions: Sequence[float]) -> None:
        """Wait until the states say that it is there: on a busy machine they come after the result."""
        wait(lambda: largest(self.here(), positions) < 1e-9)

    def send_unasked(self, trajectory: JointTrajectory, **fields: Any) -> Any:
        """The future of the goal's handle."""
        goal = FollowJointTrajectory.Goal(trajectory=trajectory, **fields)
        self.feedback.clear()
        return self._client.send_goal_async(goal, feedback_callback=lambda m: self.feedback.append(m.feedback))

    def send(self, trajectory: JointTrajectory, **fields: Any) -> Any:
        """The goal's handle."""
        sent = self.send_unasked(trajectory, **fields)
        wait(sent.done)
        return sent.result()

    def cancel_all(self) -> None:
        """Cancel all goals of the controller, also those of others."""
        asked = self._cancel.call_async(CancelGoal.Request())
        wait(asked.done)

    def query(self, stamp: Any) -> Any:
        """The controller's answer about a time."""
        assert self._query.wait_for_service(60.0)
        asked = self._query.call_async(QueryTrajectoryState.Request(time=stamp))
        wait(asked.done)
        return asked.result()

    def result(self, handle: Any) -> tuple[int, int, str]:
        """Status, error code and text."""
        asked = handle.get_result_async()
        wait(asked.done)
        answer = asked.result()
        return answer.status, answer.result.error_code, answer.result.error_string


@pytest.fixture(scope="module")
def moveit(workcell: DemoWorkcell) -> Iterator[MoveIt]:
    made = MoveIt()
    yield made
    made.close()


def trajectory(
    *points: tuple[float, Sequence[float]], joints: Sequence[str] = JOINTS, velocities: bool = False
) -> JointTrajectory:
    made = JointTrajectory(joint_names=list(joints))
    for t, q in points:
        point = JointTrajectoryPoint(positions=[float(x) for x in q])
        point.time_from_start.sec, point.time_from_start.nanosec = int(t), round((t - int(t)) * 1e9)
        if velocities:
            point.velocities = [0.0] * len(q)
        made.points.append(point)
    return made


def moved(q: Sequence[float], *, by: float) -> list[float]:
    return [x + by for x in q]


def largest(a: Sequence[float], b: Sequence[float]) -> float:
    return max(abs(x - y) for x, y in zip(a, b, strict=True))


def test_a_trajectory_is_followed_with_feedback_and_state(moveit: MoveIt):
    start = moveit.here()
    middle, end = moved(start, by=0.05), moved(start, by=-0.05)
    handle = moveit.send(trajectory((0.0, start), (0.5, middle), (1.2, end)))
    assert handle.accepted
    assert moveit.result(handle) == (GoalStatus.STATUS_SUCCEEDED, CODES.SUCCESSFUL, "")
    moveit.comes_to(end)
    assert moveit.feedback and list(moveit.feedback[0].joint_names) == JOINTS
    assert largest(moveit.feedback[-1].desired.positions, moveit.feedback[-1].actual.positions) < 0.05
    state = moveit.state()
    assert list(state.joint_names) == JOINTS and state.speed_scaling_factor == 1.0
    error = [r - f for r, f in zip(state.reference.positions, state.feedback.positions, strict=True)]
    assert largest(error, state.error.positions) < 1e-12


def test_jumbled_and_partial_joints(moveit: MoveIt):
    start = moveit.here()
    order = [2, 0, 1, 6, 5, 4, 3]
    end = [x + 0.01 * (j + 1) for j, x in enumerate(start)]
    handle = moveit.send(trajectory((0.8, [end[j] for j in order]), joints=[JOINTS[j] for j in order]))
    assert moveit.result(handle)[1] == CODES.SUCCESSFUL
    moveit.comes_to(end)
    handle = moveit.send(trajectory((0.8, [start[3]]), joints=[JOINTS[3]], velocities=True))
    assert moveit.result(handle)[1] == CODES.SUCCESSFUL
    moveit.comes_to([start[3] if j == 3 else x for j, x in enumerate(end)])


@pytest.mark.parametrize(
    ("change", "code", "text"),
    [
        (lambda t: setattr(t, "points", []), CODES.INVALID_GOAL, "expected at least one point"),
        (lambda t: t.joint_names.__setitem__(0, "elbow"), CODES.INVALID_JOINTS, "joint 'elbow'"),
        (lambda t: t.points[0].positions.__setitem__(1, 9.0), CODES.INVALID_GOAL,
         "position of joint 'lbr_iiwa_joint_2' at point 1 is outside its limits; expected -2.0944 to 2.0944; got 9.0"),
        (lambda t: setattr(t.header.stamp, "sec", 1), CODES.OLD_HEADER_TIMESTAMP, "in the past"),
        (lambda t: setattr(t.points[0].time_from_start, "nanosec", 10_000), CODES.INVALID_GOAL,
         "at least 0.01 of its speed"),
    ],
)  # fmt: skip
def test_a_bad_goal_is_rejected_with_its_reason(moveit: MoveIt, change: Any, code: int, text: str):
    start = moveit.here()
    goal = trajectory((0.9, moved(start, by=0.05)))
    change(goal)
    handle = moveit.send(goal)
    assert not handle.accepted
    _, found, reason = moveit.result(handle)
    assert found == code and text in reason
    assert moveit.here() == start


def test_J20_a_goal_that_is_too_fast_is_slowed_and_this_is_told(moveit: MoveIt):
    start = moveit.here()
    end = moved(start, by=-0.3 if start[1] > 0.0 else 0.3)
    handle = moveit.send(trajectory((0.25, end)))
    assert handle.accepted
    status, code, text = moveit.result(handle)
    assert (status, code) == (GoalStatus.STATUS_SUCCEEDED, CODES.SUCCESSFUL)
    assert text.startswith("slowed to 0.") and text.endswith("instead of 0.25 s")
    moveit.comes_to(end)
    last = moveit.feedback[-1]
    late = last.error.time_from_start.nanosec
    assert late > 0 and last.actual.time_from_start.nanosec == last.desired.time_from_start.nanosec + late
    assert moveit.result(moveit.send(trajectory((1.5, start))))[1] == CODES.SUCCESSFUL


def moves_from(moveit: MoveIt, start: list[float]) -> None:
    wait(lambda: largest(moveit.here(), start) > 0.02)


def test_a_newer_goal_preempts_and_goes_on_without_a_jump(moveit: MoveIt):
    start = moveit.here()
    first = moveit.send(trajectory((8.0, moved(start, by=0.3))))
    wait(lambda: any(f.desired.positions[0] > start[0] + 0.05 for f in list(moveit.feedback)))
    second = moveit.send(trajectory((1.5, moved(start, by=0.02))))
    assert moveit.result(first) == (GoalStatus.STATUS_ABORTED, CODES.INVALID_GOAL, "preempted by a newer goal")
    assert moveit.result(second)[1] == CODES.SUCCESSFUL
    moveit.comes_to(moved(start, by=0.02))


def test_J11_of_any_length_it_preempts_and_is_preempted_in_motion(moveit: MoveIt):
    start = moveit.here()
    n, far, time_s = 1200, 0.3, 12.0  # so long that the next one is accepted in time also on a busy machine

    def wave(t: float) -> float:
        return far * (1.0 - math.cos(math.pi * t / time_s)) / 2.0

    short = moveit.send(trajectory((12.0, moved(start, by=-far))))  # longer than the next one is judged
    moves_from(moveit, start)
    times = (time_s * i / n for i in range(1, n + 1))
    long = moveit.send(trajectory(*((1.0 + t, moved(start, by=wave(t))) for t in times)))
    assert moveit.result(short)[1:] == (CODES.INVALID_GOAL, "preempted by a newer goal")
    assert long.accepted
    wait(lambda: any(f.desired.time_from_start.sec >= 1 + time_s / 4 for f in list(moveit.feedback)))
    back = moveit.send(trajectory((2.0, start)))
    assert moveit.result(long)[1:] == (CODES.INVALID_GOAL, "preempted by a newer goal")
    assert moveit.result(back) == (GoalStatus.STATUS_SUCCEEDED, CODES.SUCCESSFUL, "")
    moveit.comes_to(start)


def test_J8_a_cancel_reaches_a_goal_that_is_being_prepared_and_the_one_before(moveit: MoveIt):
    n = 3000

    def wave(t: float) -> float:
        return 0.3 * (1.0 - math.cos(math.pi * t / 3.0)) / 2.0

    for _ in range(10):
        start = moveit.here()
        short = moveit.send(trajectory((12.0, moved(start, by=-0.3))))
        moves_from(moveit, start)
        times = (3.0 * i / n for i in range(1, n + 1))
        sent = moveit.send_unasked(trajectory(*((2.0 + t, moved(start, by=wave(t))) for t in times)))

        def is_decided(sent: Any = sent) -> bool:
            moveit.cancel_all()
            return bool(sent.done())

        wait(is_decided)
        if not sent.result().accepted:
            break
        # The first cancel overtook the goal and met the one before alone: it stood before this one was prepared.
        sent.result().cancel_goal_async()
        moveit.result(sent.result())
        assert moveit.result(moveit.send(trajectory((1.5, start))))[1] == CODES.SUCCESSFUL
    assert moveit.result(sent.result())[1:] == (CODES.INVALID_GOAL, "cancelled before it began")
    status, _, text = moveit.result(short)
    assert (status, text) == (GoalStatus.STATUS_CANCELED, "cancelled")
    end = moveit.here()
    assert end == moveit.here() and start[0] - 0.29 < end[0] < start[0]
    back = moveit.send(trajectory((1.5, start)))
    assert moveit.result(back)[1] == CODES.SUCCESSFUL


def test_its_state_at_a_time_is_asked(moveit: MoveIt):
    start = moveit.here()
    handle = moveit.send(trajectory((8.0, moved(start, by=0.3))))  # so long that it is still followed when it is asked
    wait(lambda: any(f.desired.positions[0] > start[0] + 0.05 for f in list(moveit.feedback)))
    seen = moveit.state()
    answer = moveit.query(seen.header.stamp)
    assert answer.success and list(answer.name) == JOINTS and not answer.message
    assert largest(answer.position, seen.reference.positions) < 0.05
    assert len(answer.velocity) == len(answer.acceleration) == 7 and min(answer.velocity) > 0.0
    assert moveit.result(handle)[1] == CODES.SUCCESSFUL
    wait(lambda: moveit.query(seen.header.stamp).message == "no trajectory is followed")
    answer = moveit.query(seen.header.stamp)
    assert not answer.success and not answer.name and not answer.position


def test_cancel_stops_on_the_way(moveit: MoveIt):
    start = moveit.here()
    handle = moveit.send(trajectory((8.0, moved(start, by=0.3))))
    wait(lambda: any(f.desired.positions[0] > start[0] + 0.05 for f in list(moveit.feedback)))
    handle.cancel_goal_async()
    status, _, text = moveit.result(handle)
    assert (status, text) == (GoalStatus.STATUS_CANCELED, "cancelled")
    end = moveit.at_rest()
    assert start[0] + 0.05 < end[0] < start[0] + 0.29
    way = [x - y for x, y in zip(end, start, strict=True)]
    assert max(way) - min(way) < 1e-6  # on the path: all joints are equally far
    back = moveit.send(trajectory((1.5, start)))
    assert moveit.result(back)[1] == CODES.SUCCESSFUL


def test_a_broken_path_tolerance_stops_and_names_joint_and_limit(moveit: MoveIt):
    start = moveit.here()
    tolerance = [JointTolerance(name=JOINTS[2], position=1e-9)]  # 1e-6 is kept by MuJoCo
    handle = moveit.send(trajectory((1.0, moved(start, by=0.2))), path_tolerance=tolerance)
    status, code, text = moveit.result(handle)
    assert (status, code) == (GoalStatus.STATUS_ABORTED, CODES.PATH_TOLERANCE_VIOLATED)
    assert "position of joint 'lbr_iiwa_joint_3'" in text and "expected at most 1e-09" in text
    moveit.at_rest()
    back = moveit.send(trajectory((1.0, start)))
    assert moveit.result(back)[1] == CODES.SUCCESSFUL


def test_a_goal_in_the_future_begins_then(moveit: MoveIt):
    start = moveit.here()
    stamp = moveit.state().header.stamp
    goal = trajectory((0.6, moved(start, by=0.05)))
    goal.header.stamp.sec, goal.header.stamp.nanosec = stamp.sec + 1, stamp.nanosec
    handle = moveit.send(goal)
    assert moveit.result(handle)[1] == CODES.SUCCESSFUL
    took = moveit.state().header.stamp.sec - stamp.sec
    assert took >= 1
    waited = [f for f in moveit.feedback if f.header.stamp.sec + f.header.stamp.nanosec * 1e-9
              < stamp.sec + stamp.nanosec * 1e-9 + 0.95]  # fmt: skip
    assert all(largest(f.desired.positions, start) < 1e-9 for f in waited)


def test_trajectories_on_the_topic_and_an_empty_one_that_holds(moveit: MoveIt):
    start = moveit.here()
    wait(lambda: moveit.trajectories.get_subscription_count() > 0)
    moveit.trajectories.publish(trajectory((8.0, moved(start, by=0.3))))
    wait(lambda: moveit.states[-1].reference.positions[0] > start[0] + 0.05)
    moveit.trajectories.publish(JointTrajectory(joint_names=JOINTS))
    moveit.at_rest()
    assert moveit.here()[0] < start[0] + 0.29
    moveit.trajectories.publish(trajectory((1.5, start)))
    moveit.comes_to(start)


def test_J18_a_stream_of_trajectories_stops_with_an_empty_one_and_none_of_it_comes_later(moveit: MoveIt):
    """At 200 Hz, which no machine prepares: whatever its speed, most of them have to be left out."""
    start = moveit.here()
    wait(lambda: moveit.trajectories.get_subscription_count() > 0)
    for k in range(400):
        moveit.trajectories.publish(trajectory((0.8, moved(start, by=0.1 * math.sin(0.02 * k)))))
        time.sleep(0.005)
    wait(lambda: largest(moveit.here(), start) > 0.005)
    moveit.trajectories.publish(JointTrajectory(joint_names=JOINTS))
    # On a busy machine it comes late, and the arm rests for moments before it.
    wait(lambda: len({tuple(state.reference.positions) for state in moveit.states[-40:]}) == 1)
    held, seen = moveit.here(), len(moveit.states)
    wait(lambda: len(moveit.states) > seen + 60)  # 3 s
    assert all(list(state.reference.positions) == held for state in moveit.states[seen:])
    moveit.trajectories.publish(trajectory((1.5, start)))
    moveit.comes_to(start)


def test_speed_scaling_slows_all_down(moveit: MoveIt):
    moveit.speed.publish(SpeedScalingFactor(factor=0.5))
    wait(lambda: math.isclose(moveit.states[-1].speed_scaling_factor, 0.5))
    moveit.speed.publish(SpeedScalingFactor(factor=1.0))
    wait(lambda: math.isclose(moveit.states[-1].speed_scaling_factor, 1.0))


def test_a_part_that_an_application_holds_is_refused_with_its_name(moveit: MoveIt, client: Client):
    start = moveit.here()
    with client.session("arm", name="welding"):
        handle = moveit.send(trajectory((0.9, start)))
        assert not handle.accepted
        _, code, text = moveit.result(handle)
    assert code == CODES.INVALID_GOAL and "part 'arm' is not free" in text and "welding" in text
