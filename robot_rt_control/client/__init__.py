"""What an application imports: `from robot_rt_control.client import Client, Action, Reaction, variable`.

ROS is imported only when a Client over ROS is made: without ROS, programs can be written and run in simulated time.
"""

from __future__ import annotations

from robot_rt_control.client.actions import Action, MotionGroup, Reaction, Strategy
from robot_rt_control.client.client import Client
from robot_rt_control.client.event import Event
from robot_rt_control.client.expression import Condition, Value, Variable, norm, variable
from robot_rt_control.client.followed import End, Ending, Followed
from robot_rt_control.client.program_state import ProgramState, RunOutcome, StrategyState
from robot_rt_control.client.recording import Recording
from robot_rt_control.client.session import Session
from robot_rt_control.client.stream import Stream
from robot_rt_control.definitions.motion_command import MotionCommand, Trajectory
from robot_rt_control.definitions.stream_sample import OutputSample
from robot_rt_control.vocabulary.errors import (
    CapacityError,
    ChannelError,
    CommandRefused,
    CompileError,
    ConditionError,
    DefinitionError,
    HardwareError,
    InternalError,
    NoAnswer,
    ProgramError,
    RobotControlError,
    SessionEnded,
    SessionError,
)

__all__ = [
    "Action",
    "CapacityError",
    "ChannelError",
    "Client",
    "CommandRefused",
    "CompileError",
    "Condition",
    "ConditionError",
    "DefinitionError",
    "End",
    "Ending",
    "Event",
    "Followed",
    "HardwareError",
    "InternalError",
    "MotionCommand",
    "MotionGroup",
    "NoAnswer",
    "OutputSample",
    "ProgramError",
    "ProgramState",
    "Reaction",
    "Recording",
    "RobotControlError",
    "RunOutcome",
    "Session",
    "SessionEnded",
    "SessionError",
    "Strategy",
    "StrategyState",
    "Stream",
    "Trajectory",
    "Value",
    "Variable",
    "norm",
    "variable",
]
