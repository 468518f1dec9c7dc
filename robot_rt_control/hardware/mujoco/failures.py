"""Why a simulation cannot go on, in words: what MuJoCo has warned of. By itself it would reset the scene, or go on."""

from __future__ import annotations

import mujoco
import numpy as np

from robot_rt_control.vocabulary.errors import HardwareError

_Warning = mujoco.mjtWarning

_DIVERGED = {
    _Warning.mjWARN_BADQACC: ("acceleration", "qacc"),
    _Warning.mjWARN_BADQVEL: ("velocity", "qvel"),
    _Warning.mjWARN_BADQPOS: ("position", "qpos"),
}
"""Of what a simulation has diverged, with its field: the acceleration is the first to do so."""
_MOST_NAMES = 8


def failure_of(model: mujoco.MjModel, data: mujoco.MjData, item: str) -> HardwareError:
    """What the first warning in `data.warning` means; there must be one.

    Args:
        item: for the error: "hardware 'sim'".
    """
    numbers, details = data.warning.number, data.warning.lastinfo
    if numbers[_Warning.mjWARN_BADCTRL]:
        number = int(details[_Warning.mjWARN_BADCTRL])
        return HardwareError(
            f"{item}: the control of actuator {model.actuator(number).name or number!r}",
            expected="a finite number",
            got="one that is not",
            hint="Look for what commands its joint or output",
        )
    for warning, (what, field) in _DIVERGED.items():
        if numbers[warning]:
            return _diverged(model, getattr(data, field), what, field, item)
    if numbers[_Warning.mjWARN_INERTIA]:
        joint = int(model.dof_jntid[int(details[_Warning.mjWARN_INERTIA])])
        return HardwareError(
            f"{item}: the inertia at joint {_joint(model, joint)}",
            expected="masses that can be computed with",
            got="one that is nearly 0, beside one that is much greater",
            hint="Give the links behind it a mass, or the joint an armature",
        )
    return no_memory(item, f"{data.ncon} contacts, {data.nefc} rows of constraints")


def no_memory(item: str, got: str) -> HardwareError:
    """MuJoCo's memory for contacts is full: it would leave out the others."""
    return HardwareError(
        f"{item}: MuJoCo has no memory for all contacts and constraints",
        got=got,
        hint='Let fewer things touch each other; with an MJCF, give it more: <size memory="64M"/>',
    )


def _diverged(model: mujoco.MjModel, values: np.ndarray, what: str, field: str, item: str) -> HardwareError:
    bad = np.flatnonzero(~(np.abs(values) < mujoco.mjMAXVAL))
    places = model.jnt_qposadr if field == "qpos" else model.jnt_dofadr
    joints = np.unique(np.searchsorted(places, bad, side="right") - 1)
    names = ", ".join(_joint(model, int(joint)) for joint in joints[:_MOST_NAMES])
    return HardwareError(
        f"{item}: the simulation has diverged",
        expected="finite positions, velocities and accelerations",
        got=f"no finite {what} of {'anything' if len(joints) == model.njnt else names}",
        hint="Look for masses near 0, things that begin in each other, and gains that are too high for their masses, "
        "or take a smaller world.timestep",
    )


def _joint(model: mujoco.MjModel, joint: int) -> str:
    """Its name; a free joint without one is that of its body."""
    return repr(model.joint(joint).name or model.body(int(model.jnt_bodyid[joint])).name)
