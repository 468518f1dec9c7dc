"""Task "hold a force" for ros2_control: press with 5 N on what is below, for 3 s.

The controller is an admittance_controller, chained before a position controller: its parameters are in
hold_force.yaml. How fast it comes down to the surface follows from force and damping.
"""

import rclpy
from controller_manager_msgs.srv import SwitchController
from geometry_msgs.msg import WrenchStamped


def main():
    rclpy.init()
    node = rclpy.create_node("hold_force")
    switch = node.create_client(SwitchController, "controller_manager/switch_controller")
    switch.wait_for_service()
    request = SwitchController.Request(strictness=SwitchController.Request.STRICT)
    request.activate_controllers = ["admittance_controller"]
    request.deactivate_controllers = ["arm_controller"]
    answer = switch.call_async(request)
    rclpy.spin_until_future_complete(node, answer)
    if not answer.result().ok:
        raise RuntimeError("the admittance controller was not activated")
    publisher = node.create_publisher(WrenchStamped, "admittance_controller/wrench_reference", 10)
    wrench = WrenchStamped()
    wrench.header.frame_id = "base"
    wrench.wrench.force.z = -5.0
    timer = node.create_timer(0.1, lambda: publisher.publish(wrench))
    end = node.get_clock().now().nanoseconds + 3_000_000_000
    while node.get_clock().now().nanoseconds < end:
        rclpy.spin_once(node)
    timer.cancel()


if __name__ == "__main__":
    main()
