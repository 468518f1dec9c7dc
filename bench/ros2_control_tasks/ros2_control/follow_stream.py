"""Task "follow a stream" for ros2_control: goals of joint_1 that a program makes 100 times a second, for 3 s.

Each goal is a trajectory of one point, which arm_controller interpolates until the next one comes.
"""

import math

import rclpy
from builtin_interfaces.msg import Duration
from control_msgs.msg import JointTrajectoryControllerState
from rclpy.node import Node
from rclpy.task import Future
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint


class FollowStream(Node):
    def __init__(self):
        super().__init__("follow_stream")
        self.done = Future()
        self._begin = None
        self._sent = 0
        self.create_subscription(JointTrajectoryControllerState, "arm_controller/controller_state", self._measured, 1)
        self._goals = self.create_publisher(JointTrajectory, "arm_controller/joint_trajectory", 1)
        self.create_timer(0.01, self._send)

    def _measured(self, state):
        if self._begin is None:
            self._begin = list(state.feedback.positions)

    def _send(self):
        if self._begin is None or self._goals.get_subscription_count() == 0 or self.done.done():
            return
        position = [self._begin[0] + 0.1 * (1 - math.cos(0.02 * math.pi * self._sent / 3)), *self._begin[1:]]
        point = JointTrajectoryPoint(positions=position, time_from_start=Duration(nanosec=20_000_000))
        self._goals.publish(JointTrajectory(joint_names=[f"joint_{i}" for i in range(1, 8)], points=[point]))
        self._sent += 1
        if self._sent == 300:
            self.done.set_result(None)


if __name__ == "__main__":
    rclpy.init()
    node = FollowStream()
    rclpy.spin_until_future_complete(node, node.done)
