"""Planning of motion commands outside the loop: pure functions, without ROS and without a time limit."""
