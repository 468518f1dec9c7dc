"""A workcell with every node, controller and kind of subscription, and what its topics and actions rightly get."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

from builtin_interfaces.msg import Duration, Time
from control_msgs.action import FollowJointTrajectory, GripperCommand, ParallelGripperCommand
from control_msgs.msg import JointJog, SpeedScalingFactor
from geometry_msgs.msg import Twist, TwistStamped, Vector3
from std_msgs.msg import Float64, Header, String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from bench.attack.attack import REPOSITORY
from robot_rt_control import action, msg
from robot_rt_control.client.backend import StreamKey

HOME = (0.0, 0.5236, 0.0, 1.5708, 0.0, 1.0472, 0.0)
"""[rad] of each arm."""
_ARM = f"""
    kind: arm
    device: sim
    urdf: {REPOSITORY}/config/robots/arm7.urdf
    base_link: base
    tip_link: flange
    start_position: {list(HOME)}"""
_BASE = f"""
    kind: base
    device: sim
    urdf: {REPOSITORY}/config/robots/mobile_base.urdf
    joints: [base_x, base_y, base_yaw]"""
_FINGER = "type: prismatic, position_lower: 0.0, position_upper: 0.04, velocity: 0.2, effort: 40"
_TEXT = f"""name: attacked
period: 0.001
default_hardware: mock
parts:
  arm: {_ARM}
  jogged: {_ARM}
    base_pose: {{position: [2.0, 0.0, 0.0]}}
  streamed: {_ARM}
    base_pose: {{position: [4.0, 0.0, 0.0]}}
  free: {_ARM}
    base_pose: {{position: [6.0, 0.0, 0.0]}}
  base: {_BASE}
  cart: {_BASE}
  gripper: {{kind: gripper, device: sim, joints: [{{name: f1, {_FINGER}}}, {{name: f2, {_FINGER}}}]}}
  hand: {{kind: gripper, device: sim, joints: [{{name: g1, {_FINGER}}}, {{name: g2, {_FINGER}}}]}}
  person: {{kind: sensor, device: watch, values: {{distance: {{unit: m}}}}}}
devices:
  sim: {{mock: {{time_constant: 0.0}}}}
  watch:
    plugin: topic
    topic:
      values: {{person: {{distance: {{topic: person, type: std_msgs/msg/Float64, field: data, max_age: 0.5}}}}}}
controllers:
  follower: {{type: joint_trajectory_controller/JointTrajectoryController, part: arm}}
  jog: {{type: robot_rt_control/JogController, part: jogged, state: active}}
  one: {{type: position_controllers/GripperActionController, part: gripper}}
  both: {{type: parallel_gripper_action_controller/GripperActionController, part: hand, options: {{joint: g2}}}}
  drive: {{type: robot_rt_control/PlanarBaseController, part: base}}
  roll: {{type: robot_rt_control/PlanarBaseController, part: cart, options: {{use_stamped_vel: false}}}}
"""
TEXTS = (
    *("stop", "welcome", "<robot name='x'/>", "<robot name='x'><link name='a'/></robot>", "{a: &b [*b]}", "%s"),
    "<!DOCTYPE r [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;'>]><robot name='&b;'/>",
    *("<a>" * 5000, "[" * 3000, "\ud7ff\0", "\x1b[2J", "a" * 200_000),
)
"""That some readers may find hard."""


def cell_file(folder: Path) -> Path:
    """Write the workcell."""
    file = folder / "cell.yaml"
    file.write_text(_TEXT)
    return file


def program(part: str = "free") -> str:
    """That moves an arm for some time."""
    return f"""name: nod
actions:
  down: {{type: move_joint, parts: {part}, parameters: {{position: {[q + 0.05 for q in HOME]}}}}}
start: [down]
"""


class Right:
    """Messages that are right, of random numbers.

    Args:
        joints: part → names of its joints in messages.
        stream: of the part `streamed`.
        clock: [ns] simulated time.
    """

    def __init__(
        self, random: Random, joints: Mapping[str, list[str]], stream: StreamKey, clock: Callable[[], int]
    ) -> None:
        self._random, self._joints, self._stream, self._clock = random, joints, stream, clock
        self._sequence = 0
        self.slow = 1.0
        """By which trajectories are slower: from 10 on none is too fast, wherever the arm is."""

    def words(self) -> tuple[str, ...]:
        """That mean something."""
        return (*self._joints, *sum(self._joints.values(), []), "base_link", "move_joint", "world", "wait", *TEXTS)

    def topic(self, kind: type, name: str) -> Any:
        """None: nothing is right there, as others publish it."""
        made: dict[type, Callable[[], Any]] = {
            JointTrajectory: self._trajectory,
            JointJog: self._jog,
            TwistStamped: lambda: TwistStamped(header=self._header(name), twist=self._twist()),
            Twist: self._twist,
            SpeedScalingFactor: lambda: SpeedScalingFactor(factor=self._random.choice((1.0, 1.0, 0.7, 0.2))),
            Float64: lambda: Float64(data=self._random.uniform(0.0, 3.0)),
            String: lambda: String(data=self._random.choice(TEXTS)),
            msg.StreamSample: self._sample,
        }
        return made[kind]() if kind in made else None

    def goal(self, kind: Any) -> Any:
        """Of an action."""
        made: dict[Any, Callable[[], dict[str, Any]]] = {
            FollowJointTrajectory: lambda: {"trajectory": self._trajectory()},
            GripperCommand: lambda: {"command": {"position": self._random.uniform(0.0, 0.04), "max_effort": 10.0}},
            ParallelGripperCommand: lambda: {"command": {"position": [self._random.uniform(0.0, 0.04)]}},
            action.RunAction: lambda: {
                "type": "move_joint",
                "parts": ["free"],
                "parameters": [msg.ParameterValue(name="position", values=self._near())],
                "timeout": 20.0,
            },
            action.RunProgram: lambda: {"program": program(), "timeout": 20.0},
            action.RunBlueprint: lambda: {"skill": "name: pause\nnodes: {a: {wait: 0.2}}\n"},
            action.PlanContact: lambda: {"task": "push_slider", "timeout": 1.0},
        }
        goal = kind.Goal()
        for name, value in made[kind]().items():
            if isinstance(value, dict):
                for inner, content in value.items():
                    setattr(getattr(goal, name), inner, content)
            else:
                setattr(goal, name, value)
        return goal

    def _near(self) -> list[float]:
        return [q + self._random.uniform(-0.3, 0.3) for q in HOME]

    def _trajectory(self) -> JointTrajectory:
        made = JointTrajectory(joint_names=self._joints["arm"])
        t = 0.0
        for _ in range(self._random.randint(1, 3)):
            t += self._random.uniform(0.3, 1.0) * self.slow
            when = Duration(sec=int(t), nanosec=round((t - int(t)) * 1e9) % 10**9)
            made.points.append(JointTrajectoryPoint(positions=self._near(), time_from_start=when))
        return made

    def _jog(self) -> JointJog:
        speeds = [self._random.uniform(-0.5, 0.5) for _ in self._joints["jogged"]]
        return JointJog(header=self._header(""), joint_names=self._joints["jogged"], velocities=speeds)

    def _twist(self) -> Twist:
        x, y = self._random.uniform(-0.2, 0.2), self._random.uniform(-0.2, 0.2)
        return Twist(linear=Vector3(x=x, y=y), angular=Vector3(z=self._random.uniform(-0.3, 0.3)))

    def _header(self, name: str) -> Header:
        sec, nanosec = divmod(self._clock(), 10**9)
        frame = "base_link" if name.endswith("cmd_vel") else ""
        return Header(stamp=Time(sec=max(0, min(sec, 2**31 - 1)), nanosec=nanosec), frame_id=frame)

    def _sample(self) -> msg.StreamSample:
        self._sequence += 1
        key = self._stream
        return msg.StreamSample(
            session=key.session, action=key.action, stream=key.stream, token=key.token, sequence=self._sequence,
            source_time=self._clock() * 1e-9, values=self._near(),
        )  # fmt: skip
