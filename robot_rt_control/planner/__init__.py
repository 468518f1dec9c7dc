"""The node `planner`: plans through contact as a ROS action, and runs them. The computing is a process beside it."""
