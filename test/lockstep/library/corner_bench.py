"""The bench with its two walls elsewhere, and with other friction and other finger tips."""

from __future__ import annotations

from pathlib import Path

import yaml
from library.bench_run import BENCH

FINGER = (0.0105, 0.0225)
"""[m] From the tool to the finger's face, along x and y."""
_START, _WALL, _LONG = (0.48, 0.0), 0.02, 0.325


def corner(
    folder: Path,
    gaps: tuple[float, float] = (0.1095, 0.3375),
    *,
    friction: float = 0.2,
    stiffness: float = 1e4,
    shear: float | None = 1e4,
) -> Path:
    """A workcell file.

    Args:
        folder: for the file.
        gaps: [m] from the fingers at the start to the walls ahead and beside. The walls end where they meet.
        friction: coefficient of the walls.
        stiffness: [N/m] of each finger tip; both touch the wall ahead, one the wall beside.
        shear: [N/m] of the walls; None: their friction is the simulator's.
    """
    content = yaml.safe_load(BENCH.read_text())
    world = content["devices"]["sim"]["world"]
    face_x, face_y = (_START[i] + FINGER[i] + gaps[i] for i in range(2))
    places = {"wall_x": [face_x + _WALL / 2, face_y - _LONG / 2, 0.12], "wall_y": [0.48, face_y + _WALL / 2, 0.12]}
    for thing in world["objects"]:
        if thing["name"] in places:
            thing |= {"friction": friction, "shear": shear, "pose": {"position": places[thing["name"]]}}
    for surface in world["surfaces"]:
        surface["stiffness"] = stiffness
    file = folder / "corner.yaml"
    file.write_text(yaml.safe_dump(content, sort_keys=False))
    return file
