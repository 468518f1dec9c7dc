"""Task "switch on a sensor" for ros2_control: as soon as joint_1 is beyond 0.25 rad, another controller takes over.

Two controllers are loaded, arm_controller is active. The motion itself is sent as in follow_trajectory.py.
"""

import rclpy
from control_msgs.msg import JointTrajectoryControllerState
from controller_manager_msgs.srv import SwitchController
from rclpy.node import Node
from rclpy.task import Future


class SwitchOnSensor(Node):
    def __init__(self):
        super().__init__("switch_on_sensor")
        self.switched = Future()
        self._asked = False
        self._switch = self.create_client(SwitchController, "controller_manager/switch_controller")
        self._switch.wait_for_service()
        self.create_subscription(JointTrajectoryControllerState, "arm_controller/controller_state", self._look, 10)

    def _look(self, state):
        if self._asked or state.feedback.positions[0] <= 0.25:
            return
        self._asked = True
        request = SwitchController.Request(strictness=SwitchController.Request.STRICT, activate_asap=True)
        request.activate_controllers = ["hold_controller"]
        request.deactivate_controllers = ["arm_controller"]
        self._switch.call_async(request).add_done_callback(lambda answer: self.switched.set_result(answer.result().ok))


if __name__ == "__main__":
    rclpy.init()
    node = SwitchOnSensor()
    rclpy.spin_until_future_complete(node, node.switched)
