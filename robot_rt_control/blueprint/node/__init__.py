"""The node `blueprints`: executes blueprints over ROS."""
