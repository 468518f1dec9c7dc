"""A run of a workcell again, by the simulator alone: the same scene, the same commands, with the fewest calls."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Protocol
from unittest.mock import patch

import numpy as np

from robot_rt_control.hardware.lifecycle import HardwareLifecycle, load_plugin
from robot_rt_control.hardware.plugin import HardwareInfo
from robot_rt_control.vocabulary.part_kinds import JOINTED_KINDS


class Bare(Protocol):
    """A recorded run, by the simulator alone."""

    def run(self, steps: int) -> None:
        """The next periods: set what was commanded, step, and read the joints."""

    def step(self, steps: int) -> None:
        """As many steps of the simulation alone, in a world of its own, whose commands stay as they are."""

    def is_where(self, plugin: Any) -> bool:
        """Whether all joints are where those of the plugin are, bit by bit."""

    def close(self) -> None:
        """Release the worlds."""


_CHANGES = (
    "applyExternalForce",
    "changeConstraint",
    "changeVisualShape",
    "createConstraint",
    "removeConstraint",
    "setJointMotorControl2",
    "setJointMotorControlArray",
    "stepSimulation",
)
"""What changes a world in PyBullet once it is built."""
_QUERIES = ("getBasePositionAndOrientation", "getContactPoints", "getJointState", "getLinkState", "rayTest")
"""What sensors and inputs ask it."""
_DRIVES = "setJointMotorControlArray"
_ARGUMENTS = {
    _DRIVES: (
        "bodyUniqueId",
        "jointIndices",
        "controlMode",
        "targetPositions",
        "targetVelocities",
        "forces",
        "positionGains",
        "velocityGains",
        "physicsClientId",
    ),
    "stepSimulation": ("physicsClientId",),
}
"""Names of arguments that may be given by place, which is faster."""
_OF_JOINTS = ("jointIndices", "targetPositions", "targetVelocities", "forces", "positionGains", "velocityGains")


class Recorded:
    """What a plugin does with its simulator while it is recorded.

    Attributes:
        calls: of PyBullet: name, arguments, and arguments by name. Of MuJoCo: which rows of its constraints were
            written, their references, the other efforts in joints or None, and for soft surfaces that touch
            `efc_R`, `efc_D` and `contact.mu`, else None; and the rays.
        start: how many of them were before the run.
        rays: of MuJoCo: arguments of `mj_ray` since the last step.
    """

    def __init__(self) -> None:
        self.calls: list[Any] = []
        self.start = 0
        self.rays: list[tuple[Any, ...]] = []


@contextmanager
def recorded(engine: str) -> Iterator[Recorded]:
    """Record what a plugin does from its activation on, in a `with` statement around it."""
    found = Recorded()
    with ExitStack() as undo:
        if engine == "pybullet":
            import pybullet

            for name in _CHANGES + _QUERIES:
                undo.enter_context(patch.object(pybullet, name, _noted(found, name, getattr(pybullet, name))))
        else:
            import mujoco

            step1, step2 = _noted_rows(found, mujoco.mj_step1, mujoco.mj_step2)
            undo.enter_context(patch.object(mujoco, "mj_step1", step1))
            undo.enter_context(patch.object(mujoco, "mj_step2", step2))
            undo.enter_context(patch.object(mujoco, "mj_ray", _noted_rays(found, mujoco.mj_ray)))
        plugin: Any = load_plugin(engine)
        activate = plugin.on_activate

        def activated(self: Any) -> Any:
            result = activate(self)
            found.calls.clear()
            return result

        undo.enter_context(patch.object(plugin, "on_activate", activated))
        yield found


def _noted(found: Recorded, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def noted(*args: Any, **kwargs: Any) -> Any:
        names = _ARGUMENTS.get(name, ())[: len(args)]
        found.calls.append((name, args[len(names) :], dict(zip(names, args, strict=False)) | kwargs))
        return function(*args, **kwargs)

    return noted


def _noted_rows(
    found: Recorded, step1: Callable[..., None], step2: Callable[..., None]
) -> tuple[Callable[..., None], Callable[..., None]]:
    before = [np.zeros(0)]

    def noted1(model: Any, data: Any) -> None:
        step1(model, data)
        before[0] = data.efc_R.copy()

    def noted2(model: Any, data: Any) -> None:
        n_motors = np.count_nonzero(model.dof_frictionloss)
        rows, soft = slice(data.ne, data.ne + n_motors), None
        if not np.array_equal(before[0], data.efc_R):  # soft surfaces touch
            rows = slice(data.nefc)
            soft = data.efc_R.copy(), data.efc_D.copy(), data.contact.mu.copy()
        applied = data.qfrc_applied.copy() if data.qfrc_applied.any() else None
        found.calls.append((rows, data.efc_aref[rows].copy(), applied, soft, list(found.rays)))
        found.rays.clear()
        step2(model, data)

    return noted1, noted2


def _noted_rays(found: Recorded, function: Callable[..., float]) -> Callable[..., float]:
    def noted(model: Any, data: Any, point: Any, direction: Any, *rest: Any) -> float:
        found.rays.append((np.array(point), np.array(direction), *rest))
        return function(model, data, point, direction, *rest)

    return noted


def bare(engine: str, info: HardwareInfo, plugin: Any, run: Recorded) -> Bare:
    """The run again, from where it began.

    Args:
        info: the device.
        plugin: that of the same run, where it has come to the same place.
    """
    if engine == "pybullet":
        return BarePyBullet(info, run)
    return BareMujoco(plugin.world, run)


def _active(info: HardwareInfo) -> HardwareLifecycle:
    found = HardwareLifecycle(load_plugin("pybullet")(), info)
    found.configure()
    found.activate()
    return found


class BarePyBullet:
    """One call for the drives of a body if these are in one mode, the step, what sensors and inputs ask, each question
    once, and one call that reads the joints of a body."""

    def __init__(self, info: HardwareInfo, run: Recorded) -> None:
        import pybullet

        self._step, self._states = pybullet.stepSimulation, pybullet.getJointStates
        self._lives = [_active(info), _active(info)]
        plugins: list[Any] = [life.plugin for life in self._lives]  # PyBullet's, which have a world
        worlds = [plugin.world for plugin in plugins]
        self._client, self._alone = (world.client for world in worlds)
        self._substeps = worlds[0].substeps
        of_body: dict[int, list[int]] = {}
        for part in info.parts:
            if part.kind in JOINTED_KINDS:
                robot = worlds[0].robot(part.name, "bench")
                of_body.setdefault(robot.body, []).extend(robot.joint(name, "bench") for name in part.joint_names)
        self._bodies = [(body, tuple(joints)) for body, joints in of_body.items()]
        for client in (self._client, self._alone):
            for name, args, kwargs in run.calls[: run.start]:
                getattr(pybullet, name)(*args, **kwargs | {"physicsClientId": client})
        steps: list[list[tuple[str, tuple, dict[str, Any]]]] = [[]]
        for name, args, given in run.calls[run.start :]:
            call = name, args, given | {"physicsClientId": self._client}
            step = steps[-1]
            if not (step and _joined(step[-1], call)) and not (name in _QUERIES and call in step):
                step.append(call)
            if name == "stepSimulation":
                steps.append([])
        self._calls = [
            [(getattr(pybullet, name), *_by_place(name, args, kwargs)) for name, args, kwargs in step] for step in steps
        ]
        self._next = 0

    def run(self, steps: int) -> None:
        states, client, bodies = self._states, self._client, self._bodies
        for _ in range(steps):
            first = self._next
            self._next += self._substeps
            for calls in self._calls[first : self._next]:
                for function, args, kwargs in calls:
                    function(*args, **kwargs)
            for body, joints in bodies:
                states(body, joints, client)

    def step(self, steps: int) -> None:
        step, client = self._step, self._alone
        for _ in range(steps * self._substeps):
            step(client)

    def is_where(self, plugin: Any) -> bool:
        mine, its = (
            [self._states(body, joints, physicsClientId=client) for body, joints in self._bodies]
            for client in (self._client, plugin.world.client)
        )
        return mine == its

    def close(self) -> None:
        for life in self._lives:
            life.shutdown()


def _by_place(name: str, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
    names = _ARGUMENTS.get(name, ())
    return (tuple(kwargs[key] for key in names), {}) if names and kwargs.keys() == set(names) else (args, kwargs)


def _joined(last: tuple[str, tuple, dict[str, Any]], call: tuple[str, tuple, dict[str, Any]]) -> bool:
    """Whether a call for drives was added to the one before it, which is one of the same body and mode."""
    (before, _, known), (name, _, kwargs) = last, call
    if name != _DRIVES or before != name or known.keys() != kwargs.keys():
        return False
    if any(known[key] != kwargs[key] for key in ("bodyUniqueId", "controlMode")):
        return False
    known.update({key: [*known[key], *kwargs[key]] for key in _OF_JOINTS if key in known})
    return True


class BareMujoco:
    """Rays of sensors, and the goals of all motors at once between the two halves of a step. All other states are read
    where MuJoCo has them."""

    def __init__(self, world: Any, run: Recorded) -> None:
        import mujoco

        self._mujoco, self._substeps = mujoco, world.substeps
        self._model, self._data = copy.copy(world.model), copy.copy(world.data)
        self._alone = copy.copy(world.model), copy.copy(world.data)
        self._goals = run.calls[run.start :]
        self._next = 0

    def run(self, steps: int) -> None:
        model, data, applied = self._model, self._data, self._data.qfrc_applied
        step1, step2, ray = self._mujoco.mj_step1, self._mujoco.mj_step2, self._mujoco.mj_ray
        n = steps * self._substeps
        for rows, goals, forces, soft, rays in self._goals[self._next : self._next + n]:
            for given in rays:
                ray(model, data, *given)
            data.efc_aref[rows] = goals
            if forces is not None:
                applied[:] = forces
            if soft is not None:
                data.efc_R[:], data.efc_D[:], data.contact.mu[:] = soft
            step2(model, data)
            step1(model, data)
        self._next += n

    def step(self, steps: int) -> None:
        step, (model, data) = self._mujoco.mj_step, self._alone
        for _ in range(steps * self._substeps):
            step(model, data)

    def is_where(self, plugin: Any) -> bool:
        return np.array_equal(self._data.qpos, plugin.world.data.qpos)

    def close(self) -> None:
        """MuJoCo's memory is Python's."""
