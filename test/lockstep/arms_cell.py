"""Cells of several arms on mock hardware."""

from pathlib import Path
from typing import Any

import numpy as np
import yaml

from robot_rt_control.client import MotionCommand, MotionGroup, Session
from robot_rt_control.testing import LockstepCell

LIMITS = {"velocity": 1.5, "acceleration": 6.0, "jerk": 60.0}
N_JOINTS = 3


def arms_file(folder: Path, n: int, *, period: float = 0.001) -> Path:
    """A workcell file of arms arm0, arm1, …, each with three joints from -3 to 3 rad."""
    joint = {"type": "revolute", "position_lower": -3.0, "position_upper": 3.0, "velocity": LIMITS["velocity"]}
    arm = {
        "kind": "base",
        "device": "mock",
        "joints": [{"name": f"j{j}", **joint} for j in range(N_JOINTS)],
        "limits": {"acceleration": LIMITS["acceleration"], "jerk": LIMITS["jerk"]},
    }
    path = folder / f"arms_{n}.yaml"
    path.write_text(
        yaml.safe_dump(sort_keys=False, data=
            {
                "name": "arms",
                "period": period,
                "parts": {f"arm{i}": arm for i in range(n)},
                "devices": {"mock": {"plugin": "mock"}},
            }
        )
    )
    return path


def commanded(cell: LockstepCell, n: int) -> np.ndarray:
    """(n, 3) commanded positions of arm0 to arm(n-1) [rad]."""
    parts = cell.executor.world.memory.parts
    return np.array([parts["commanded_position"][i][:N_JOINTS] for i in range(n)])


def cell_of(folder: Path, n: int) -> tuple[LockstepCell, Session]:
    """A cell with n arms, and a session of all of them."""
    cell = LockstepCell(arms_file(folder, n))
    return cell, cell.session(*(f"arm{i}" for i in range(n)))


def positions(cell: LockstepCell, n: int, ticks: int) -> np.ndarray:
    """(ticks, n, 3) commanded positions of the next ticks [rad]."""
    rows = np.empty((ticks, n, N_JOINTS))
    for row in rows:
        cell.step()
        row[:] = commanded(cell, n)
    return rows


def go(n: int, name: str = "go", sign: float = 1.0, **options: Any) -> MotionGroup:
    """Each arm goes to another place."""
    goals = ((sign * (0.3 + 0.05 * (i % 32)), -sign * 0.2, 0.1) for i in range(n))
    return MotionGroup(name, *(MotionCommand(part=f"arm{i}", position=q) for i, q in enumerate(goals)), **options)


def on_path(q: np.ndarray, whole: np.ndarray) -> None:
    """All arms are where they are together on the whole motion, at one path time."""
    reference = whole.reshape(len(whole), -1)
    way = np.sign(reference[-1, 0] - reference[0, 0])
    for row in q.reshape(len(q), -1):
        time = np.interp(way * row[0], way * reference[:, 0], np.arange(len(reference)))
        expected = [np.interp(time, np.arange(len(reference)), column) for column in reference.T]
        np.testing.assert_allclose(row, expected, atol=2e-6)


def limits_kept(q: np.ndarray) -> None:
    """Velocity and acceleration are within the system limits."""
    assert np.abs(np.diff(q, axis=0)).max() / 1e-3 <= LIMITS["velocity"] * 1.05 + 1e-9
    assert np.abs(np.diff(q, 2, axis=0)).max() / 1e-6 <= LIMITS["acceleration"] * 1.2 + 1e-6
