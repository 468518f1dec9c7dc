"""Trajectories of other packages, with the semantics of joint_trajectory_controller."""
