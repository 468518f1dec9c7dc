"""The application side: the node that runs users' programs, and the service for programs without ROS."""
