"""TF of a workcell: the transforms between the links of its robot_description."""
