"""The executor around the tick: memory, devices, loops, installations, fault logs, and the ROS node."""
