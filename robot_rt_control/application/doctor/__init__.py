"""Examines the machine that a workcell shall run on: `robot-rt doctor`."""
