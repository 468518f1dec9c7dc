"""The server of the browser editor for blueprints: a client of the ROS interfaces, in a process of its own."""
