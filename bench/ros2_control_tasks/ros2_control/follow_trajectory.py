"""Task "follow a trajectory" for ros2_control: three points [rad], one each second."""

import rclpy
from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionClient
from trajectory_msgs.msg import JointTrajectoryPoint

POINTS = [[0.2, 0.6, 0, 1.5, 0, 1, 0], [0.4, 0.5, 0, 1.6, 0, 1.1, 0], [0, 0.5236, 0, 1.5708, 0, 1.0472, 0]]


def main():
    rclpy.init()
    node = rclpy.create_node("follow_trajectory")
    client = ActionClient(node, FollowJointTrajectory, "arm_controller/follow_joint_trajectory")
    client.wait_for_server()
    goal = FollowJointTrajectory.Goal()
    goal.trajectory.joint_names = [f"joint_{i}" for i in range(1, 8)]
    for i, point in enumerate(POINTS):
        goal.trajectory.points.append(
            JointTrajectoryPoint(positions=list(map(float, point)), time_from_start=Duration(sec=i + 1))
        )
    sent = client.send_goal_async(goal)
    rclpy.spin_until_future_complete(node, sent)
    result = sent.result().get_result_async()
    rclpy.spin_until_future_complete(node, result)
    if result.result().status != GoalStatus.STATUS_SUCCEEDED:
        raise RuntimeError(result.result().result.error_string)


if __name__ == "__main__":
    main()
