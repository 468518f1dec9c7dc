"""Skills made of ROS: actions, services, messages to publish, topics to wait for. The only room of makers with ROS."""
