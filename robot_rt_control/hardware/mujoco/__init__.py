"""The plugin `mujoco`."""
