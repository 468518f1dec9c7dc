"""Reads task files: everything is checked, all mistakes are reported at once, each with its line; nothing is computed.

    name: push_box
    workcell: push.yaml                          # beside the task, or one of the package: robot, limits, scene, start
    body: box                                    # the free body: an object of the scene, or a link that floats
    target: {by: [$distance, 0, 0]}              # or position and orientation; a coordinate may be `free`
    parts: {arm: {control: velocity}}            # optional: velocity is the default
    pairs:
      - {robot: arm.peg, faces: [back, left]}    # robot geometry x faces of the body
    horizon: {time: 1.5, steps: 30}              # [s]
    duration: {at_most: 6}                       # [s] optional: the planner may take longer than the horizon
    parameters: {distance: {unit: m, default: 0.2}}
    penalty: {iterations: 5}                     # optional: settings, see settings_keys.py

task_schema.py has all keys, program/expression.py the grammar of `$distance`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic_core import PydanticCustomError

from robot_rt_control.definitions.definitions import ParameterValue
from robot_rt_control.model.pose import Pose
from robot_rt_control.model.rotation_formulas import rotation_of_vector
from robot_rt_control.planning.files.possible import impossible
from robot_rt_control.planning.files.settings_keys import changed, optional_sections, task_settings
from robot_rt_control.planning.files.task_schema import FREE, PairKeys, TaskDocument, Written
from robot_rt_control.planning.optimise.settings import Settings
from robot_rt_control.planning.scene.task_cell import TaskCell, find_shipped
from robot_rt_control.planning.task import COORDINATES, TIME_STEP, PairGroup, Patch, Start, Task
from robot_rt_control.program.declarations import samples_of, values_of
from robot_rt_control.program.expression import KnownParameter, Result
from robot_rt_control.program.reader import declared_parameters
from robot_rt_control.program.substitution import Substitution
from robot_rt_control.text.document import Document, Step, read_text
from robot_rt_control.text.mistakes import Mistakes
from robot_rt_control.text.schema import read
from robot_rt_control.vocabulary.capacities import MAX_PROGRAM_BYTES
from robot_rt_control.vocabulary.errors import DefinitionError, raise_all, unknown

Array = NDArray[np.float64]
StartFrom = Literal["workcell", "measured", "given"]

UNITS = ("", "m", "rad", "s", "1/m", "N", "N/m", "m/s", "rad/s", "kg")
"""Units that a parameter of a task may have."""
_PLACEHOLDERS: Mapping[str, Any] = {
    "workcell": "",
    "body": "",
    "target": {"by": [0, 0, 0]},
    "pairs": [],
    "horizon": {"time": 1, "steps": 1},
}
"""In place of what cannot be read, so that the rest is checked."""


@dataclass(frozen=True, kw_only=True)
class Goal:
    """The target as the file says it, for any start of the body."""

    by: tuple[float, ...] | None
    turn: tuple[float, ...] | None
    in_body: bool
    """Whether `by` and `turn` are along the body's axes at its start."""
    position: tuple[float | None, ...] | None
    """None: as at the start."""
    orientation: tuple[float, ...] | None

    def pose(self, X_WB: Array) -> Pose:
        """X_WB at the end, of a body that starts at `X_WB` (4, 4)."""
        X, R = X_WB.copy(), X_WB[:3, :3]
        if self.by is not None:
            X[:3, 3] += R @ self.by if self.in_body else np.array(self.by)
        for i, value in enumerate(self.position or ()):
            X[i, 3] = X[i, 3] if value is None else value
        if self.turn is not None:
            X[:3, :3] = R @ rotation_of_vector(self.turn) if self.in_body else rotation_of_vector(self.turn) @ R
        if self.orientation is not None:
            x, y, z, w = self.orientation
            X[:3, :3] = Pose(orientation=(x, y, z, w)).matrix[:3, :3]
        return Pose.of_matrix(X)


@dataclass(frozen=True, kw_only=True)
class TaskFile:
    """The content of a task file, with values for its parameters."""

    task: Task
    """With the target for the start that the file has; `started` gives it for another one."""
    settings: Settings
    text: str
    start_from: StartFrom
    """`measured`: `task` starts where the workcell does, until `started` gets that place."""
    parameters: Mapping[str, KnownParameter]
    """With their defaults."""
    unused: tuple[str, ...]
    """Parameters that nothing refers to."""
    goal: Goal
    body_start: Pose
    """X_WB of the body in the workcell or, if the file gives it, there."""
    pose: str = ""
    """The part that measures where the body is; empty: none."""

    def started(self, start: Start) -> Task:
        """The task from another start, such as a measured one; a target by a way is that way from there."""
        body = self.body_start if start.body is None else start.body
        return replace(self.task, start=start, target=self.goal.pose(body.matrix))


def find_task(name: Path | str) -> Path:
    """The file of a task.

    Args:
        name: a path, or the name of a task that comes with the package.

    Raises:
        DefinitionError: there is none.
    """
    return find_shipped(name, Path(), "tasks")


def read_task(
    source: Path | str,
    parameters: Mapping[str, Any] | None = None,
    *,
    workcell: Path | None = None,
    sample: bool = False,
    units: Mapping[str, str] | None = None,
) -> TaskFile:
    """Read a task. Neither MuJoCo nor PIQP is needed.

    Args:
        source: path of a file, name of a task that comes with the package, or, if it has a line break, the YAML text.
        parameters: values of the task's parameters; the others take their defaults.
        workcell: its file, in place of what the task says.
        sample: parameters without default and value take samples: for a check before use.
        units: of values that came with one, by the parameter's name.

    Raises:
        DefinitionError: the only mistake, with its line; or a value has another unit than its parameter.
        ProgramError: several, by line.
        CapacityError: the text is too large.
    """
    if isinstance(source, str) and "\n" in source:
        text, folder, label = source, Path(), "task"
    else:
        file = find_task(source)
        text, folder, label = read_text(file, MAX_PROGRAM_BYTES), file.parent, file.name
    document = Document(text, label, max_bytes=MAX_PROGRAM_BYTES)
    return _TaskReader(document, folder, Path(label).stem, workcell).read(
        text, parameters or {}, sample=sample, units=units or {}
    )


class _TaskReader:
    """One reading of one task."""

    def __init__(self, document: Document, folder: Path, name: str, workcell: Path | None) -> None:
        self.document, self.folder, self.name, self._workcell = document, folder, name, workcell
        self.mistakes = Mistakes()
        content, found = read(TaskDocument, document, _PLACEHOLDERS)
        self.mistakes.errors += [error for error, _ in found]
        if content is None:
            self.mistakes.raise_all()
        self.content: Any = content
        self.unread = {str(path[0]) for _, path in found if path}
        """Keys at the top of which something could not be read."""
        self.cell: TaskCell | None = None
        self.body = ""
        """Empty: not a valid one."""

    @contextmanager
    def item(self, *path: Step) -> Iterator[None]:
        """Keeps a mistake of the item at this path."""
        with self.mistakes.collect(self.document, *path):
            yield

    def read(self, text: str, parameters: Mapping[str, Any], *, sample: bool, units: Mapping[str, str]) -> TaskFile:
        self._check_units(units)
        self.substitution = Substitution(self._values(parameters, sample), {})
        self._read_cell()
        self._check_body()
        patches = self._patches()
        pairs = self._pairs()
        controls = self._controls()
        tools = self._tools()
        time, steps = self._horizon()
        at_most = self._at_most(time)
        start, start_from = self._start()
        goal, free = self._goal()
        settings = self._settings()
        self.mistakes.raise_all()
        assert self.cell is not None  # else there was a mistake
        body_start = start.body or Pose.of_matrix(self.cell.start_of(self.body))
        task = Task(
            name=self.content.name or self.name,
            workcell=self.cell.workcell.path,
            start=start,
            body=self.body,
            target=goal.pose(body_start.matrix),
            free=free,
            pairs=pairs,
            patches=patches,
            controls=controls,
            tools=tools,
            time=time,
            steps=steps,
            at_most=at_most,
            at_rest=self.content.target.rest,
        )
        if start_from != "measured" and not self.substitution.is_sampled(frozenset(self.substitution.used)):
            for key, error in impossible(task, self.cell):
                with self.item(key):
                    raise error
            self.mistakes.raise_all()
        known = self.substitution.parameters
        return TaskFile(
            task=task,
            settings=settings,
            text=text,
            start_from=start_from,
            parameters=known,
            unused=tuple(name for name in known if name not in self.substitution.used),
            goal=goal,
            body_start=body_start,
            pose=self.content.start.pose,
        )

    # --- parameters and numbers -----------------------------------------------------------------

    def _check_units(self, units: Mapping[str, str]) -> None:
        """Before anything is computed: a value in millimetres is no target 100 m away."""
        declared = self.content.parameters
        own = {name: (declared[name].unit if declared[name] else "") or "" for name in units if name in declared}
        raise_all(
            DefinitionError(
                f"parameter {name!r}: wrong unit",
                expected=repr(own[name]),
                got=repr(unit),
                hint="Units are not converted",
            )
            for name, unit in units.items()
            if unit and name in own and unit != own[name]
        )

    def _values(self, given: Mapping[str, Any], sample: bool) -> dict[str, KnownParameter]:
        declared = declared_parameters(self.content.parameters, self.document, self.mistakes)
        for parameter in declared:
            if parameter.unit not in UNITS:
                with self.item("parameters", parameter.name, "unit"):
                    expected = unknown("unit", parameter.unit, [unit for unit in UNITS if unit])
                    raise DefinitionError(f"parameter {parameter.name!r}: unit", expected=expected, got=parameter.unit)
        values = [ParameterValue(name=n, value=tuple(v) if isinstance(v, list) else v) for n, v in given.items()]
        of = f"task {self.content.name or self.name!r}"
        found = samples_of(declared)  # also after a mistake, so that the rest is checked
        with self.item("parameters"):
            found |= values_of(declared, values, of=of, only_given=sample)
        return found

    def number(self, written: Written, of: str, unit: str = "") -> float:
        """The value of a number or expression.

        Raises:
            DefinitionError: it cannot be computed, is no number, or has another unit.
        """
        result = self.substitution.value(written, of)
        self._check_unit(result, of, unit)
        if isinstance(result.value, str | tuple | bool):
            raise DefinitionError(of, expected="a number", got=repr(result.value))
        return float(result.value)

    def _check_unit(self, result: Result, of: str, unit: str) -> None:
        if result.unit and result.unit != unit:
            names = ", ".join(f"${name}" for name in sorted(result.references))
            expected = repr(unit) if unit else "no unit"
            got = f"{names} in {result.unit!r}"
            raise DefinitionError(f"{of}: wrong unit", expected=expected, got=got, hint="Units are not converted")

    def numbers(
        self, written: str | tuple[Written, ...], of: str, unit: str = "", length: int = 0
    ) -> tuple[float, ...]:
        """The values of a list; of a coordinate that is FREE, NaN.

        Raises:
            DefinitionError: as from `number`, or another length.
        """
        if isinstance(written, str):
            result = self.substitution.value(written, of)
            self._check_unit(result, of, unit)
            if not isinstance(result.value, tuple) or (length and len(result.value) != length):
                expected = f"a parameter of length {length}" if length else "a parameter that is a list"
                raise DefinitionError(of, expected=expected, got=f"{written} = {result.value!r}")
            return tuple(float(value) for value in result.value)
        return tuple(math.nan if value == FREE else self.number(value, of, unit) for value in written)

    def in_range(self, value: float, of: str, *, above: float, unit: str) -> float:
        if not value > above:
            raise DefinitionError(of, expected=f"a number above {above:g} {unit}".rstrip(), got=f"{value:g}")
        return value

    # --- what the workcell has ------------------------------------------------------------------

    def _read_cell(self) -> None:
        if self._workcell is None and "workcell" in self.unread:
            return
        with self.item("workcell"):
            self.cell = TaskCell(self._workcell or find_shipped(self.content.workcell, self.folder))

    def _check_body(self) -> None:
        if self.cell is None or "body" in self.unread:
            return
        with self.item("body"):
            self.cell.check_body(self.content.body)
            self.body = self.content.body

    def _patches(self) -> tuple[Patch, ...]:
        found = []
        named = self.cell.face_names(self.body) if self.cell is not None and self.body in self.cell.objects else ()
        for name, keys in self.content.patches.items():
            of = f"patch {name!r}"
            with self.item("patches", name):
                if name in named:
                    raise DefinitionError(of, expected="a name that no face of the body has", got=repr(name))
                x, y, z = self.numbers(keys.position, f"{of}: position", "m", 3)
                orientation = self._quaternion(keys.orientation, f"{of}: orientation")
                a, b = self.numbers(keys.size, f"{of}: size", "m", 2)
                self.in_range(min(a, b), f"{of}: size", above=0.0, unit="m")
                found.append(Patch(name=name, pose=Pose(position=(x, y, z), orientation=orientation), size=(a, b)))
        return tuple(found)

    def _pairs(self) -> tuple[PairGroup, ...]:
        if not self.content.pairs and "pairs" not in self.unread:
            with self.item("pairs"):
                raise DefinitionError("pairs", expected="at least one contact pair", got="none")
        found = []
        for keys in self.content.pairs:
            found += self._pair(keys)
        return tuple(found)

    def _pair(self, keys: PairKeys) -> list[PairGroup]:
        """The pair, if it is valid."""
        found = []
        if self.cell is not None:
            with self.item(*keys.path, "robot"):
                self.cell.check_link(keys.robot)
        faces = []
        for i, face in enumerate(keys.faces):
            if self.cell is not None and self.body:
                with self.item(*keys.path, "faces", i):
                    faces.append(self.cell.check_face(face, self.body, self.content.patches))
        if len(set(faces)) < len(faces):
            with self.item(*keys.path, "faces"):
                raise DefinitionError("faces of a pair", expected="each once", got=", ".join(faces))
        with self.item(*keys.path, "curvature"):
            of = f"pair of {keys.robot!r}: curvature"
            curvature = self.in_range(self.number(keys.curvature, of, "1/m"), of, above=0.0, unit="1/m")
            found.append(PairGroup(robot=keys.robot, faces=tuple(faces), curvature=curvature))
        return found

    def _controls(self) -> dict[str, Any]:
        found = {}
        for part, keys in self.content.parts.items():
            found[part] = keys.control
            if self.cell is not None:
                with self.item("parts", part):
                    self.cell.check_control(part, keys.control)
        return found

    def _tools(self) -> dict[str, str]:
        found = {}
        for part, tool in self.content.tools.items():
            if self.cell is not None:
                with self.item("tools", part):
                    self.cell.workcell.part(part).tool_index(tool)
                    found[part] = tool
        return found

    def _start(self) -> tuple[Start, StartFrom]:
        keys = self.content.start
        given = bool(keys.joints) or keys.body is not None
        start_from: StartFrom = getattr(keys, "from") or ("given" if given else "workcell")
        if given and start_from != "given":
            with self.item("start", "from"):
                raise DefinitionError("start: from", expected="given, as joints or a body are given", got=start_from)
        joints = {}
        for part, written in keys.joints.items():
            with self.item("start", "joints", part):
                units = self.cell.parts[part].units if self.cell is not None and part in self.cell.parts else ()
                position = self.numbers(written, f"start of part {part!r}", units[0] if units else "")
                if self.cell is not None:
                    self.cell.check_joints(part, position)
                joints[part] = position
        if keys.pose and self.cell is not None:
            with self.item("start", "pose"):
                self.cell.check_pose_sensor(keys.pose)
        body = None
        if keys.body is not None:
            with self.item("start", "body"):
                x, y, z = self.numbers(keys.body.position, "start of the body: position", "m", 3)
                orientation = self._quaternion(keys.body.orientation, "start of the body: orientation")
                body = Pose(position=(x, y, z), orientation=orientation)
        return Start(joints=joints, body=body), start_from

    # --- what the task says itself --------------------------------------------------------------

    def _horizon(self) -> tuple[float, int]:
        time, steps = 1.0, 1
        keys = self.content.horizon
        with self.item("horizon", "time"):
            time = self.in_range(self.number(keys.time, "horizon: time", "s"), "horizon: time", above=0.0, unit="s")
        with self.item("horizon", "steps"):
            given = self.number(keys.steps, "horizon: steps")
            if given < 1 or given != int(given):
                raise DefinitionError("horizon: steps", expected="a whole number of at least 1", got=f"{given:g}")
            steps = int(given)
            count = time / steps / TIME_STEP
            if round(count) < 1 or abs(count - round(count)) > 1e-6:
                simulated = max(round(time / TIME_STEP), 1)
                near = min((n for n in range(1, simulated + 1) if simulated % n == 0), key=lambda n: abs(n - steps))
                raise DefinitionError(
                    "horizon: steps",
                    expected=f"control steps that are a multiple of the simulation's step of {1e3 * TIME_STEP:g} ms",
                    got=f"{time:g} s / {steps} = {1e3 * time / steps:.4g} ms",
                    hint=f"Such as {{time: {simulated * TIME_STEP:g}, steps: {near}}}",
                )
        return time, steps

    def _at_most(self, time: float) -> float | None:
        if self.content.duration is None:
            return None
        found = time
        with self.item("duration", "at_most"):
            of = "duration: at_most"
            found = self.number(self.content.duration.at_most, of, "s")
            if not (math.isfinite(found) and found >= time - 1e-9):
                raise DefinitionError(of, expected=f"at least the horizon's {time:g} s", got=f"{found:g} s")
        return found

    def _goal(self) -> tuple[Goal, frozenset[str]]:
        keys = self.content.target
        free = set(keys.free)
        by = turn = position = orientation = None
        with self.item("target"):
            for way, place in (("by", "position"), ("turn", "orientation")):
                if getattr(keys, way) is not None and getattr(keys, place) is not None:
                    raise DefinitionError("target", expected=f"{way} or {place}", got="both")
            if all(getattr(keys, name) is None for name in ("by", "turn", "position", "orientation")):
                raise DefinitionError("target", expected="by, turn, position or orientation", got="none of them")
        in_body = keys.frame == "body"
        if keys.by is not None:
            with self.item("target", "by"):
                by = self._freed(self.numbers(keys.by, "target: by", "m", 3), free, 0, in_body, "by")
        if keys.turn is not None:
            with self.item("target", "turn"):
                turn = self._freed(self.numbers(keys.turn, "target: turn", "rad", 3), free, 3, not in_body, "turn")
        if keys.position is not None:
            with self.item("target", "position"):
                numbers = self.numbers(keys.position, "target: position", "m", 3)
                self._freed(numbers, free, 0, False, "position")
                position = tuple(None if math.isnan(value) else value for value in numbers)
        if keys.orientation == FREE:
            free |= set(COORDINATES[3:])
        elif keys.orientation is not None:
            with self.item("target", "orientation"):
                orientation = self._quaternion(keys.orientation, "target: orientation")
        if len(free) == len(COORDINATES):
            with self.item("target"):
                raise DefinitionError("target", expected="at least one coordinate that counts", got="all are free")
        goal = Goal(by=by, turn=turn, in_body=in_body, position=position, orientation=orientation)
        return goal, frozenset(free)

    def _freed(
        self, values: tuple[float, ...], free: set[str], first: int, other_axes: bool, of: str
    ) -> tuple[float, ...]:
        """The values with 0 for free ones, which are added to `free`."""
        for i, value in enumerate(values):
            if math.isnan(value):
                if other_axes:
                    frame = "world" if of == "by" else "body"
                    expected = f"frame: {frame}, whose axes free coordinates of `{of}` have"
                    raise DefinitionError(f"target: {of}", expected=expected, got="another frame")
                free.add(COORDINATES[first + i])
        return tuple(0.0 if math.isnan(value) else value for value in values)

    def _quaternion(self, written: str | tuple[Written, ...], of: str) -> tuple[float, float, float, float]:
        numbers = self.numbers(written, of, "", 4) if written != FREE else (math.nan,)
        length = math.sqrt(sum(n * n for n in numbers))
        if len(numbers) != 4 or not abs(length - 1.0) <= 1e-3:
            got = "free" if written == FREE else f"{[round(n, 6) for n in numbers]}, of length {length:.4g}"
            raise DefinitionError(of, expected="a quaternion x, y, z, w of length 1 (within 0.001)", got=got)
        x, y, z, w = numbers
        return x, y, z, w

    def _settings(self) -> Settings:
        values: dict[tuple[str, ...], Any] = {}
        for section in optional_sections():
            for given in self._given(section.path):
                values[section.path] = given is not None
        for setting in task_settings():
            for value in self._given(setting.path):
                values[setting.path] = value
        for setting in task_settings():
            if setting.path not in values:
                continue
            value = values[setting.path]
            with self.item(*setting.path):
                if isinstance(value, str) and setting.is_computed:
                    value = self._computed_setting(setting, value)
                values[setting.path] = value
        for path in list(values):
            with self.item(*path):
                changed(Settings(), {path: values[path]})
        try:
            return changed(Settings(), values)
        except DefinitionError:
            self.mistakes.raise_all()
            raise

    def _given(self, path: tuple[str, ...]) -> Iterator[Any]:
        """The value of a settings' key, if the file has it."""
        branch: Any = self.content
        for step in path:
            if branch is None or step not in branch.model_fields_set:
                return
            branch = getattr(branch, step)
        yield branch

    def _computed_setting(self, setting: Any, text: str) -> Any:
        result = self.substitution.value(text, setting.name)
        if self.substitution.is_sampled(result.references):
            return setting.default
        try:
            return setting.check(result.value)
        except PydanticCustomError as error:
            expected = str((error.context or {}).get("expected"))
            raise DefinitionError(setting.name, expected=expected, got=f"{text} = {result.value!r}") from None
