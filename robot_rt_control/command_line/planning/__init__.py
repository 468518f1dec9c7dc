"""The command line of the contact-interaction planner: `robot-rt-control-plan`."""
