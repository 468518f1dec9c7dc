"""A plan's part that is driven by efforts, as parameters of `track_trajectory`: its efforts, with feedback."""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_rt_control.planning.plan import Plan
from robot_rt_control.vocabulary.errors import DefinitionError, unknown


def effort_parameters(plan: Plan, part: str) -> dict[str, Any]:
    """Parameters of `track_trajectory` in mode effort: one cubic piece and one effort for each control step.

    The feedback leads the joints to where the efforts brought them in the plan. A last piece of one more control step,
    without efforts, brings them to rest.

    Raises:
        DefinitionError: the plan does not have the part, or it is not driven by efforts.
    """
    names = plan.header["joints"]
    own = [i for i, name in enumerate(names) if name.partition(".")[0] == part]
    what = f"plan, part {part!r}"
    if not own:
        parts = sorted({name.partition(".")[0] for name in names})
        raise DefinitionError(what, expected=unknown("part", part, parts))
    if any(plan.header["velocity_driven"][i] for i in own):
        raise DefinitionError(what, expected="a part driven by efforts", got="a velocity-driven one")
    step = plan.header["time"] / plan.header["steps"]
    position, velocity, efforts = (array[:, own] for array in (plan.position, plan.velocity, plan.inputs))
    rest = np.zeros((1, len(own)))
    return {
        "times": [step * i for i in range(len(position) + 1)],
        "positions": np.concatenate([position, position[-1:] + 0.5 * step * velocity[-1:]]).ravel().tolist(),
        "velocities": np.concatenate([velocity, rest]).ravel().tolist(),
        "mode": "effort",
        "efforts": np.concatenate([efforts, rest]).ravel().tolist(),
        "gravity": True,
    }
