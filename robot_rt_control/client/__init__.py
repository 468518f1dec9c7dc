"""What an application imports: `from robot_rt_control.client import Client, Action, Reaction, variable`."""

from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.client.client import Client
from robot_rt_control.client.event import Event
from robot_rt_control.client.expression import Condition, Variable, variable
from robot_rt_control.client.session import Session

__all__ = ["Action", "Client", "Condition", "Event", "Reaction", "Session", "Variable", "variable"]
