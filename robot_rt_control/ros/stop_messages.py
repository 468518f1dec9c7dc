"""Protective stops as messages, for the executor and the control server."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from robot_rt_control import msg
from robot_rt_control.memory.stops import FURTHER, Stop, listed, source_of


def stop_messages(stops: Sequence[Stop], stamp: Callable[[int], Any]) -> list[Any]:
    """msg/ActiveStop of each.

    Args:
        stamp: a tick's start [ns] → builtin_interfaces/Time on the ROS clock.
    """
    return [
        msg.ActiveStop(
            source=stop.source,
            reason=stop.reason + (f" [{stop.merged} stops]" if stop.merged > 1 else ""),
            who=stop.who,
            stamp=stamp(stop.time_ns),
            tick=stop.tick,
            needs_secret=stop.needs_secret,
        )
        for stop in stops
    ]


def stop_remark(request: Any, tick: int, stops: Sequence[Stop]) -> str:
    """What the answer to a ProtectiveStop says beside its success: that the stop was latched before, or what is
    latched still; empty: nothing.

    Args:
        tick: in which it took effect.
        stops: those that are latched afterwards.
    """
    if not request.stop:
        return f"still latched: {listed(stops)}" if stops else ""
    source = source_of(request.source, request.reason)
    known = [stop for stop in stops if stop.source == source and stop.needs_secret == bool(request.secret)]
    if known:
        return f"{source!r} was latched already, in tick {known[-1].tick}" if known[-1].tick < tick else ""
    further = next((stop for stop in stops if stop.source == FURTHER), None)
    return f"all places are taken: it is latched as {FURTHER!r}, with {further.merged} stops" if further else ""
