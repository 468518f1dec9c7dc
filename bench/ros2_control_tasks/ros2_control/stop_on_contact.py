"""Task "stop on contact" for ros2_control: move towards a goal [rad]; stop once the wrist feels more than 5 N.

A force_torque_sensor_broadcaster publishes the wrench.
"""

import math

import rclpy
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory
from geometry_msgs.msg import WrenchStamped
from rclpy.action import ActionClient
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from trajectory_msgs.msg import JointTrajectoryPoint

GOAL = [0.8, 0.5236, 0, 1.5708, 0, 1.0472, 0]


class StopOnContact(Node):
    def __init__(self):
        super().__init__("stop_on_contact")
        self._handle = None
        self._client = ActionClient(self, FollowJointTrajectory, "arm_controller/follow_joint_trajectory")
        topic = "force_torque_sensor_broadcaster/wrench"
        self.create_subscription(WrenchStamped, topic, self._felt, qos_profile_sensor_data)

    def go(self):
        self._client.wait_for_server()
        goal = FollowJointTrajectory.Goal()
        goal.trajectory.joint_names = [f"joint_{i}" for i in range(1, 8)]
        goal.trajectory.points = [
            JointTrajectoryPoint(positions=list(map(float, GOAL)), time_from_start=Duration(sec=5))
        ]
        sent = self._client.send_goal_async(goal)
        rclpy.spin_until_future_complete(self, sent)
        self._handle = sent.result()
        return self._handle.get_result_async()

    def _felt(self, wrench):
        force = wrench.wrench.force
        if self._handle is not None and math.hypot(force.x, force.y, force.z) > 5:
            self._handle.cancel_goal_async()
            self._handle = None


if __name__ == "__main__":
    rclpy.init()
    node = StopOnContact()
    rclpy.spin_until_future_complete(node, node.go())
