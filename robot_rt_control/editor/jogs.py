"""Jogging by a dead man's button: a hold moves a part only while its page gives signs of life.

Each sign of life (a beat) echoes the number of the server's last answer: it was made after that answer, so how old it
is at most is known without a common clock. It allows motion for LEASE_S after that answer. If the server hangs or dies,
the loop ends the motion by itself, by the time-out of the action's stream. The speed is such that the part then rests
within 0.3 s of the loss.
"""

from __future__ import annotations

import logging
import math
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from xml.etree import ElementTree

import numpy as np

from robot_rt_control.editor.keys import Person
from robot_rt_control.editor.robot import Jogging, Json, Robot
from robot_rt_control.vocabulary.errors import DefinitionError, InternalError, RobotControlError, unknown
from robot_rt_control.vocabulary.part_kinds import JOINTED_KINDS, PART_KINDS

JOINTS, IN_WORLD, IN_TOOL, BY_HAND = "jog_of_joints", "jog_in_world", "jog_in_tool", "guiding_by_hand"
"""Ids of the actions."""
GUIDED_REVOLUTE, GUIDED_PRISMATIC = 0.15, 0.05
"""[rad/s, m/s] Above it, a joint that is guided by hand is braked."""
LEASE_S = 0.12
"""[s] for which a beat allows motion, since the answer that it echoes."""
LOOP_S = 0.14
"""[s] without a sample after which the loop brings the part to rest, whatever has become of the editor."""
BRAKE_S = 0.12
"""[s] A joint is not jogged faster than it can be at rest within this time."""
LINEAR, ANGULAR = 0.1, 0.4
"""[m/s, rad/s] No tool is jogged faster."""
TOOL = 0.5, 2.0
"""[m/s, rad/s] Of a tool, at a speed of 1."""
LOST_S = 0.3
"""[s] without a beat in time after which a hold has ended: the button has to be pressed anew."""
FASTEST = 0.5
"""Of the limits of the joints' velocities."""
AXES = ("x", "y", "z", "rx", "ry", "rz")
_SAME = ("kind", "joint_names", "command_modes")
_LOOK_S = 0.01
"""[s] Between two looks at a jogger that holds its part."""
_log = logging.getLogger(__name__)
_ID = re.compile(r"[\w-]{1,40}")

Start = Callable[[Jogging, threading.Event, Callable[[], None]], None]


@dataclass(frozen=True, eq=False)
class Jogged:
    """A part that a person jogs, or has jogged."""

    part: Json
    """As msg/PartInfo."""
    person: Person
    jogger: Jogging
    wake: threading.Event
    """Set when the jogger has something to do."""

    def take(self, action: str, values: np.ndarray[Any, Any], age: float) -> None:
        """See `Jogger.take`; the samples that let a part be guided are zeros."""
        self.jogger.take(action, values, age, moves=True if action == BY_HAND else None)
        self.wake.set()

    def stop(self, action: str) -> None:
        """Bring the part to rest, which an action moves."""
        dof = len(self.part["joint_names"])
        if action == BY_HAND:  # its stream has no value that does: another action takes over, and holds the joints
            action = JOINTS
        self.take(action, np.zeros(dof if action == JOINTS else 6), 0.0)

    def close(self) -> None:
        """Stop and release the part. May wait for the workcell."""
        self.jogger.close()
        self.wake.set()


@dataclass(eq=False)
class _Hold:
    """A button that is held."""

    id: str
    person: Person
    jogged: Jogged
    action: str
    values: np.ndarray[Any, Any]
    heard: float
    """[s] when its last beat in time came."""
    number: int = 1
    answered: float = 0.0
    """Number of the last answer, and when it was made [s]."""
    until: float = 0.0
    """[s] It may move until then; 0: it is not to move."""
    ended: str = ""
    """Why it moves nothing any more."""


class Jogs:
    """All holds. For the event loop's thread, but for `prepare` and `close`. Each jogged part has a thread that waits
    for the workcell.

    Args:
        robot: whose parts are jogged.
        now: [s] the clock.
        start: begins to call a function whenever its event is set, and again and again while the jogger is open: it
            may wait for the workcell.
    """

    def __init__(
        self, robot: Robot, *, now: Callable[[], float] = time.monotonic, start: Start | None = None
    ) -> None:
        self._robot, self._now, self._start = robot, now, start or _in_a_thread
        self._preparing = threading.Lock()
        self._jogged: dict[str, Jogged] = {}
        self._holds: dict[str, _Hold] = {}
        """By person; one that has ended stays until the next one."""

    # --- what a page asks for -------------------------------------------------------------------

    def wanted_part(self, person: Person, body: Json) -> str:
        """The part of a request that begins a hold, which `begin` then takes; empty: it is another request.

        Raises:
            DefinitionError: it is malformed.
        """
        if not isinstance(body.get("hold"), str) or not _ID.fullmatch(body["hold"]):
            raise DefinitionError("jog: hold", expected="an id of 1 to 40 letters and digits")
        hold = self._holds.get(person.id)
        if body.get("release") is True or hold is not None and hold.id == body["hold"]:
            return ""
        if not isinstance(body.get("part"), str):
            raise DefinitionError("jog: part", expected="the name of a part")
        return str(body["part"])

    def prepare(self, person: Person, name: str) -> Jogged:
        """What jogs a part for a person. In any thread; may wait for the workcell.

        Raises:
            RobotControlError: there is no such part, or it cannot be jogged at this moment.
        """
        parts = {part["name"]: part for part in self._robot.parts()}
        if name not in parts:
            raise DefinitionError(f"part {name!r}", expected=unknown("part", name, parts))
        part = parts[name]
        if not has_joints(part):
            raise DefinitionError(f"part {name!r} cannot be jogged", expected="a part with joints", got=part["kind"])
        if part["operational_state"] != "enabled":
            why = f"faulted: {part['fault']}" if part["fault"] else part["operational_state"]
            raise RobotControlError(f"part {name!r} is {why}", expected="an enabled part")
        with self._preparing:
            known = self._jogged.get(name)
            if known is not None and known.person is person and all(known.part[key] == part[key] for key in _SAME):
                return replace(known, part=part)  # limits change with tools
            if known is not None:
                known.close()
            wake = threading.Event()
            made = Jogged(part, person, self._robot.jogger(part, f"jog: {person.name}", wake.set), wake)
            self._jogged[name] = made
        self._start(made.jogger, wake, lambda: self._process(made))
        return made

    def begin(self, body: Json, jogged: Jogged, base: list[list[float]] | None = None) -> Json:
        """Begin a hold. Nothing moves before its first beat: until then nobody knows how old a request is.

        Args:
            base: (3, 3) axes of the part's base in the world, as columns; None: they are not known.

        Raises:
            DefinitionError: a field of the request is not valid.
        """
        person, (action, values) = jogged.person, _motion(body, jogged.part, base)
        self.end(person, "another button was pressed")
        hold = _Hold(body["hold"], person, jogged, action, values, self._now())
        self._holds[person.id] = hold
        jogged.stop(action)  # a new press, after whatever has ended the last one
        return self._answer(hold)

    def beat(self, person: Person, body: Json) -> Json:
        """A sign of life of a hold, or its release."""
        hold = self._holds.get(person.id)
        if hold is None or hold.id != body["hold"]:
            return {"success": body.get("release") is True, "message": "this button is not held any more", "beat": 0}
        if body.get("release") is True:
            self.end(person, "released")
            return {"success": True, "message": "", "beat": 0}
        now = self._now()
        if not hold.ended and now - hold.heard > LOST_S:
            self.end(person, f"nothing was heard of the page for {LOST_S:g} s: press again")
        if hold.ended:
            return {"success": False, "message": hold.ended, "beat": 0}
        made = hold.answered if body.get("beat") == hold.number else -math.inf
        if now < made + LEASE_S:
            hold.heard, hold.until = now, made + LEASE_S
            hold.jogged.take(hold.action, hold.values, now - made)
        return self._answer(hold)

    def end(self, person: Person, why: str) -> None:
        """End a person's hold at once, if there is one."""
        hold = self._holds.get(person.id)
        if hold is not None and not hold.ended:
            hold.ended, hold.until = why, 0.0
            hold.jogged.stop(hold.action)

    def end_others(self, operator: Person | None) -> None:
        """End the holds of all who do not operate."""
        for hold in list(self._holds.values()):
            if hold.person is not operator:
                self.end(hold.person, f"{operator.name if operator is not None else 'nobody'} operates")

    def close(self) -> None:
        """Stop and release all parts. May wait for the workcell."""
        with self._preparing:
            for jogged in self._jogged.values():
                jogged.close()
            self._jogged.clear()

    def _answer(self, hold: _Hold) -> Json:
        hold.number += 1
        hold.answered = self._now()
        return {"success": True, "message": "", "beat": hold.number}

    def _process(self, jogged: Jogged) -> None:
        """In the jogger's thread."""
        holds = [hold for hold in list(self._holds.values()) if hold.jogged.jogger is jogged.jogger]
        now = self._now()
        for hold in holds:
            if 0.0 < hold.until <= now:
                hold.until = 0.0
                jogged.stop(hold.action)
        try:
            jogged.jogger.process()
        except Exception as failure:  # whatever it is: nothing may look as if it moved
            if not isinstance(failure, RobotControlError):
                _log.exception("a jog failed")
                failure = InternalError.of("a jog", failure)
            for hold in holds:
                hold.ended = hold.ended or str(failure)


def _in_a_thread(jogger: Jogging, wake: threading.Event, process: Callable[[], None]) -> None:
    def run() -> None:
        while not jogger.is_closed:
            wake.wait(_LOOK_S if jogger.is_open else None)
            wake.clear()
            process()

    threading.Thread(target=run, daemon=True, name="jog").start()


def _motion(body: Json, part: Json, base: list[list[float]] | None) -> tuple[str, np.ndarray[Any, Any]]:
    """Id of the action, and the values of its stream: velocities of the joints or the tool's twist [SI].

    Raises:
        DefinitionError: a field of the request is not valid.
    """
    if body.get("by_hand") is True:
        if why := why_not_guided(part):
            raise DefinitionError(f"part {part['name']!r} cannot be guided by hand: {why}")
        return BY_HAND, np.zeros(len(part["joint_names"]))
    direction, speed = body.get("direction"), body.get("speed")
    if not isinstance(direction, int) or isinstance(direction, bool) or direction not in (-1, 1):
        raise DefinitionError("jog: direction", expected="1 or -1")
    if not isinstance(speed, int | float) or isinstance(speed, bool) or not 0 < speed <= FASTEST:
        raise DefinitionError("jog: speed", expected=f"more than 0, at most {FASTEST:g}")
    if "axis" not in body:
        joints, joint = part["joint_names"], body.get("joint")
        if not isinstance(joint, int) or isinstance(joint, bool) or not 0 <= joint < len(joints):
            raise DefinitionError("jog: joint", expected=f"0 to {len(joints) - 1}")
        values = np.zeros(len(joints))
        limits = (part[f"{name}_limit"][joint] for name in ("velocity", "acceleration", "jerk"))
        values[joint] = direction * slow_enough(speed, *limits)
        return JOINTS, values
    if not has_tool(part):
        raise DefinitionError(f"part {part['name']!r} has no tool to jog", got=part["kind"])
    if body["axis"] not in AXES:
        raise DefinitionError("jog: axis", expected=", ".join(AXES))
    frames = {"world": IN_WORLD, "base": IN_WORLD, "tool": IN_TOOL}
    if not isinstance(body.get("frame"), str) or body["frame"] not in frames:
        raise DefinitionError("jog: frame", expected=", ".join(frames))
    if body["frame"] == "base" and base is None:
        raise DefinitionError(
            f"the axes of the base of part {part['name']!r} are not known, or move", hint="Jog in those of the world"
        )
    i = AXES.index(body["axis"])
    twist = np.zeros(6)
    twist[i] = direction * min(speed * TOOL[i // 3], (LINEAR, ANGULAR)[i // 3])
    if body["frame"] == "base":
        twist = np.concatenate([np.array(base) @ twist[:3], np.array(base) @ twist[3:]])
    return frames[body["frame"]], twist


def why_not_guided(part: Json) -> str:
    """Why a part cannot be guided by hand; empty: it can. `part`: msg/PartInfo."""
    if not has_tool(part):
        return "it has no tool"
    return "" if "effort" in part["command_modes"] else "its hardware takes no efforts"


def have_masses(description: str, links: set[str]) -> bool:
    """Whether a robot_description has the mass of one of these links at least: else nothing carries their weight."""
    try:
        robot = ElementTree.fromstring(description)
    except ElementTree.ParseError:
        return False
    masses = (link.find("inertial/mass") for link in robot.findall("link") if link.get("name") in links)
    return any(mass is not None and _is_mass(mass.get("value", "")) for mass in masses)


def _is_mass(value: str) -> bool:
    try:
        return 0.0 < float(value) < math.inf
    except ValueError:
        return False


def guided_speeds(part: Json) -> list[float]:
    """[rad/s or m/s] Of each joint that is guided by hand: it can be at rest within BRAKE_S. `part`: msg/PartInfo."""
    fastest = {"rad": GUIDED_REVOLUTE, "m": GUIDED_PRISMATIC}
    limits = zip(*(part[f"{name}_limit"] for name in ("velocity", "acceleration", "jerk")), strict=True)
    return [min(fastest[unit], slow_enough(1.0, *each)) for unit, each in zip(part["joint_units"], limits, strict=True)]


def slow_enough(speed: float, velocity: float, acceleration: float, jerk: float) -> float:
    """[rad/s or m/s] This fraction of a joint's limit, but not faster than it can be at rest within BRAKE_S."""
    full = acceleration / jerk  # [s] to its full deceleration, and the same from it
    stops = jerk * (BRAKE_S / 2) ** 2 if 2 * full > BRAKE_S else acceleration * (BRAKE_S - full)
    return min(speed * velocity, stops)


def has_joints(part: Json) -> bool:
    """Whether it can be jogged. `part`: msg/PartInfo."""
    return part["kind"] in {kind.name.lower() for kind in JOINTED_KINDS} and "position" in part["command_modes"]


def has_tool(part: Json) -> bool:
    """Whether its tool can be jogged. `part`: msg/PartInfo."""
    return has_joints(part) and part["kind"] in {k.name.lower() for k, known in PART_KINDS.items() if known.has_tool}
