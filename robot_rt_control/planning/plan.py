"""A plan as numbers and a header, in a file that is read without the simulator and without the compiler.

The file is a NumPy archive: the arrays by name, and `header`, JSON in bytes. The same plan gives the same bytes.
"""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.vocabulary.errors import DefinitionError, unknown

Array = NDArray[np.float64]

FORMAT = 1
LIMITS = ("lower", "upper", "velocity", "acceleration", "effort")
"""Of each joint, in the header."""
_ARRAYS = (
    "position", "velocity", "inputs", "body_position", "body_rotation", "distance",
    "stiffness", "virtual_force", "virtual_distance",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True, eq=False)
class Plan:
    """A motion without virtual forces, at the N + 1 ends of its control steps."""

    header: dict[str, Any]
    """format, workcell (its digest), task (its digest), body, joints, velocity_driven, limits, pairs, time [s], steps,
    success, position_error [m], normalized_error, orientation_error [rad], target (position [m], quaternion x y z w),
    convergence (of each iterate: penalty ω, normalized_error, orientation_error [rad], stiffness_average and
    stiffness_greatest, both scaled, accepted), versions (of MuJoCo, PIQP, NumPy)."""
    position: Array
    """(N + 1, n) [rad or m] of the joints: commanded if velocity-driven, else as simulated."""
    velocity: Array
    """(N + 1, n)"""
    inputs: Array
    """(N, n) acceleration of the command, or effort beyond gravity, constant over each control step."""
    body_position: Array
    """(N + 1, 3) p_WB [m]"""
    body_rotation: Array
    """(N + 1, 3, 3) R_WB"""
    distance: Array
    """(N + 1, pairs) [m] φ"""
    stiffness: Array
    """(N, pairs) [N] k of the iterate with virtual forces that the plan was made from."""
    virtual_force: Array
    """(N, pairs) [N] γ of that iterate, at the beginning of each control step: where it found contact."""
    virtual_distance: Array
    """(N + 1, pairs) [m] φ of that iterate: before its geometries were drawn near."""

    def save(self, file: Path | str) -> None:
        """Write it, under exactly this name."""
        header = np.frombuffer(json.dumps(self.header, sort_keys=True).encode(), dtype=np.uint8)
        with Path(file).open("wb") as stream:
            np.savez(stream, header=header, **{name: getattr(self, name) for name in _ARRAYS})

    def track_parameters(self, part: str) -> dict[str, list[float]]:
        """Parameters of `track_trajectory` for a velocity-driven part: one cubic piece for each control step.

        A last piece of one more control step brings the joints to rest.

        Raises:
            DefinitionError: the plan does not have the part, or it is driven by efforts.
        """
        names = self.header["joints"]
        own = [i for i, name in enumerate(names) if name.partition(".")[0] == part]
        if not own:
            parts = sorted({name.partition(".")[0] for name in names})
            raise DefinitionError(f"plan, part {part!r}", expected=unknown("part", part, parts))
        if not all(self.header["velocity_driven"][i] for i in own):
            what = f"plan, part {part!r}"
            raise DefinitionError(what, expected="a velocity-driven part", got="one driven by efforts")
        step = self.header["time"] / self.header["steps"]
        position, velocity = self.position[:, own], self.velocity[:, own]
        position = np.concatenate([position, position[-1:] + 0.5 * step * velocity[-1:]])
        velocity = np.concatenate([velocity, np.zeros_like(velocity[:1])])
        return {
            "times": [step * i for i in range(len(position))],
            "positions": position.ravel().tolist(),
            "velocities": velocity.ravel().tolist(),
        }

    @classmethod
    def load(cls, file: Path | str) -> Plan:
        """Read a plan.

        Raises:
            DefinitionError: there is no such file, it is damaged, or its format is another.
        """
        what = f"plan {file}"
        try:
            with np.load(file, allow_pickle=False) as archive:
                header = json.loads(archive["header"].tobytes())
                arrays = {name: np.array(archive[name], dtype=float) for name in _ARRAYS}
        except FileNotFoundError:
            raise DefinitionError(what, expected="a file", got="nothing there") from None
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as failure:
            raise DefinitionError(what, expected="a plan file", got=f"a damaged one: {failure}") from None
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            got = header.get("format") if isinstance(header, dict) else header
            raise DefinitionError(what, expected=f"format {FORMAT}", got=str(got), hint="Plan again")
        result = cls(header=header, **arrays)
        result._check(what)
        return result

    def _check(self, what: str) -> None:
        steps, joints = self.header["steps"], len(self.header["joints"])
        shapes = {
            "position": (steps + 1, joints),
            "velocity": (steps + 1, joints),
            "inputs": (steps, joints),
            "body_position": (steps + 1, 3),
            "body_rotation": (steps + 1, 3, 3),
            "distance": (steps + 1, len(self.header["pairs"])),
            "stiffness": (steps, len(self.header["pairs"])),
            "virtual_force": (steps, len(self.header["pairs"])),
            "virtual_distance": (steps + 1, len(self.header["pairs"])),
        }
        for name, shape in shapes.items():
            array = getattr(self, name)
            if array.shape != shape:
                raise DefinitionError(f"{what}: {name}", expected=f"shape {shape}", got=f"{array.shape}")
            if not np.isfinite(array).all():
                raise DefinitionError(f"{what}: {name}", expected="finite numbers", got="others")
