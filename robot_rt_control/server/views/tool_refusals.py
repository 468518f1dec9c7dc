"""What the loop's refusal means if a part's tool is the reason: which tool is on, and what its sensor says."""

from __future__ import annotations

from robot_rt_control.model.workcell.part_description import PartDescription
from robot_rt_control.server.events.reasons import refusal_text
from robot_rt_control.server.views.snapshot_view import SnapshotView
from robot_rt_control.vocabulary.enums import Refusal
from robot_rt_control.vocabulary.errors import CommandRefused

_HINTS = {
    Refusal.PART_MOVES: "Bring it to rest first: stop its action, and wait for the state variable at_rest",
    Refusal.TOOL_IN_USE: "Stop the action first, or let an action of the type change_tool take its place",
    Refusal.WRONG_TOOL: "Look which tool is on, then put that one on by change_tool; or correct `sensor` in the "
    "workcell file",
    Refusal.TOOL_UNKNOWN: "Look whether the device of the sensor delivers its states",
}


def tool_refused(
    refusal: Refusal, part: PartDescription, tool: str, snapshot: SnapshotView | None
) -> CommandRefused:
    """The error for a refused change of a tool.

    Args:
        tool: that was to be put on.
        snapshot: taken after the refusal, for what is on.
    """
    expected = got = ""
    if refusal == Refusal.PART_MOVES:
        expected, got = "a part at rest", "one that moves, or whose velocity is unknown"
    elif refusal == Refusal.TOOL_IN_USE:
        expected, got = "a part that only its default or safety action commands", "one that an action of a session does"
    elif refusal in (Refusal.WRONG_TOOL, Refusal.TOOL_UNKNOWN):
        expected, got = sensed(part, tool), "another answer"
        if snapshot is not None:
            on = part.tool_name(float(snapshot.measured(part.index).tool_number))
            got += f"; the tool that is on so far: {on!r}"
    return CommandRefused(
        f"change_tool of part {part.name!r} to {tool!r} was refused: {refusal_text(refusal)}",
        expected=expected,
        got=got,
        hint=_HINTS.get(refusal, ""),
    )


def sensed(part: PartDescription, tool: str) -> str:
    """What sensors should say if a tool is on, in words."""
    own = next((t.sensor for t in part.tools if t.name == tool), "")
    return own or "none of: " + ", ".join(t.sensor for t in part.tools if t.sensor)


def not_confirmed(part: PartDescription, snapshot: SnapshotView) -> CommandRefused | None:
    """Why a part cannot be enabled, if it is its tool: the sensors do not confirm the one that is on; None: they do."""
    if not part.tools:
        return None
    measured = snapshot.measured(part.index)
    if measured.tool_confirmed == 1.0:
        return None
    refusal = Refusal.WRONG_TOOL if measured.tool_confirmed == 0.0 else Refusal.TOOL_UNKNOWN
    tool = part.tool_name(float(measured.tool_number))
    return CommandRefused(
        f"enable of part {part.name!r} was refused: its tool should be {tool!r}, but {refusal_text(refusal)}",
        expected=sensed(part, tool),
        got="a sensor that is unknown" if refusal == Refusal.TOOL_UNKNOWN else "sensors that say otherwise",
        hint=_HINTS[refusal],
    )
