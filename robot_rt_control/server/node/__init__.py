"""The ROS side of the control server: its node, services, actions, topics and message conversions."""
