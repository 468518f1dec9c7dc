"""Task "switch on a sensor" for ros2_control: when joint_1 passes THRESHOLD, another controller takes over.

python switch_on_joint.py THRESHOLD: it waits for the next time once the joint is below again.
"""

import sys

import rclpy
from control_msgs.msg import JointTrajectoryControllerState
from controller_manager_msgs.srv import SwitchController
from rclpy.node import Node


class SwitchOnJoint(Node):
    def __init__(self, threshold: float) -> None:
        super().__init__("switch_on_joint")
        self._threshold, self._armed = threshold, False
        self._switch = self.create_client(SwitchController, "controller_manager/switch_controller")
        self._switch.wait_for_service()
        self.create_subscription(JointTrajectoryControllerState, "arm_controller/controller_state", self._look, 10)

    def _look(self, state: JointTrajectoryControllerState) -> None:
        above = state.feedback.positions[0] > self._threshold
        if above and self._armed:
            request = SwitchController.Request(strictness=SwitchController.Request.STRICT, activate_asap=True)
            request.activate_controllers = ["hold_controller"]
            request.deactivate_controllers = ["arm_controller"]
            self._switch.call_async(request)
        self._armed = not above


if __name__ == "__main__":
    rclpy.init()
    rclpy.spin(SwitchOnJoint(float(sys.argv[1])))
