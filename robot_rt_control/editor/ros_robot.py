"""The robot over ROS: the node `blueprints`, and a client of the workcell for programs, variables, speed and stop."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Any

import numpy as np
import sensor_msgs.msg
import std_msgs.msg
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from visualization_msgs.msg import Marker, MarkerArray

from robot_rt_control import msg, srv
from robot_rt_control.blueprint.remote import NODE, Blueprints, StartRequest
from robot_rt_control.client import Client
from robot_rt_control.client.event import Event
from robot_rt_control.client.program_state import ProgramState
from robot_rt_control.client.services import Services
from robot_rt_control.editor.client_use import part_jogger, run_action, set_motion
from robot_rt_control.editor.robot import SERVICES, SILENT_S, SOURCE, Jogging, Json, TimelineNews
from robot_rt_control.editor.tick_subscriptions import TickSubscriptions
from robot_rt_control.ros.cdr import JointStates, markers_of
from robot_rt_control.ros.listener import Unspun, take_all
from robot_rt_control.ros.refusals import refusal_messages
from robot_rt_control.vocabulary.errors import DefinitionError, NoAnswer, Overtaken, RobotControlError

_ANSWER_S, _STARTUP_S = 20.0, 5.0
"""For an answer; and for a node to appear: the page says meanwhile that it is not there [s]."""
_STOP_S = 2.0
"""For the answer to a stop [s]; then the other node is asked."""
_KINDS = {
    Marker.LINE_STRIP: "line_strip",
    Marker.LINE_LIST: "lines",
    Marker.SPHERE: "sphere",
    Marker.ARROW: "arrow",
    Marker.TEXT_VIEW_FACING: "text",
}
_SOLIDS = {Marker.CUBE: "box", Marker.SPHERE: "sphere", Marker.CYLINDER: "cylinder", Marker.MESH_RESOURCE: "mesh",
           Marker.TRIANGLE_LIST: "triangles"}  # fmt: skip
_MOST_SHAPES, _MOST_POINTS = 1000, 10_000
_OBJECTS = 4
"""Messages of objects that are kept: several simulators may publish them."""
_JOINT_STATES = 1
"""Messages of joint_states that are kept: the executor publishes more than anybody sees, and each takes time."""
_EVENTS = 1000
"""That are kept for a timeline that is opened later."""
_TYPES = {
    "list_skills": srv.ListSkills,
    "save_skill": srv.SaveSkill,
    "delete_skill": srv.DeleteSkill,
    "give_command": srv.GiveCommand,
    "control": srv.ControlRun,
    "read_runs": srv.ReadRuns,
}
assert set(_TYPES) == set(SERVICES)
_WRONG = (AssertionError, AttributeError, OverflowError, TypeError, ValueError)


class RosRobot:
    """Implements `Robot`.

    Args:
        namespace: of the workcell's nodes.
    """

    def __init__(self, *, namespace: str = "") -> None:
        self._client = Client(
            "blueprint_editor",
            namespace=namespace,
            timeout_s=_ANSWER_S,
            startup_s=_STARTUP_S,
            arguments=[],
            operator=True,  # the server asks for the right to operate first
        )
        self._services = Services(self._client.node, timeout_s=_ANSWER_S, startup_s=_STARTUP_S)
        self._blueprints = Blueprints(self._client, timeout_s=_ANSWER_S, startup_s=_STARTUP_S)
        self._status: Any = None
        self._status_at: float | None = None
        self._subscription = self._client.node.create_subscription(
            msg.ExecutorStatus, "realtime_executor/status", self._take_status, 1
        )
        self._description = ""
        latched = QoSProfile(
            depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL, reliability=ReliabilityPolicy.RELIABLE
        )
        self._described = self._client.node.create_subscription(
            std_msgs.msg.String, "robot_description", self._take_description, latched
        )
        self._joints: Any = None
        self._joint_states = JointStates()
        self._positions: dict[str, float] = {}
        self._markers: Any = None
        self._marked = b""
        """The last message: most of them are equal."""
        self._shapes: list[Json] = []
        self._object_markers: Any = None
        self._objects: dict[tuple[str, int], Json] = {}
        """By namespace and number."""
        self._latched = latched
        self._happened: deque[Event] = deque(maxlen=_EVENTS)
        self._client.add_listener(self._happened.append)
        self._ticks: TickSubscriptions | None = None

    def close(self) -> None:
        self._blueprints.close()
        self._client.close()

    def call(self, service: str, request: Mapping[str, Any]) -> Json:
        if not self._blueprints.is_there:  # said at once: a page asks at every key
            raise NoAnswer(f"the node {NODE!r} is not available", hint="Bring the workcell up with blueprints")
        try:
            # Unchecked, a field of another type ends the process: the conversion to C asserts.
            fields = _fields(_TYPES[service].Request, request)
            _TYPES[service].Request(**fields, check_fields=True)
            answer = self._services.ask(_TYPES[service], f"{NODE}/{service}", **fields)
        except _WRONG as error:  # of the request's fields
            raise DefinitionError(f"request {service!r}", expected="the service's fields", got=str(error)) from None
        return as_json(answer)

    def run(self, goal: Mapping[str, Any]) -> Json:
        try:
            request = StartRequest(
                skill=str(goal["skill"]),
                parameters={p["name"]: _value(p) for p in goal.get("parameters", ())},
                parts=tuple(map(str, goal.get("parts", ()))),
                start_at=str(goal.get("start_at", "")),
                outputs_of=str(goal.get("outputs_of", "")),
                paused=bool(goal.get("paused", False)),
                breakpoints=tuple(map(str, goal.get("breakpoints", ()))),
                rehearse=bool(goal.get("rehearse", False)),
                busy=str(goal.get("busy", "")),
                source=str(goal.get("source", "")),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise DefinitionError("request 'run'", expected="the fields of RunBlueprint", got=str(error)) from None
        try:
            run = self._blueprints.run(request).id
        except RobotControlError as error:
            return {**_refused(error), "run": ""}
        return {"success": True, "message": "", "refusals": [], "run": run}

    def list_programs(self, request: Mapping[str, Any]) -> Json:
        try:
            found = self._client.programs.list(
                str(request.get("name", "")),
                search=str(request.get("search", "")),
                tags=[str(tag) for tag in request.get("tags", ())],
                with_text=bool(request.get("with_text", False)),
            )
        except DefinitionError as error:  # there is none of this name: unlike a server that does not answer
            return {**_refused(error), "programs": []}
        return {"success": True, "message": "", "programs": [as_json(info) for info in found]}

    def save_program(self, request: Mapping[str, Any]) -> Json:
        text, based_on = str(request.get("text", "")), request.get("based_on", 0)
        if type(based_on) is not int or not 0 <= based_on < 2**32:
            raise DefinitionError("request 'save_program': based_on", expected="a version, or 0", got=repr(based_on))
        answer: Json = {"version": 0, "warnings": [], "overtaken": ""}
        try:
            if request.get("check_only"):
                warnings = self._client.programs.check(text)
            else:
                answer["version"], warnings = self._client.programs.save(text, based_on=based_on)
        except DefinitionError as error:
            overtaken = error.text if isinstance(error, Overtaken) else ""
            return {**answer, **_refused(error), "overtaken": overtaken}
        return {**answer, "success": True, "message": "", "refusals": [], "warnings": list(warnings)}

    def delete_program(self, request: Mapping[str, Any]) -> Json:
        return {"success": True, "message": self._client.programs.delete(str(request.get("name", ""))), "refusals": []}

    def action_types(self) -> list[Json]:
        return [as_json(info) for info in self._client.action_types()]

    def parts(self) -> list[Json]:
        return [as_json(part) for part in self._client.parts()]

    def variables(self, session: str = "") -> list[Json]:
        return [as_json(variable) for variable in self._client.state_variables(session=session)]

    def actions(self, session: str) -> Json:
        answer = self._services.call(srv.ListActions, "control_server/list_actions", session=session)
        return {"actions": as_json(answer.actions), "reactions": as_json(answer.reactions)}

    def set_motion(self, part: str, command: str) -> None:
        set_motion(self._client, part, command)

    def jogger(self, part: Json, name: str, on_event: Callable[[], None]) -> Jogging:
        return part_jogger(self._client, part, name, on_event)

    def run_action(
        self, type: str, parts: list[str], values: Mapping[str, Any], *, until: str, limit_s: float,
        cancelled: threading.Event, on_progress: Callable[[], None],
    ) -> Json:  # fmt: skip
        return run_action(self._client, type, parts, values, until, limit_s, cancelled, on_progress)

    def values(self, names: Iterable[str]) -> Json:
        wanted = list(names)
        found = self._client.backend.state_values(wanted, "")
        return {name: found.get(name) for name in wanted}

    def set_speed(self, speed: float) -> None:
        self._client.set_speed(speed)

    def _operator(self) -> str:
        return self._client.backend.operator_secret()

    def protective_stop(self, stop: bool, reason: str, who: str) -> None:
        silent: NoAnswer | None = None
        for node in ("realtime_executor", "control_server"):  # the first one needs no other process
            try:
                self._services.call(
                    srv.ProtectiveStop, f"{node}/protective_stop", timeout_s=_STOP_S,
                    stop=stop, source=SOURCE, reason=reason, who=who, secret="" if stop else self._operator(),
                )  # fmt: skip
                return
            except NoAnswer as error:
                silent = silent or error
        assert silent is not None
        raise silent

    def resume(self, session: str, who: str) -> None:
        self._client.resume_session(session, who=who)

    def status(self) -> Json:
        heard = {"executor": self._status_at, "blueprints": self._blueprints.heard_at}
        silent = silences(time.monotonic(), **heard)
        there = {name: at is not None and name not in silent for name, at in heard.items()}
        there["blueprints"] &= self._blueprints.is_there
        return {**there, "silent": silent, **shown_status(self._status, self._client.program_states.values())}

    def description(self) -> str:
        return self._description

    def joint_positions(self) -> Mapping[str, float]:
        if self._joints is None:
            newest = QoSProfile(depth=_JOINT_STATES, reliability=ReliabilityPolicy.BEST_EFFORT)  # nothing is sent again
            self._joints = self._client.node.create_subscription(
                sensor_msgs.msg.JointState, "joint_states", lambda _: None, newest, callback_group=Unspun()
            )
        for message in take_all(self._joints, raw=True):
            with suppress(ValueError):
                self._positions.update(self._joint_states.positions(message))
        return self._positions

    def shapes(self) -> list[Json]:
        if self._markers is None:
            self._markers = self._client.node.create_subscription(
                MarkerArray, "control_server/markers", lambda _: None, self._latched, callback_group=Unspun()
            )
        for message in take_all(self._markers, raw=True):
            if message == self._marked:
                continue
            self._marked = message
            with suppress(ValueError):
                self._shapes = marker_shapes(message)
        return self._shapes

    def objects(self) -> list[Json]:
        if self._object_markers is None:
            several = QoSProfile(
                depth=_OBJECTS, durability=DurabilityPolicy.TRANSIENT_LOCAL, reliability=ReliabilityPolicy.RELIABLE
            )
            self._object_markers = self._client.node.create_subscription(
                MarkerArray, "objects", lambda _: None, several, callback_group=Unspun()
            )
        for message in take_all(self._object_markers, raw=True):
            with suppress(ValueError):
                take_objects(self._objects, message)
        return list(self._objects.values())

    def forget_scene(self) -> None:
        for subscription in (self._joints, self._markers, self._object_markers):
            if subscription is not None:
                self._client.node.destroy_subscription(subscription)
        self._joints = self._markers = self._object_markers = None
        self._positions, self._shapes, self._marked, self._objects = {}, [], b"", {}

    def timeline(self) -> TimelineNews:
        if self._ticks is None:
            self._ticks = TickSubscriptions(self._client.node)
        news = self._ticks.news()
        news.events = [_event(self._happened.popleft()) for _ in range(len(self._happened))]
        return news

    def forget_timeline(self) -> None:
        if self._ticks is not None:
            self._ticks.close()
            self._ticks = None

    def on_state(self, callback: Callable[[Json], None]) -> None:
        self._blueprints.add_state_listener(lambda state: callback(as_json(state)))

    def _take_status(self, status: Any) -> None:
        self._status, self._status_at = status, time.monotonic()

    def _take_description(self, message: Any) -> None:
        self._description = message.data


def silences(now: float, **heard: float | None) -> dict[str, float]:
    """[s] since the last word of each that has said nothing for SILENT_S; whole seconds after the first, so that not
    every look is news. None: it has never been heard, which is no silence."""
    ages = {name: now - at for name, at in heard.items() if at is not None}
    return {name: float(int(age)) if age >= 1.0 else round(age, 1) for name, age in ages.items() if age > SILENT_S}


def marker_shapes(message: bytes) -> list[Json]:
    """The shapes of a visualization_msgs/MarkerArray that is whole, as ours are; kinds that we do not send are left
    out, and so is what is beyond bounds that ours keep.

    Raises:
        ValueError: it is none.
    """
    found: list[Json] = []
    for marker in markers_of(message, most=_MOST_SHAPES):
        kind = _KINDS.get(marker.type)
        if kind is None or marker.action != Marker.ADD:
            continue
        colors = marker.colors[: 4 * _MOST_POINTS]
        found.append({
            "namespace": marker.namespace,
            "frame": marker.frame,
            "kind": kind,
            "points": _triples(marker.points[: 3 * _MOST_POINTS]) or _triples(marker.position),
            "size": marker.scale[2] if kind == "text" else marker.scale[0],
            "color": list(marker.color),
            "colors": [list(colors[i : i + 4]) for i in range(0, len(colors), 4)],
            "text": marker.text,
        })  # fmt: skip
    return found


def take_objects(found: dict[tuple[str, int], Json], message: bytes) -> None:
    """Put those of a visualization_msgs/MarkerArray among the objects, each as `Robot.objects` has it.

    Raises:
        ValueError: it is none.
    """
    for marker in markers_of(message, most=_MOST_SHAPES):
        key = marker.namespace, marker.number
        if marker.action != Marker.ADD or marker.type not in _SOLIDS:
            found.pop(key, None)
        elif key in found or len(found) < _MOST_SHAPES:
            found[key] = {
                "name": marker.text,
                "kind": _SOLIDS[marker.type],
                "position": list(marker.position),
                "orientation": list(marker.orientation),
                "scale": list(marker.scale),
                "color": list(marker.color),
                "mesh": marker.mesh,
                "triangles": _triples(marker.points[: 3 * _MOST_POINTS]),
            }


def _event(event: Event) -> Json:
    return {**asdict(event), "event": event.name}


def _triples(numbers: Sequence[float]) -> list[list[float]]:
    """Noise is no news."""
    found: list[list[float]] = np.round(np.asarray(numbers), 4).reshape(-1, 3).tolist()
    return found


def shown_status(status: Any, programs: Iterable[ProgramState]) -> Json:
    """What a page needs of a msg/ExecutorStatus and of what runs; None: no status came yet."""
    return {
        "speed": float(status.speed) if status is not None else None,
        "protective_stop": bool(status.protective_stop) if status is not None else False,
        "stops": [
            {"source": s.source, "reason": s.reason, "who": s.who, "needs_secret": s.needs_secret}
            for s in (status.stops if status is not None else ())
        ],
        "parts": [
            {"name": p.name, "operational_state": p.operational_state, "fault": p.fault}
            for p in (status.parts if status is not None else ())
        ],
        "programs": [shown_program(state) for state in programs if state.ended is None],
    }


def shown_program(state: ProgramState) -> Json:
    """What a live picture of a program needs; without ticks, so that it changes only with the states."""
    return {
        "session": state.session,
        "program": state.program,
        "active": list(state.active),
        "strategies": [
            {"action": s.action, "degree_of_freedom": s.degree_of_freedom, "strategy": s.strategy}
            for s in state.strategies
        ],
        "last_reaction": state.last_reaction,
        "last_event": state.last_event,
        "suspended": state.suspended,
    }


def _fields(kind: Any, given: Mapping[str, Any]) -> Json:
    """A request's fields; JSON writes 60.0 as 60."""
    numbers = {name for name, type_ in kind.get_fields_and_field_types().items() if type_ in ("double", "float")}
    return {key: float(value) if key in numbers and type(value) is int else value for key, value in given.items()}


def as_json(message: Any) -> Any:
    """A ROS message as JSON values."""
    if hasattr(message, "get_fields_and_field_types"):
        return {name: as_json(getattr(message, name)) for name in message.get_fields_and_field_types()}
    if isinstance(message, str | int | float | bool) or message is None:
        return message
    return [as_json(item) for item in message]


def _value(parameter: Mapping[str, Any]) -> Any:
    """The value in a msg/ParameterValue."""
    values = [float(value) for value in parameter.get("values", ())]
    if not values:
        return str(parameter.get("text", ""))
    return values[0] if len(values) == 1 else values


def _refused(error: RobotControlError) -> Json:
    return {"success": False, "message": str(error), "refusals": [as_json(m) for m in refusal_messages(error)]}
