"""What an application imports: `from robot_rt_control.client import Client, Action, Reaction, variable`.

What needs ROS is imported when it is first asked for: definitions can be written, and tested in lockstep, without.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.client.event import Event
from robot_rt_control.client.expression import Condition, Variable, variable
from robot_rt_control.client.stream import Stream

if TYPE_CHECKING:
    from robot_rt_control.client.client import Client
    from robot_rt_control.client.session import Session

__all__ = ["Action", "Client", "Condition", "Event", "Reaction", "Session", "Stream", "Variable", "variable"]

_WITH_ROS = {"Client": "client", "Session": "session"}


def __getattr__(name: str) -> Any:
    if name not in _WITH_ROS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_WITH_ROS[name]}"), name)
