"""An event of the loop, as a recording has it: with the names that the loop's tables know."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Any

import numpy as np

from robot_rt_control.realtime.executor.assembly import World
from robot_rt_control.vocabulary.enums import EventKind, FaultReason, Refusal, StopCause

_REASONS: dict[int, type[IntEnum]] = {
    EventKind.COMMAND_REFUSED: Refusal,
    EventKind.SWITCH_DROPPED: Refusal,
    EventKind.REPLACE_REFUSED: Refusal,
    EventKind.ACTION_STOPPED: StopCause,
    EventKind.PART_FAULTED: FaultReason,
}


def event_fields(event: np.void, world: World, actions: Mapping[str, str]) -> dict[str, Any]:
    """Kind and fields for `TickWriter.event`.

    Args:
        event: of `layout.event_dtype`.
        actions: identity → id, see `TickRing.action_names`.
    """
    parts, part = world.workcell.parts, int(event["part"])
    previous, current = str(event["previous_action"]), str(event["current_action"])
    return {
        "kind": _word(EventKind, int(event["kind"])),
        "reason": _word(_REASONS.get(int(event["kind"]), IntEnum), int(event["reason"])),
        "part": parts[part].name if 0 <= part < len(parts) else "",
        "session": _session(world, int(event["session"])),
        "previous_action": actions.get(previous, previous if previous != "0" else ""),
        "current_action": actions.get(current, current if current != "0" else ""),
        "reaction": int(event["reaction"]),
        "status": int(event["status"]),
        "values": event["values"][: int(event["n_values"])].tolist(),
    }


def _word(kind: type[IntEnum], number: int) -> str:
    try:
        return kind(number).name.lower()
    except (ValueError, TypeError):
        return str(number) if number else ""


def _session(world: World, identity: int) -> str:
    """The session's name; its number, if the tables do not know it any more; empty: none."""
    for tables in world.memory.tables if identity else ():
        rows = tables.sessions[: int(tables.n_sessions)]
        found = rows["name"][rows["identity"] == identity]
        if len(found):
            return bytes(found[0]).decode(errors="replace")
    return str(identity) if identity else ""
