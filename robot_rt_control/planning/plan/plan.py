"""A plan as numbers and a header, in a file that is read without the simulator and without the compiler.

The file is a NumPy archive: the arrays by name, and `header`, JSON in bytes. The same plan gives the same bytes.
"""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.definitions.definitions import ActionDefinition, ParameterValue, ReactionDefinition
from robot_rt_control.model.rotation_formulas import angle_between, vector_of_rotation
from robot_rt_control.planning.plan.feedback import NAMES, Feedback
from robot_rt_control.planning.plan.verdict import Tolerance, lacking, refusal, tolerance_of
from robot_rt_control.vocabulary.capacities import MAX_TRAJECTORY_POINTS
from robot_rt_control.vocabulary.errors import DefinitionError, raise_all, unknown
from robot_rt_control.vocabulary.private_files import private

if TYPE_CHECKING:
    from robot_rt_control.model.pose import Pose

Array = NDArray[np.float64]

FORMAT = 2
LIMITS = ("lower", "upper", "velocity", "acceleration", "effort")
"""Limits of each joint, in the header."""
_ARRAYS = (
    "position", "velocity", "inputs", "body_position", "body_rotation", "distance",
    "stiffness", "virtual_force", "virtual_distance",
)  # fmt: skip
_FEEDBACK = "feedback_"
"""Begins the names of the arrays of a plan with feedback."""

JOINT_TOLERANCE = 0.02
"""[rad or m] from the first point, as `track_trajectory` allows."""
BODY_TOLERANCE = 0.005
"""[m]"""
TURN_TOLERANCE = math.radians(2.0)
"""[rad]"""
LED_TOLERANCE, LED_TURN_TOLERANCE = 0.015, math.radians(6.0)
"""[m], [rad] The same for a motion that the body's pose leads."""
LEAST_WAY = 0.01
"""[m] A position error is normalized by at least this."""
_BRAKING = 0.9
"""Largest fraction of the acceleration limit."""
_POINTS_PER_ACTION = MAX_TRAJECTORY_POINTS


@dataclass(frozen=True, kw_only=True)
class PoseDifference:
    """Between where the body is and its target."""

    position: float
    """[m]"""
    normalized: float
    """Per way from the planned start to the target."""
    orientation: float
    """[rad]"""


@dataclass(frozen=True, kw_only=True, eq=False)
class Plan:
    """A motion without virtual forces, at the N + 1 ends of its control steps."""

    header: dict[str, Any]
    """format, workcell (its digest), task (its digest), body, joints, velocity_driven, tools (part → tool), limits,
    pairs, time [s], steps,
    success (in the planner's engine), position_error [m], normalized_error (per `way`), orientation_error [rad],
    target (position [m], quaternion x y z w), free (coordinates of the target that do not count), way [m],
    offset (of the body in the planner's engine where it is at its target: pressed into the ground, aimed; [m]),
    tolerance (of the task: position [m], orientation [rad], speed [m/s]),
    convergence (of each iterate: penalty ω, normalized_error, orientation_error [rad], stiffness_average and
    stiffness_greatest, both scaled, accepted), versions (of MuJoCo, PIQP, NumPy); verification, see verify.py."""
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
    feedback: Feedback | None = None
    """Of the body's measured pose; None: it is the same motion wherever the body is."""

    def save(self, file: Path | str) -> None:
        """Write it, under exactly this name, for this user alone."""
        header = np.frombuffer(json.dumps(self.header, sort_keys=True).encode(), dtype=np.uint8)
        with open(file, "wb", opener=private) as stream:
            own = {} if self.feedback is None else {_FEEDBACK + name: getattr(self.feedback, name) for name in NAMES}
            np.savez(stream, header=header, **{name: getattr(self, name) for name in _ARRAYS}, **own)

    def with_verification(self, verification: Mapping[str, Any]) -> Plan:
        """The same plan with what a verification found, see verify.py; it replaces an earlier one."""
        return replace(self, header={**self.header, "verification": dict(verification)})

    def with_replays(self, replays: Iterable[Mapping[str, Any]]) -> Plan:
        """The plan with replays of testing/plan_replay.py, each `Replay.summary()`; they replace earlier ones.

        They are `replays` in the verification; `speeds` are those at which the body came to its target within the
        task's tolerance, and to rest, if the task asks for that.
        """
        rows, tolerance = [dict(row) for row in replays], self.tolerance
        speeds = sorted({row["speed"] for row in rows if tolerance.holds(row, at_rest=self.at_rest)})
        return self.with_verification({**self.header.get("verification", {}), "replays": rows, "speeds": speeds})

    # --- what it is made of ---------------------------------------------------------------------

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts that it drives, in the order of its joints."""
        return tuple(dict.fromkeys(name.partition(".")[0] for name in self.header["joints"]))

    @property
    def tools(self) -> dict[str, str]:
        """Part → the tool that it is made for, of the parts that list tools."""
        return dict(self.header.get("tools", {}))

    @property
    def at_rest(self) -> bool:
        """Whether the body must be at rest at the end."""
        return bool(self.header.get("at_rest", True))

    @property
    def start_pose(self) -> Pose:
        """X_WB of the body before the motion."""
        return self._pose(0)

    @property
    def end_pose(self) -> Pose:
        """X_WB of the body at the end, as planned; the target may differ."""
        return self._pose(-1)

    @property
    def target(self) -> Pose:
        """X_WB that the task asks for."""
        from robot_rt_control.model.pose import Pose  # it brings pydantic, which a plan's file does not need

        position, orientation = self.header["target"]
        return Pose(position=position, orientation=orientation)

    @property
    def braking(self) -> int:
        """Control steps in which the velocities that are left at its end become 0, at constant acceleration."""
        step, limits = self.header["time"] / self.header["steps"], self.header.get("limits", {}).get("acceleration")
        if limits is None:
            return 1
        return braking_steps(self.velocity[-1], np.array(limits), step)

    @property
    def speeds(self) -> tuple[float, ...]:
        """Speed overrides at which its replay held, in ascending order: empty if none did; 1 if none was tried."""
        return tuple(sorted(self.header.get("verification", {}).get("speeds", (1.0,))))

    @property
    def tolerance(self) -> Tolerance:
        """What its task accepts at the end."""
        return tolerance_of(self.header, self.way)

    @property
    def lacking(self) -> list[str]:
        """Why it is not verified; empty: it is."""
        return lacking(self.header, self.tolerance)

    def check_verified(self, *, unverified: bool = False) -> None:
        """Refuse to play it, unless it is verified.

        Args:
            unverified: a plan that reaches its target in the planner's engine alone will do.

        Raises:
            DefinitionError: with what is missing.
        """
        if not self.header.get("success") or (self.lacking and not unverified):
            raise refusal(self.header, self.lacking)

    def start_joints(self, part: str) -> list[float]:
        """[rad or m] where a part must be before the motion."""
        return [float(q) for q in self.position[0, self._joints_of(part)]]

    def error_of(self, position: Array, rotation: Array) -> PoseDifference:
        """How far the body at p_WB (3,) and R_WB (3, 3) is from the target, in the coordinates that count."""
        target, free = self.target, self.header.get("free", ())
        turned = np.array([axis not in free for axis in ("rx", "ry", "rz")])
        error = self._distance(position)
        turn = float(np.linalg.norm(vector_of_rotation(rotation.T @ target.matrix[:3, :3])[turned]))
        return PoseDifference(position=error, normalized=error / self.way, orientation=turn)

    @property
    def way(self) -> float:
        """[m] from the start to the target, at least 1 cm: what position errors are normalized by."""
        return float(self.header.get("way", 0.0)) or max(self._distance(self.body_position[0]), LEAST_WAY)

    def _distance(self, position: Array) -> float:
        """[m] to the target, in the coordinates that count."""
        return distance_to(self.header["target"][0], position, self.header.get("free", ()))

    def rest(self, elapsed: float) -> Plan:
        """What is left of it after a time [s], from the control step in which that is; at least its last step."""
        i = min(int(elapsed / self.header["time"] * self.header["steps"] + 1e-9), self.header["steps"] - 1)
        if i <= 0:
            return self
        left = self.header["steps"] - i
        header = {**self.header, "steps": left, "time": self.header["time"] * left / self.header["steps"]}
        for of_all in ("verification", "way"):
            header.pop(of_all, None)
        return replace(self, header=header, feedback=None, **{name: getattr(self, name)[i:] for name in _ARRAYS})

    def _pose(self, i: int) -> Pose:
        from robot_rt_control.model.pose import Pose

        X = np.eye(4)
        X[:3, :3], X[:3, 3] = self.body_rotation[i], self.body_position[i]
        return Pose.of_matrix(X)

    def _joints_of(self, part: str) -> list[int]:
        own = [i for i, name in enumerate(self.header["joints"]) if name.partition(".")[0] == part]
        if not own:
            raise DefinitionError(f"plan, part {part!r}", expected=unknown("part", part, self.parts))
        return own

    # --- what may move --------------------------------------------------------------------------

    def check_start(
        self,
        *,
        workcell: int | None = None,
        tools: Mapping[str, str] | None = None,
        joints: Mapping[str, Sequence[float]] | None = None,
        body: Pose | None = None,
        speed: float | None = None,
        led: bool = False,
        joint_tolerance: float = JOINT_TOLERANCE,
    ) -> None:
        """Refuse a start for which this plan was not made. What is not given is not checked.

        Args:
            workcell: digest of the running one.
            tools: part → the tool that is on.
            joints: part → [rad or m] measured positions.
            body: X_WB as measured.
            speed: override.
            led: whether feedback of the body's pose leads the motion: then the body may be farther off.
            joint_tolerance: [rad or m] of each joint.

        Raises:
            DefinitionError: with all that differs: which digest, joint, distance, speed.
        """
        tolerances = self.body_tolerances(led)
        raise_all(
            [
                *self._other_workcell(workcell),
                *self._other_tools(tools),
                *self._other_joints(joints or {}, joint_tolerance),
                *self._other_body(body, *tolerances),
                *self._other_speed(speed),
            ]
        )

    def body_tolerances(self, led: bool) -> tuple[float, float]:
        """[m], [rad] How far the body may be from the planned start, if feedback leads the motion, or not."""
        if not led or self.feedback is None:
            return BODY_TOLERANCE, TURN_TOLERANCE
        return max(BODY_TOLERANCE, min(LED_TOLERANCE, float(self.feedback.bounds[0]))), LED_TURN_TOLERANCE

    def _other_workcell(self, digest: int | None) -> Iterable[DefinitionError]:
        if digest is not None and digest != self.header["workcell"]:
            yield DefinitionError(
                "plan: the workcell",
                expected=f"that of the plan, digest {self.header['workcell']:x}",
                got=f"another one, digest {digest:x}",
                hint="Plan again for this workcell",
            )

    def _other_tools(self, tools: Mapping[str, str] | None) -> Iterable[DefinitionError]:
        for part, tool in self.tools.items() if tools is not None else ():
            if tools is not None and tools.get(part, "") != tool:
                yield DefinitionError(
                    f"plan: the tool of part {part!r}",
                    expected=f"{tool!r}, for which it was made",
                    got=repr(tools.get(part, "")),
                    hint="Change the tool, or plan again with `tools` in the task",
                )

    def _other_joints(self, joints: Mapping[str, Sequence[float]], tolerance: float) -> Iterable[DefinitionError]:
        for part, measured in joints.items():
            own = self._joints_of(part)
            if len(measured) != len(own):
                yield DefinitionError(f"plan, part {part!r}", expected=f"{len(own)} joints", got=str(len(measured)))
                continue
            for i, value in zip(own, measured, strict=True):
                planned = float(self.position[0, i])
                if not abs(value - planned) <= tolerance:  # also if unknown
                    yield DefinitionError(
                        f"plan, joint {self.header['joints'][i]!r} at the start",
                        expected=f"{planned:.4f}, within {tolerance:g}",
                        got=_number(value, "", 4),
                        hint="Move it there first, such as by move_joint",
                    )

    def _other_body(self, body: Pose | None, tolerance: float, turn_tolerance: float) -> Iterable[DefinitionError]:
        if body is None:
            return
        what = f"plan, body {self.header['body']!r} at the start"
        hint = "Plan again from where it is"
        distance = float(np.linalg.norm(np.array(body.position) - self.body_position[0]))
        if not distance <= tolerance:
            expected = f"within {1e3 * tolerance:g} mm of the planned position"
            yield DefinitionError(what, expected=expected, got=_number(1e3 * distance, " mm", 1), hint=hint)
        turn = angle_between(body.matrix[:3, :3], self.body_rotation[0])
        if not turn <= turn_tolerance:
            expected = f"within {turn_tolerance:.3f} rad of the planned orientation"
            yield DefinitionError(what, expected=expected, got=_number(turn, " rad", 3), hint=hint)

    def _other_speed(self, speed: float | None) -> Iterable[DefinitionError]:
        if speed is None:
            return
        if not self.speeds:
            hint = "Plan again, slower, so that it ends at its target in another engine as well"
            expected = "one at which its replay held"
            yield DefinitionError("plan, speed override", expected=expected, got="none", hint=hint)
        elif not speed >= (least := self.speeds[0]) - 1e-9:
            yield DefinitionError(
                "plan, speed override",
                expected=f"at least {least:g}, the slowest at which its replay held",
                got=_number(speed, "", 2),
                hint="A slower push is another push: plan one with a longer horizon",
            )

    # --- as actions -----------------------------------------------------------------------------

    def actions(self, name: str = "push", pose: str = "") -> list[ActionDefinition]:
        """Actions for `session.add`; start those of `first(name)` together.

        One `track_trajectory` for each part, called `name`, or `name_part` if there are several. A trajectory with
        more points than one action takes continues in `…_2`, …: each overlaps the one before by a piece, and a reaction
        starts it there, so that the motion does not wait for an end.

        Args:
            name: of the first one.
            pose: part of kind sensor that measures the body: of a plan with feedback there is one `track_with_pose`,
                whose second part it is. Empty, or without feedback: the same motion wherever the body is.

        Raises:
            DefinitionError: the plan cannot be played.
        """
        if not pose or self.feedback is None:
            return self._actions(name, self._parameters)
        (part,) = self.parts
        parameters = {**self.track_parameters(part), **self.feedback.parameters(self._step, self._led_body())}
        values = tuple(ParameterValue(name=n, value=v) for n, v in parameters.items())
        slots = {"part": part, "pose": pose}
        return [ActionDefinition(id=name, type="track_with_pose", parts=slots, parameters=values)]

    @property
    def _step(self) -> float:
        """[s]"""
        return float(self.header["time"] / self.header["steps"])

    def _led_body(self) -> Array:
        """(N + 1, 3) x, y [m], turn about z [rad] of the body, where it is led to: to the target, without what the
        planner's engine differs by, which grows with the way."""
        offset = np.array(self.header.get("offset", (0.0, 0.0, 0.0)))[:2]
        moved = np.linalg.norm(self.body_position[:, :2] - self.body_position[0, :2], axis=1)
        share = np.minimum(moved / max(float(moved[-1]), LEAST_WAY), 1.0)
        turn = np.unwrap(np.arctan2(self.body_rotation[:, 1, 0], self.body_rotation[:, 0, 0]))
        return np.column_stack([self.body_position[:, :2] - share[:, None] * offset, turn])

    def retreat(self, name: str = "back", ends: Mapping[str, Sequence[float]] | None = None) -> list[ActionDefinition]:
        """Actions that lead from the plan's end to its start, the way the robot came: started as those of `actions`.

        A straight way might take the body along.

        Args:
            name: of the first one.
            ends: part → [rad or m] where it is, if feedback led it beside the plan's end: the difference vanishes on
                the way back.
        """
        return self._actions(name, lambda part: self._reversed(part, (ends or {}).get(part)))

    def _actions(self, name: str, parameters_of: Callable[[str], dict[str, Any]]) -> list[ActionDefinition]:
        found = []
        for part, first in zip(self.parts, self.first(name), strict=True):
            pieces = _split(parameters_of(part), len(self._joints_of(part)))
            ids = [first, *(f"{first}_{i}" for i in range(2, len(pieces) + 1))]
            for id, following, parameters in zip(ids, [*ids[1:], ""], pieces, strict=True):
                then = _when(parameters["times"][-2], following) if following else ()
                found.append(
                    ActionDefinition(
                        id=id,
                        type="track_trajectory",
                        parts=(part,),
                        parameters=(
                            *(ParameterValue(name=n, value=v) for n, v in parameters.items()),
                            ParameterValue(name="slowest", value=1.0),  # all parts keep the same time
                        ),
                        reactions=then,
                    )
                )
        return found

    def _reversed(self, part: str, end: Sequence[float] | None) -> dict[str, Any]:
        forth, joints = self.track_parameters(part), len(self._joints_of(part))
        times = forth["times"][-1] - np.array(forth["times"])[::-1]
        q, v = (np.array(forth[name]).reshape(-1, joints)[::-1] for name in ("positions", "velocities"))
        v = 0.0 - v
        if end is not None:
            x = (times / times[-1])[:, None]
            beside = np.array(end) - q[0]
            q = q + (1.0 - x * x * (3.0 - 2.0 * x)) * beside
            v = v - 6.0 * x * (1.0 - x) / times[-1] * beside
        return {"times": times.tolist(), "positions": q.ravel().tolist(), "velocities": v.ravel().tolist()}

    def _parameters(self, part: str) -> dict[str, Any]:
        """By efforts with feedback if they drive the part in the plan, else by positions.

        There is one effort for each control step. The feedback leads the joints to where the efforts brought them in
        the plan. A last piece of one more control step, without efforts, brings them to rest.
        """
        driven, own = self.header.get("velocity_driven"), self._joints_of(part)
        if driven is None or any(driven[i] for i in own):
            return self.track_parameters(part)
        efforts = np.concatenate([self.inputs[:, own], np.zeros((1, len(own)))])
        return {**self._track(part, 1), "mode": "effort", "efforts": efforts.ravel().tolist(), "gravity": True}

    def first(self, name: str = "push") -> list[str]:
        """Ids of the actions that start, all in one tick: one for each part."""
        return [name] if len(self.parts) == 1 else [f"{name}_{part}" for part in self.parts]

    def last(self, name: str = "push") -> list[str]:
        """Ids of the actions that end the motion: one for each part."""
        found = {action.parts: action.id for action in self.actions(name)}
        return list(found.values())

    def track_parameters(self, part: str) -> dict[str, list[float]]:
        """Parameters of `track_trajectory` for a part: one cubic piece for each control step.

        A last piece brings the joints to rest, in `braking` control steps. For a part driven by efforts these are the
        positions and velocities that the efforts led to.

        Raises:
            DefinitionError: the plan does not have the part.
        """
        return self._track(part, self.braking)

    def _track(self, part: str, braking: int) -> dict[str, list[float]]:
        own = self._joints_of(part)
        step = self.header["time"] / self.header["steps"]
        position, velocity = self.position[:, own], self.velocity[:, own]
        times = [step * i for i in range(len(position))]
        times.append(step * (len(position) - 1 + braking))
        position = np.concatenate([position, position[-1:] + 0.5 * step * braking * velocity[-1:]])
        velocity = np.concatenate([velocity, np.zeros_like(velocity[:1])])
        return {
            "times": times,
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
            with Path(file).open("rb") as stream:
                if not zipfile.is_zipfile(stream):  # of such a file, NumPy says how to load it unsafely
                    raise zipfile.BadZipFile("it is no archive")
            with np.load(file, allow_pickle=False) as archive:
                header = json.loads(archive["header"].tobytes())
                arrays = {name: np.array(archive[name], dtype=float) for name in _ARRAYS}
                feedback = None
                if any(name.startswith(_FEEDBACK) for name in archive.files):
                    feedback = Feedback(**{n: np.array(archive[_FEEDBACK + n], dtype=float) for n in NAMES})
        except FileNotFoundError:
            raise DefinitionError(what, expected="a file", got="nothing there") from None
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as failure:
            raise DefinitionError(what, expected="a plan file", got=f"a damaged one: {failure}") from None
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            got = header.get("format") if isinstance(header, dict) else header
            raise DefinitionError(what, expected=f"format {FORMAT}", got=str(got), hint="Plan again")
        result = cls(header=header, feedback=feedback, **arrays)
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
        if self.feedback is not None and (misfit := self.feedback.misfit(steps, joints)):
            raise DefinitionError(f"{what}: feedback", expected="tables that fit the plan", got=misfit)


def braking_steps(velocity: Array, acceleration: Array, step: float) -> int:
    """Control steps [s] in which velocities (n,) become 0, within limits (n,) of acceleration."""
    return max(1, math.ceil(float(np.max(np.abs(velocity) / acceleration)) / (_BRAKING * step)))


def distance_to(target: Sequence[float], position: Array, free: Container[str]) -> float:
    """[m] to a target's position, without its free coordinates."""
    counts = np.array([axis not in free for axis in ("x", "y", "z")])
    return float(np.linalg.norm((position - np.array(target))[counts]))


def _number(value: float, unit: str, digits: int) -> str:
    return f"{value:.{digits}f}{unit}" if math.isfinite(value) else "unknown"


def _when(elapsed: float, start: str) -> tuple[ReactionDefinition]:
    # A microsecond early: sums of periods are rounded, and a whole tick would be lost.
    return (ReactionDefinition(condition=f"elapsed > {elapsed - 1e-6:.6f}", start=(start,)),)


def _split(parameters: Mapping[str, Any], joints: int) -> list[dict[str, Any]]:
    """Parameters of `track_trajectory` in parts that one action takes: each begins where the last piece of the one
    before does."""
    times = parameters["times"]
    pieces = []
    for start in range(0, max(len(times) - 2, 1), _POINTS_PER_ACTION - 2):
        stop = min(start + _POINTS_PER_ACTION, len(times))
        piece = {**parameters, "times": [t - times[start] for t in times[start:stop]]}
        for name in ("positions", "velocities"):
            piece[name] = parameters[name][joints * start : joints * stop]
        if "efforts" in parameters:  # one for each piece
            piece["efforts"] = parameters["efforts"][joints * start : joints * (stop - 1)]
        pieces.append(piece)
    return pieces
