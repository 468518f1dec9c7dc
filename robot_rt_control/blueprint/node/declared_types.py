"""What the action types of a workcell declare, read by a process beside this one."""

from __future__ import annotations

from robot_rt_control.definitions.declared_type import DeclaredType
from robot_rt_control.model.workcell.workcell import Workcell
from robot_rt_control.processes.call import call

_MODULE = "robot_rt_control.server.offline_catalogue"
_LIMIT_S = 120.0
"""[s] of processor time, and of idleness."""


def declared_types(workcell: Workcell) -> list[DeclaredType]:
    """Those of the package, and the workcell's own. Neither they nor the compiler are loaded here.

    Raises:
        DefinitionError, CompileError: one cannot be loaded, or what it declares is not valid.
        RobotControlError: their code ended the process, or took too long.
    """
    sources = [source.text for source in workcell.action_types]
    return [DeclaredType.from_json(text) for text in call(_MODULE, sources, limit=_LIMIT_S)]
