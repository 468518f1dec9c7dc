"""ROS topics as a hardware plugin: fields of messages become sensor values."""
