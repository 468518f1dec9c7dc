"""Motion while commands come: jogs of MoveIt Servo and teleoperation, and velocities of mobile bases."""
