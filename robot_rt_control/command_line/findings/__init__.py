"""Examines the machine on which a workcell is to run: `robot-rt doctor`."""
