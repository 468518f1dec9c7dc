"""Built-in action types, one in each file, written exactly as a user would write them."""

BUILTIN = (
    "robot_rt_control.actions.stop:Stop",
    "robot_rt_control.actions.hold:Hold",
    "robot_rt_control.actions.move_joint:MoveJoint",
    "robot_rt_control.actions.velocity_move:VelocityMove",
    "robot_rt_control.actions.move_linear:MoveLinear",
    "robot_rt_control.actions.track_trajectory:TrackTrajectory",
    "robot_rt_control.actions.sine_wave:SineWave",
    "robot_rt_control.actions.set_output:SetOutput",
    "robot_rt_control.actions.wait_for_input:WaitForInput",
    "robot_rt_control.actions.move_gripper:MoveGripper",
    "robot_rt_control.actions.grasp:Grasp",
    "robot_rt_control.actions.watch_tool:WatchTool",
    "robot_rt_control.actions.watch_distance:WatchDistance",
    "robot_rt_control.actions.follow_joint_stream:FollowJointStream",
    "robot_rt_control.actions.follow_pose_stream:FollowPoseStream",
    "robot_rt_control.actions.follow_joint_velocity_stream:FollowJointVelocityStream",
    "robot_rt_control.actions.follow_twist_stream:FollowTwistStream",
    "robot_rt_control.actions.govern_tool:GovernTool",
    "robot_rt_control.actions.laws.velocity:Velocity",
    "robot_rt_control.actions.laws.distance:Distance",
    "robot_rt_control.actions.laws.force:Force",
    "robot_rt_control.actions.laws.stop_at:StopAt",
)
"""The built-in action types, as "module:Class": the server loads them by these names."""
