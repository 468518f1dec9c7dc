"""Recordings for tests of what reads them: written by the package's writer, with joints that the test chooses."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from robot_rt_control.frames.link_frames import LinkFrames
from robot_rt_control.model.robot.urdf_reader import parse_urdf
from robot_rt_control.recording.columns import TIME, Column
from robot_rt_control.recording.robot import Robot
from robot_rt_control.recording.tick_writer import TickWriter
from robot_rt_control.vocabulary.enums import FaultReason, OperationalState

PERIOD = 0.001
ACTION = 2**40 + 5
"""The identity of the action `go`, which is active in each tick."""
URDF = """<robot name="r"><link name="world"/><link name="a"><visual><geometry><box size="0.1 0.1 0.5"/></geometry>
</visual></link><link name="b"/><link name="c"/>
<joint name="turn" type="continuous"><parent link="world"/><child link="a"/><axis xyz="0 0 1"/></joint>
<joint name="slide" type="prismatic"><parent link="a"/><child link="b"/><origin xyz="0.5 0 0"/><axis xyz="1 0 0"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="along" type="continuous"><parent link="world"/><child link="c"/>
<mimic joint="turn" multiplier="2"/></joint>
</robot>"""
PARTS = {"arm": ["turn", "slide"], "eye": []}


def position(tick: int, joint: int) -> float:
    """Of a joint, unless a test chooses another one."""
    return 1e-4 * tick + joint


def write_recording(
    path: Path,
    ticks: int = 400,
    *,
    first: int = 1,
    without: Collection[int] = (),
    urdf: str | None = URDF,
    parts: Mapping[str, Sequence[str]] = PARTS,
    q: Callable[[int, int], float] = position,
    distance: Callable[[int], float] = lambda tick: np.nan if tick % 100 == 50 else 0.001 * tick,
    fault: tuple[str, int] | None = None,
    events: Sequence[tuple[int, str, Mapping[str, Any]]] = (),
    ended: bool = True,
    about: Mapping[str, Any] | None = None,
) -> Path:
    """A recording.

    Args:
        ticks: how many, from `first` on.
        without: ticks that are lost.
        urdf: of the robot; None: there is none.
        parts: name → names of its joints.
        q: of a tick and the number of a joint among all.
        distance: that parts without joints measure in a tick.
        fault: a part, and the tick from which on it is faulted; the event is written, too.
        events: tick, kind and fields.
        ended: else its writer was killed after the last whole chunk.
        about: metadata beside what each has.
    """
    described = [
        {"name": name, "kind": "arm" if joints else "rangefinder", "joints": list(joints),
         "units": ["rad"] * len(joints), "joint_states": list(joints)}
        for name, joints in parts.items()
    ]  # fmt: skip
    columns = [Column(name=TIME, integer=True), Column(name="speed"), Column(name="protective_stop")]
    for name, joints in parts.items():
        if joints:
            columns += [Column(name=f"{name}.{what}position", width=len(joints), scalar=False) for what in _POSITIONS]
            columns += [Column(name=f"{name}.{what}", width=len(joints), scalar=False) for what in _OTHERS]
        else:
            columns.append(Column(name=f"{name}.distance"))
        columns += [Column(name=f"{name}.{what}", integer=True) for what in ("action", "state", "fault")]
    numbers = [tick for tick in range(first, first + ticks) if tick not in without]
    rows = np.zeros((len(numbers), 1 + sum(c.width for c in columns)), np.int64)
    floats = rows.view(np.float64)
    rows[:, 0] = numbers
    place, joint = 1, 0
    for column in columns:
        part, _, what = column.name.rpartition(".")
        if column.name == TIME:
            rows[:, place] = [round(tick * PERIOD * 1e9) for tick in numbers]
        elif what == "position":
            for i in range(column.width):
                floats[:, place + i] = [q(tick, joint + i) for tick in numbers]
            joint += column.width
        elif what == "distance":
            floats[:, place] = [distance(tick) for tick in numbers]
        elif what == "action" and parts[part]:
            rows[:, place] = ACTION
        elif what == "state":
            is_faulted = [fault is not None and fault[0] == part and tick >= fault[1] for tick in numbers]
            rows[:, place] = np.where(is_faulted, int(OperationalState.FAULTED), int(OperationalState.ENABLED))
        elif what == "fault":
            is_faulted = [fault is not None and fault[0] == part and tick >= fault[1] for tick in numbers]
            rows[:, place] = np.where(is_faulted, int(FaultReason.POSITION_LIMIT), 0)
        place += column.width
    robot = None if urdf is None else Robot(urdf, LinkFrames(parse_urdf(urdf.encode(), Path("robot_description"))))
    given = {"workcell": "written", "hardware": "mock", "clock": "lockstep", "version": "0", "period": PERIOD,
             "first_tick": first, "parts": described, **(about or {})}  # fmt: skip
    writer = TickWriter(path, given, columns, robot=None if robot is None else lambda tools: robot)
    happened = sorted([*events, *_faulted(fault)], key=lambda each: each[0])
    for begin in range(0, len(rows), 50):
        block = rows[begin : begin + 50]
        while happened and happened[0][0] <= block[-1, 0]:
            tick, kind, fields = happened.pop(0)
            writer.event(tick, round(tick * PERIOD * 1e9), kind, **fields)
        writer.rows(block)
    if ended:
        writer.end(reason="stopped", lost_ticks=len(without), actions={str(ACTION): "go"})
    else:
        writer._sink.close()
    return path


_POSITIONS, _OTHERS = ("", "commanded_"), ("velocity", "effort", "commanded_velocity", "commanded_effort")


def _faulted(fault: tuple[str, int] | None) -> list[tuple[int, str, Mapping[str, Any]]]:
    return [] if fault is None else [(fault[1], "part_faulted", {"part": fault[0], "reason": "position_limit"})]
