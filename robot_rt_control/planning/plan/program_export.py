"""A plan as a program: to its first point, the push, and what it found in the end.

    approach → push → judge → done           the body is at the target
      │         │       └───→ missed         it is elsewhere
      ├─────────┴───────────→ slowed         speed override below that at which the plan's replay held
      ├─────────┴───────────→ failed         too late, too far from the path, or the body's pose is unknown
      └─────────────────────→ object_moved   before the push, the body was not where it was planned to be

With several parts each state has an action for each of them: `push_left`, `push_right`; they begin in one tick.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from robot_rt_control.definitions.definitions import (
    ActionDefinition,
    ParameterValue,
    ProgramDefinition,
    ReactionDefinition,
)
from robot_rt_control.planning.plan.plan import Plan
from robot_rt_control.planning.plan.verdict import MEASURED_DISTANCE
from robot_rt_control.program.file import dump_program
from robot_rt_control.vocabulary.errors import DefinitionError

POSE_VALUES = ("x", "y", "z", "qx", "qy", "qz", "qw")
"""Values of a sensor part that measures the body's pose: [m] in the world, and a unit quaternion."""
EXITS = ("done", "missed", "object_moved", "slowed", "failed")
_APPROACH_TIME = 60.0
"""[s] at most,"""
_PUSH_TIME = 5.0
"""[s] at most, beyond the plan's own."""
_JUDGE_TIME = 0.5
"""[s] from the robot's rest until the body is looked at."""
_FAR = 0.1
"""[rad or m] from the path: something holds the robot."""


def export_program(
    plan: Plan, *, name: str = "push", sensor: str = "", unverified: bool = False, feedback: bool = True
) -> str:
    """The YAML text of the program; see `program_of`."""
    return dump_program(program_of(plan, name=name, sensor=sensor, unverified=unverified, feedback=feedback))


def program_of(
    plan: Plan, *, name: str = "push", sensor: str = "", unverified: bool = False, feedback: bool = True
) -> ProgramDefinition:
    """The program.

    Args:
        name: of the program.
        sensor: part of kind `sensor` whose values x, y, z, qx, qy, qz, qw are the body's pose in the world. Empty:
            nothing tells where the body is, and the exits `object_moved` and `missed` do not exist.
        unverified: see `Plan.check_verified`.
        feedback: whether the plan's feedback, if it has any, leads the push by the sensor.

    Raises:
        DefinitionError: the plan is not verified, it cannot be played, or `name` is not valid.
    """
    plan.check_verified(unverified=unverified)
    if "." in sensor:
        raise DefinitionError("export, sensor", expected="the name of a part of kind `sensor`", got=repr(sensor))
    return _Export(plan, sensor, feedback).program(name)


class _Export:
    def __init__(self, plan: Plan, sensor: str, feedback: bool) -> None:
        self.plan, self.sensor, self.parts = plan, sensor, plan.parts
        self.led_by = sensor if feedback and plan.feedback is not None else ""

    def program(self, name: str) -> ProgramDefinition:
        exits = EXITS if self.sensor else ("done", "slowed", "failed")
        actions = [*self._approach(), *self._push(), *self._judge()]
        for exit in exits:
            actions += self._exit(exit)
        return ProgramDefinition(name=name, start=tuple(self._ids("approach")), actions=tuple(actions))

    def _ids(self, state: str) -> list[str]:
        return [state] if len(self.parts) == 1 else [f"{state}_{part}" for part in self.parts]

    def _all(self, ids: Sequence[str], variable: str) -> str:
        return " and ".join(f"{id}.{variable}" for id in ids)

    def _to(self, state: str, when: str) -> ReactionDefinition:
        """To a state; to an exit with its event, as a run may end in the tick in which that is entered."""
        if state not in EXITS:
            return ReactionDefinition(condition=when, start=tuple(self._ids(state)))
        capture = tuple(f"{self.sensor}.{value}" for value in POSE_VALUES) if self.sensor else ()
        return ReactionDefinition(condition=when, start=tuple(self._ids(state)), event=state, capture=capture)

    @property
    def _slowed(self) -> ReactionDefinition:
        return self._to("slowed", f"speed < {min(self.plan.speeds, default=1.0):g}")

    def _approach(self) -> list[ActionDefinition]:
        ids = self._ids("approach")
        there = self._all(ids, "is_settled")
        reactions = [self._slowed, self._to("failed", "timed_out")]
        if self.sensor:
            at = self._is_at(0)
            reactions += [
                self._to("failed", f"{there} and ({self._unknown})"),
                self._to("object_moved", f"{there} and not ({at})"),
                self._to("push", f"{there} and {at}"),
            ]
        else:
            reactions.append(self._to("push", there))
        return [
            ActionDefinition(
                id=id,
                type="move_joint",
                parts=(part,),
                parameters=(ParameterValue(name="position", value=_rounded(self.plan.start_joints(part))),),
                # One decides for all: the others would fire in the same tick.
                reactions=tuple(reactions) if id == ids[0] else (),
                time_limit=_APPROACH_TIME if id == ids[0] else None,
            )
            for id, part in zip(ids, self.parts, strict=True)
        ]

    def _push(self) -> list[ActionDefinition]:
        actions, last = self.plan.actions("push", self.led_by), self.plan.last("push")
        there = self._all(last, "is_settled")
        found = []
        for action in actions:
            reactions = list(action.reactions)
            limit = None
            parts = action.parts.values() if isinstance(action.parts, Mapping) else action.parts
            if self.parts[0] in parts:
                reactions = [self._slowed, self._to("failed", f"tracking_error > {_FAR:g}"), *reactions]
                if action.id in last:
                    limit = self.plan.header["time"] + _PUSH_TIME
                    reactions += [self._to("judge", there), self._to("failed", "timed_out")]
            values = tuple(ParameterValue(name=p.name, value=_rounded(p.value)) for p in action.parameters)
            found.append(replace(action, parameters=values, reactions=tuple(reactions), time_limit=limit))
        return found

    def _judge(self) -> list[ActionDefinition]:
        ids = self._ids("judge")
        later = f"elapsed > {_JUDGE_TIME:g}"
        if self.sensor:
            at = self._is_at(-1)
            reactions = [
                self._to("failed", f"{later} and ({self._unknown})"),
                self._to("missed", f"{later} and not ({at})"),
                self._to("done", f"{later} and {at}"),
            ]
        else:
            reactions = [self._to("done", later)]
        return [
            ActionDefinition(id=id, type="hold", parts=(part,), reactions=tuple(reactions) if id == ids[0] else ())
            for id, part in zip(ids, self.parts, strict=True)
        ]

    def _exit(self, exit: str) -> list[ActionDefinition]:
        ids = self._ids(exit)
        reactions: tuple[ReactionDefinition, ...] = ()
        if len(ids) > 1:  # one exit for a program that uses this one; of one part it is the state's own name
            reactions = (ReactionDefinition(condition=self._all(ids, "is_done"), stop=True, event=exit),)
        return [
            ActionDefinition(id=id, type="stop", parts=(part,), reactions=reactions, final=True)
            for id, part in zip(ids, self.parts, strict=True)
        ]

    # --- the body -------------------------------------------------------------------------------

    @property
    def _unknown(self) -> str:
        return " or ".join(f"is_unknown({self.sensor}.{value})" for value in POSE_VALUES)

    def _is_at(self, i: int) -> str:
        """Condition: the body is where it is planned to begin (0), or at the target (-1)."""
        plan, free = self.plan, self.plan.header.get("free", ())
        if i == 0:
            pose, free = plan.start_pose, ()
            position, turn = plan.body_tolerances(bool(self.led_by))
        else:
            pose = plan.target
            position, turn = max(plan.tolerance.position, MEASURED_DISTANCE), plan.tolerance.orientation
        axes = [axis for axis in ("x", "y", "z") if axis not in free]
        near = [f"abs({self._less(axis, pose.position['xyz'.index(axis)])}) < {position:.6g}" for axis in axes]
        if not {"rx", "ry", "rz"} & set(free):
            # Both signs of a quaternion are the same orientation; half an angle is in its elements.
            alike = [self._alike(pose.orientation, sign, math.sin(turn / 2.0)) for sign in (1.0, -1.0)]
            near.append(f"(({alike[0]}) or ({alike[1]}))")
        return " and ".join(near) or "true"

    def _alike(self, quaternion: Sequence[float], sign: float, most: float) -> str:
        elements = zip(POSE_VALUES[3:], quaternion, strict=True)
        return " and ".join(f"abs({self._less(name, sign * value)}) < {most:.6g}" for name, value in elements)

    def _less(self, name: str, value: float) -> str:
        value = round(value, 6)
        variable = f"{self.sensor}.{name}"
        return variable if value == 0.0 else f"{variable} {'-' if value > 0.0 else '+'} {abs(value):.6g}"


def _rounded(values: Any) -> Any:
    """To 1e-9, which nothing notices and a reader does."""
    return tuple(round(value, 9) + 0.0 for value in values) if isinstance(values, list | tuple) else values
