"""The text of a new task for a workcell, with comments: what may be changed, from which values, to which."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from robot_rt_control.planning.files.settings_keys import shown, task_settings
from robot_rt_control.planning.files.task_schema import SCHEMA_FILE
from robot_rt_control.planning.scene.task_cell import TaskCell, find_shipped
from robot_rt_control.vocabulary.errors import DefinitionError

_WIDTH = 46
"""Column at which comments of settings begin."""


def new_task(workcell: str, *, name: str, folder: Path, body: str = "") -> str:
    """The text.

    Args:
        workcell: its file, relative to the working directory, or the name of one that comes with the package.
        name: of the task.
        folder: where its file will be.
        body: an object of the scene, or a link that floats; empty: the first free object, else the first such link.

    Raises:
        DefinitionError: the workcell is not valid, or has no such body.
    """
    file = find_shipped(workcell, Path())
    cell = TaskCell(file)
    free = [thing for thing in cell.objects if cell.is_free(thing) and cell.face_names(thing)]
    free = free or [link for link in cell.links if _moves(cell, link)][:1]
    if not body:
        if not free:
            raise DefinitionError(
                f"workcell {workcell!r}", expected="a free box or cylinder, or a link that floats", got="none"
            )
        body = free[0]
    cell.check_body(body)
    shipped = not Path(workcell).is_file()
    where = file.stem if shipped else os.path.relpath(file, folder)
    robot = _tool(cell)
    if body in cell.objects:
        faces = cell.face_names(body)
        sides = ", ".join(side for side in faces if side not in ("top", "bottom"))
    else:
        faces = tuple(f"{thing}.{side}" for thing in _fixed(cell, robot) for side in cell.face_names(thing))
        sides = ", ".join(faces[:6])  # of the nearest object
    return "\n".join(
        [
            f"# yaml-language-server: $schema={SCHEMA_FILE}",
            "# A task of the contact-interaction planner, see docs/planning.md. Units: m, rad, s.",
            f"name: {re.sub('[^A-Za-z0-9_]', '_', name)}",
            f"workcell: {where}  # robot, limits, scene and start come from there",
            f"body: {body}  # what is to move; {_choices(free)}",
            "target: {by: [$distance, 0, 0], frame: world}  # or position: and orientation: (quaternion x y z w);",
            "                                               # a coordinate may be `free`; rest: false lets it roll on",
            *_parts(cell),
            "pairs:  # what may touch; when, where and in which order is found by the planner",
            f"  - {{robot: {robot}, faces: [{sides}]}}",
            *_comment(f"robot: one of {', '.join(link for link, solid in cell.links.items() if solid)}"),
            *_comment(f"faces: some of {', '.join(faces)}"),
            "horizon: {time: 1.5, steps: 30}  # control steps of 50 ms; their duration is a multiple of 5 ms",
            "duration: {at_most: 6}  # the planner may take as long, to push slowly; without it: the horizon's time",
            "start: {from: workcell}  # or measured, or given by joints: {part: [...]}, body: {position: [...]}",
            "parameters:",
            "  distance: {unit: m, default: 0.1, description: way of the body along x}",
            "",
            "# Settings: all have these defaults, which serve all tasks. A second #: off unless it is given.",
            *_settings(),
            "",
        ]
    )


def _choices(free: list[str]) -> str:
    return f"such as {', '.join(free)}" if free else "the scene has no free object"


def _moves(cell: TaskCell, link: str) -> bool:
    """Whether it has a shape, and floats."""
    try:
        cell.check_body(link)
    except DefinitionError:
        return False
    return cell.links[link]


def _fixed(cell: TaskCell, link: str) -> list[str]:
    """Fixed objects whose faces have names, the nearest to a link first."""
    at = cell.start_of(link)[:3, 3]
    named = [thing for thing in cell.objects if not cell.is_free(thing) and cell.face_names(thing)]
    return sorted(named, key=lambda thing: float(np.linalg.norm(cell.start_of(thing)[:3, 3] - at)))


def _parts(cell: TaskCell) -> Iterator[str]:
    yield "parts:  # control: velocity (the planner chooses accelerations) or effort"
    for part in cell.parts.values():
        if part.dof and part.urdf is not None:
            yield f"  {part.name}: {{control: velocity}}"


def _tool(cell: TaskCell) -> str:
    """The last link with a shape: tools come after the robots' own."""
    return [link for link, solid in cell.links.items() if solid][-1]


def _comment(text: str) -> Iterator[str]:
    words, line = text.split(), "    #"
    for word in words:
        if len(line) + len(word) > 110:
            yield line
            line = "    #"
        line += f" {word}"
    yield line


def _settings() -> Iterator[str]:
    above: tuple[str, ...] = ()
    for setting in task_settings():
        *path, name = setting.path
        mark = "# #" if setting.optional else "#"  # what is off by default stays a comment
        for depth, section in enumerate(path):
            if above[: depth + 1] != tuple(path[: depth + 1]):
                yield f"{mark if depth else '#'} {'  ' * depth}{section}:"
        above = tuple(path)
        line = f"{mark} {'  ' * len(path)}{name}: {shown(setting.default)}"
        comment = "; ".join(filter(None, (setting.range, setting.comment)))
        yield f"{line:<{_WIDTH}}# {comment}"
