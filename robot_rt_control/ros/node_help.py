"""The help text of a node's executable."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from robot_rt_control.ros.lifecycle_node import NodeParameter

_WIDTH = 100


def asks_for_help(arguments: Sequence[str]) -> bool:
    """Whether a command line asks for help instead of a node."""
    return any(word in ("-h", "--help") for word in arguments)


@dataclass(frozen=True, kw_only=True)
class NodeHelp:
    """The help of one kind of node."""

    executable: str
    summary: str
    """What the node does, and when to start it by hand."""
    parameters: Sequence[NodeParameter]
    examples: Sequence[str]
    """Arguments of `ros2 run robot_rt_control EXECUTABLE`."""

    def text(self) -> str:
        """The whole text, for a terminal."""
        command = f"ros2 run robot_rt_control {self.executable}"
        parts = [
            f"usage: {command} [--help] [--ros-args [-p NAME:=VALUE ...] [-r FROM:=TO ...]]",
            textwrap.fill(self.summary, _WIDTH),
            "parameters:\n" + "\n".join(_parameter(parameter) for parameter in self.parameters),
            "Parameters are read-only once the node runs, unless marked otherwise.",
            "examples:\n" + "\n".join(f"  {command} {example}" for example in self.examples),
            "A whole workcell: ros2 launch robot_rt_control workcell.launch.py --show-args",
        ]
        return "\n\n".join(parts)


_KINDS = {bool: "true or false", int: "integer", float: "float", str: "text", tuple: "list of texts"}


def _parameter(parameter: NodeParameter) -> str:
    kind = " | ".join(parameter.choices) or _KINDS[type(parameter.default)]
    if parameter.minimum is not None or parameter.maximum is not None:
        low = "" if parameter.minimum is None else f"{parameter.minimum:g}"
        high = "" if parameter.maximum is None else f"{parameter.maximum:g}"
        kind += f", {low}..{high}"
    text = parameter.description + (" May be set while the node runs." if parameter.changeable else "")
    described = textwrap.fill(text, _WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 6)
    return f"  {parameter.name} ({kind}; default {_default(parameter.default)})\n{described}"


def _default(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "empty" if value in ("", ()) else str(value)
