"""The plugin `franka_hand`: the gripper of a Franka."""
