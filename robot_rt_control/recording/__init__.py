"""Files of recorded ticks: MCAP with ROS 2 messages, written and read without ROS. docs/recording.md describes them."""
