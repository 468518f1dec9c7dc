"""What a goal of joints or of a tool means for a robot: where it would be, and why it cannot be there.

`python -m robot_rt_control.view.goals` computes it in a process beside the editor's server, see `processes/call.py`:
the search for joint positions holds up neither its STOP nor the signs of life of jogs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from robot_rt_control.model.kinematics.calls import forward_kinematics
from robot_rt_control.model.kinematics.chain import Chain, chain_of
from robot_rt_control.model.kinematics.inverse_kinematics import nearest_joints
from robot_rt_control.model.robot.urdf import Array, Urdf
from robot_rt_control.model.robot.urdf_reader import parse_urdf
from robot_rt_control.processes.call import answer
from robot_rt_control.vocabulary.errors import DefinitionError

Json = dict[str, Any]

_FIRST = 100
"""Iterations from where the drawn goal is: goals that are near each other have configurations that are near."""
_OTHERS, _EACH = 8, 60
"""Other configurations that are tried, and iterations of each."""


class Reach:
    """The reach of one part's tool.

    Args:
        urdf: of the workcell, with a link for each tool; its root is the world.
        tool: the tool's link.
        joints: the part's joints, in the part's order; what else moves the tool stays where it is.
        limits: (lower, upper) of the part's joints [rad or m]; infinite: none.
        present: joint → where it is now [rad or m].

    Raises:
        DefinitionError: joints of another kind move the tool, or one whose position is not known.
    """

    def __init__(
        self,
        urdf: Urdf,
        tool: str,
        joints: Sequence[str],
        limits: tuple[Sequence[float], Sequence[float]],
        present: Mapping[str, float],
    ) -> None:
        chain: Chain = chain_of(urdf, urdf.root, tool)
        self._chain, names = chain.record, chain.joint_names
        missing = [name for name in joints if name not in names]
        if missing:
            raise DefinitionError(f"joint {missing[0]!r} does not move the tool {tool!r}")
        self._own = [names.index(name) for name in joints]
        self._fixed = np.array([present.get(name, np.nan) for name in names], float)
        unknown = [name for name, q in zip(names, self._fixed, strict=True) if name not in joints and np.isnan(q)]
        if unknown:
            raise DefinitionError(f"joint {unknown[0]!r}, which moves the tool {tool!r}", expected="a known position")
        self._lower, self._upper = self._fixed.copy(), self._fixed.copy()
        self._lower[self._own], self._upper[self._own] = limits

    def pose(self, q: Sequence[float] | Array) -> tuple[Array, Array]:
        """(p_WT (3,) [m], q_WT (4,) x y z w) of the tool at the part's joint positions [rad or m]."""
        return forward_kinematics(self._chain, self._whole(q))

    def search(
        self, p_WT: Array, q_WT: Array, seed: Sequence[float], *, quick: bool = False
    ) -> tuple[Array, Array, list[int], Array]:
        """Joint positions for a pose of the tool.

        Args:
            p_WT, q_WT: (3,) [m] and (4,) x y z w of length 1, in the world.
            seed: the part's joint positions from which the search starts [rad or m].
            quick: no other configurations than that of the seed are tried.

        Returns:
            (the part's joint positions within the limits that bring the tool nearest; (2,) what is missing then [m] and
            [rad], 0 if it gets there; those of its joints whose limits prevent that, where it could get there without;
            where they would be [rad or m]).
        """
        start = self._whole(seed)
        limits = self._lower, self._upper
        q, e, done = nearest_joints(self._chain, p_WT, q_WT, start, limits, iterations=_FIRST, attempts=1)
        if not done and not quick:
            other = nearest_joints(self._chain, p_WT, q_WT, q, limits, iterations=_EACH, attempts=1 + _OTHERS)
            if other[2] or other[1] @ other[1] < 0.9 * (e @ e):  # else it would change its configuration for nothing
                q, e, done = other
        if done:
            return q[self._own], np.zeros(2), [], np.zeros(0)
        lower, upper = self._fixed.copy(), self._fixed.copy()
        lower[self._own], upper[self._own] = -np.inf, np.inf
        free, _, gets_there = nearest_joints(self._chain, p_WT, q_WT, q, (lower, upper), iterations=_FIRST, attempts=1)
        outside = [i for i, j in enumerate(self._own) if not self._lower[j] <= free[j] <= self._upper[j]]
        beyond = outside if gets_there else []
        lacks = np.array([np.linalg.norm(e[:3]), np.linalg.norm(e[3:])])
        return q[self._own], lacks, beyond, free[self._own][beyond]

    def _whole(self, q: Sequence[float] | Array) -> Array:
        whole = self._fixed.copy()
        whole[self._own] = q
        return whole


def goal_of(urdf: Urdf, question: Json) -> Json:
    """A goal as it would be.

    Args:
        question: `joints`, `lower`, `upper`, `present` and `tool` as `Reach` (`tool` empty: the part has none);
            `q`, the part's joint positions; or `position` and `orientation` of the tool, None: as now, with `seed`
            and `quick`.

    Returns:
        `q`: the part's joint positions; `position`, `orientation`: the tool's pose there, None of a part without tool;
        `lacks`: [m, rad] to the pose that was asked for; `outside`: joints beyond their limits, which the goal has or
        would need: `joint`, its number; `value`, `lower`, `upper`.

    Raises:
        DefinitionError: the part cannot have such a goal.
    """
    lower, upper = question["lower"], question["upper"]
    reach = None
    if question["tool"]:
        reach = Reach(urdf, question["tool"], question["joints"], (lower, upper), question["present"])
    q, lacks, wanted = question.get("q"), np.zeros(2), np.zeros(0)
    beyond: list[int] = []
    if q is None:
        if reach is None:
            raise DefinitionError("a pose of the tool", expected="a part with a tool")
        now = reach.pose([question["present"][name] for name in question["joints"]])
        position, orientation = (
            np.array(given if given is not None else usual, float)
            for given, usual in zip((question["position"], question["orientation"]), now, strict=True)
        )
        q, lacks, beyond, wanted = reach.search(
            position, orientation / np.linalg.norm(orientation), question["seed"], quick=question["quick"]
        )
    else:
        beyond = [j for j, value in enumerate(q) if not lower[j] <= value <= upper[j]]
        wanted = np.array([q[j] for j in beyond])
    pose = (None, None) if reach is None else tuple(each.tolist() for each in reach.pose(q))
    return {
        "q": [float(value) for value in q],
        "position": pose[0],
        "orientation": pose[1],
        "lacks": lacks.tolist(),
        "outside": [
            {"joint": j, "value": float(value), "lower": float(lower[j]), "upper": float(upper[j])}
            for j, value in zip(beyond, wanted, strict=True)
        ],
    }


class _Answers:
    """Keeps the URDF of the last question."""

    def __init__(self) -> None:
        self._description = ""
        self._urdf: Urdf | None = None

    def __call__(self, question: Json) -> Json:
        """As `goal_of`; `description`: None, if it is the last one. Without one, `lacks_description` is the answer."""
        if question["description"] is not None:
            self._urdf = parse_urdf(question["description"].encode(), Path("robot_description"))
        if self._urdf is None:
            return {"lacks_description": True}
        return goal_of(self._urdf, question)


def _answer(question: Json) -> Json:
    return _ANSWERS(question)


_ANSWERS = _Answers()

if __name__ == "__main__":
    answer(_answer)
