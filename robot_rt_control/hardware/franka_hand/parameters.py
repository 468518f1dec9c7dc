"""Parameters of the plugin `franka_hand` in the workcell file."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from robot_rt_control.hardware.parameters import Parameters


class HandParameters(Parameters):
    address: str = Field(min_length=1)
    """IP address or name of the robot's control, as that of the arm."""
    speed: Annotated[float, Field(gt=0.0, le=0.1)] = 0.1
    """[m/s] of the width."""
    force: Annotated[float, Field(gt=0.0, le=70.0)] | None = None
    """[N] with which it closes on what is in its way; None: closing is a motion to a width, which fails there."""
    silence: Annotated[float, Field(gt=0.0, le=600.0)] = 1.0
    """[s] without a state after which the hand is lost."""
