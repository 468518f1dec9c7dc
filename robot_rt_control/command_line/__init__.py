"""The verbs of `robot-rt` and `ros2 rt`: one file each, listed in `verbs`. See docs/command_line.md."""
