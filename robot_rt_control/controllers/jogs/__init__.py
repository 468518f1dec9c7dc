"""Jogs of MoveIt Servo and teleoperation, with twists of the tool or velocities of joints."""
