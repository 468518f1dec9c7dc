"""The client side of the node `blueprints`: what the command line, the editor and tests use.

with Client("example") as client, Blueprints(client) as blueprints:
    run = blueprints.run(StartRequest(skill="welcome", parameters={"guest": "Ann"}, source="example"))
    blueprints.control("pause")
    print(run.wait())
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from robot_rt_control import action, msg, srv
from robot_rt_control.client import Client
from robot_rt_control.client.actions import parameter_values, role_texts
from robot_rt_control.client.conversions import parameter_messages
from robot_rt_control.client.sent_goal import SentGoal
from robot_rt_control.client.services import Services
from robot_rt_control.definitions.parameter_value import Value
from robot_rt_control.ros.goal_client import GoalClient
from robot_rt_control.ros.refusals import error_of, errors_of
from robot_rt_control.vocabulary import defaults
from robot_rt_control.vocabulary.errors import RobotControlError

NODE = "blueprints"

StateListener = Callable[[Any], object]
"""Called with each msg/BlueprintState, in the receiving thread; it must return at once."""

_BEGIN_S = 10.0
"""[s] for an accepted run to have an id."""


@dataclass(frozen=True, kw_only=True)
class StartRequest:
    """What to run; the fields are those of action/RunBlueprint.

    Args:
        skill: name of a skill ("welcome", "welcome@2"), or a YAML text.
        parameters: values of its parameters, as those of an Action.
        parts: for its roles, role → part or "role=part"; left out: their defaults.
        breakpoints: "drinks", "after drinks/open_bottle".
        busy: while another run holds its parts: refuse, wait or replace.
        source: who starts it, for the log.
    """

    skill: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    parts: Mapping[str, str] | Iterable[str] = ()
    start_at: str = ""
    outputs_of: str = ""
    paused: bool = False
    breakpoints: tuple[str, ...] = ()
    rehearse: bool = False
    busy: str = ""
    source: str = ""


@dataclass(frozen=True, kw_only=True)
class RunEnd:
    """How a run ended.

    Args:
        success: whether its result is a success.
        message: why not.
        outputs: the skill's outputs that have a value.
    """

    run: str
    result: str
    success: bool
    message: str = ""
    outputs: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class SaveAnswer:
    """What became of a skill's text.

    Args:
        version: 0: it was not kept.
        warnings: what looks wrong but may be meant.
        mistakes: why it was refused, or what is wrong with a draft; with the node that each is in, "" for none.
        overtaken: text of the version that has come between; empty: none has.
        message: the refusal as one text; empty: it was not refused.
    """

    name: str
    version: int
    warnings: tuple[str, ...] = ()
    mistakes: tuple[tuple[RobotControlError, str], ...] = ()
    overtaken: str = ""
    message: str = ""


@dataclass(frozen=True, kw_only=True)
class CommandAnswer:
    """What a sentence or gesture did.

    Args:
        blueprint, run: what it started; empty: nothing, as "stop".
        message: what it did.
    """

    blueprint: str
    run: str
    message: str


class RemoteRun:
    """A run that somebody asked for. All methods may be called from any thread."""

    def __init__(self, sent: Callable[[Callable[[Any], None]], SentGoal]) -> None:
        self._feedback: Any = None
        self._listeners: list[Callable[[Any], object]] = []
        self._begun = threading.Event()
        self._end: RunEnd | None = None
        self._goal = sent(self._take)

    def _take(self, feedback: Any) -> None:
        """In the receiving thread."""
        self._feedback = feedback
        self._begun.set()
        for listener in self._listeners:
            listener(feedback)

    @property
    def feedback(self) -> Any:
        """The last feedback of action/RunBlueprint: run, nodes, elapsed; None: none has come."""
        return self._feedback

    def on_feedback(self, listener: Callable[[Any], object]) -> None:
        """Call `listener(feedback)` for each feedback from now on, in the receiving thread; it must return at once."""
        self._listeners = [*self._listeners, listener]

    @property
    def id(self) -> str:
        """The run's id; waits until it has one.

        Raises:
            RobotControlError: it did not begin.
        """
        deadline = time.monotonic() + _BEGIN_S
        while not self._begun.wait(0.02):
            end = self.poll()
            if end is not None:
                return end.run
            if time.monotonic() > deadline:
                raise RobotControlError("the run has no id yet", hint="Does its node still answer?")
        return str(self._feedback.run)

    def cancel(self) -> None:
        """Ask for its end, from outside of its node's services; the result comes when its parts are at rest."""
        self._goal.cancel()

    def poll(self) -> RunEnd | None:
        """How it ended; None: it has not.

        Raises:
            RobotControlError: it did not begin; the class says why.
            NoAnswer: its node has gone.
        """
        if self._end is None:
            result = self._goal.poll()
            if result is None:
                return None
            if result.refusals:
                raise error_of(result)
            self._end = RunEnd(
                run=result.run,
                result=result.result,
                success=result.success,
                message=result.message,
                outputs=values_of_messages(result.outputs),
            )
        return self._end

    def wait(self, timeout_s: float | None = None) -> RunEnd | None:
        """Wait for its end; None: it has not come within this time [s].

        Raises:
            as `poll`.
        """
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while (end := self.poll()) is None and (deadline is None or time.monotonic() < deadline):
            self._goal.wait(0.05 if deadline is None else max(min(0.05, deadline - time.monotonic()), 0.0))
        return end


class Blueprints:
    """The node `blueprints` of a workcell. A context manager; all methods may be called from any thread.

    Attributes:
        heard_at: [s, monotonic] when its last state came: it says one every BEAT_S; None: none has come.

    Args:
        client: whose node asks and listens; it stays open.
        node: name of the node, in the client's namespace.
        timeout_s: for an answer.
        startup_s: for the node to appear.
    """

    def __init__(
        self,
        client: Client,
        *,
        node: str = NODE,
        timeout_s: float = defaults.ANSWER_S,
        startup_s: float = defaults.STARTUP_S,
    ) -> None:
        self._client, self._name, self._timeout_s = client, node, timeout_s
        self._services = Services(client.node, timeout_s=timeout_s, startup_s=startup_s)
        self._goals = GoalClient(client.node, action.RunBlueprint, f"{node}/run")
        self._state: Any = None
        self.heard_at: float | None = None
        self._state_changed = threading.Condition()
        self._listeners: list[StateListener] = []
        profile = QoSProfile(
            depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
        )
        self._subscription = client.node.create_subscription(
            msg.BlueprintState, f"{node}/state", self._take_state, profile
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of what it has of the client's node. Runs go on."""
        self._listeners = []
        self._client.node.destroy_subscription(self._subscription)
        self._goals.destroy()

    # --- skills ---------------------------------------------------------------------------------

    def list_skills(
        self,
        name: str = "",
        *,
        level: str = "",
        category: str = "",
        scenario: str = "",
        search: str = "",
        with_text: bool = False,
        expand: bool = False,
        deleted: bool = False,
    ) -> list[Any]:
        """msg/SkillInfo of all skills or those asked for; the fields are those of srv/ListSkills.

        In the bin (`deleted`), `saved` is when one was deleted.

        Raises:
            DefinitionError: there is none of this name.
        """
        answer = self._call(
            srv.ListSkills,
            "list_skills",
            name=name,
            level=level,
            category=category,
            scenario=scenario,
            search=search,
            with_text=with_text,
            expand=expand,
            deleted=deleted,
        )
        return list(answer.skills)

    def save_skill(
        self,
        text: str,
        *,
        based_on: int = 0,
        check_only: bool = False,
        draft: bool = False,
        source: str = "",
        file: str = "",
    ) -> SaveAnswer:
        """Check a skill and keep it as the next version of its name, or only check it.

        Args:
            file: name of the text in messages, with its lines; default: "skill".

        Raises:
            Overtaken: another version has come since `based_on`; its `text` has it.
            DefinitionError, ProgramError: all that is wrong, each with its line; nothing is kept.
        """
        answer = self._ask_to_save(text, based_on=based_on, check_only=check_only, draft=draft, source=source)
        if file:
            for refusal in answer.refusals:
                refusal.what = _in_file(refusal.what, file)
            answer.warnings = [_in_file(warning, file) for warning in answer.warnings]
        if not answer.success:
            raise error_of(answer)
        return _saved(answer)

    def try_to_save(
        self, text: str, *, based_on: int = 0, check_only: bool = False, draft: bool = False, source: str = ""
    ) -> SaveAnswer:
        """As `save_skill`, but what is refused is an answer too: `mistakes`, `overtaken` and `message`."""
        return _saved(self._ask_to_save(text, based_on=based_on, check_only=check_only, draft=draft, source=source))

    def _ask_to_save(self, text: str, **fields: Any) -> Any:
        return self._services.ask(srv.SaveSkill, f"{self._name}/save_skill", text=text, **fields)

    def delete_skill(self, name: str, *, source: str = "") -> str:
        """Move all versions of a skill, or one ("nap@2"), to the bin. Returns a remark.

        Raises:
            DefinitionError: there is none, it comes with the package, or another skill calls it.
        """
        return str(self._call(srv.DeleteSkill, "delete_skill", name=name, source=source).message)

    def restore_skill(self, name: str, *, source: str = "") -> str:
        """Bring a deleted skill, or one version of it, back from the bin. Returns a remark.

        Raises:
            DefinitionError: it is not in the bin.
        """
        return str(self._call(srv.DeleteSkill, "delete_skill", name=name, restore=True, source=source).message)

    # --- runs -----------------------------------------------------------------------------------

    def run(self, request: StartRequest) -> RemoteRun:
        """Start a run; returns once it was asked for. `RemoteRun.id` waits for its beginning, `wait` for its end."""
        goal = action.RunBlueprint.Goal(
            skill=request.skill,
            parameters=parameter_messages(parameter_values(request.parameters)),
            parts=role_texts(request.parts),
            start_at=request.start_at,
            outputs_of=request.outputs_of,
            paused=request.paused,
            breakpoints=list(request.breakpoints),
            rehearse=request.rehearse,
            busy=request.busy,
            source=request.source,
        )
        self._services.find(self._goals.wait_for_server, f"the ROS action '{self._name}/run'")
        return RemoteRun(
            lambda on_feedback: SentGoal(
                self._goals,
                goal,
                server=f"the node '{self._name}'",
                timeout_s=self._timeout_s,
                on_feedback=on_feedback,
                hint="If its process has ended, the run's parts come to rest; read_runs lists it as interrupted",
            )
        )

    def give_command(self, text: str, *, gesture: bool = False, source: str = "") -> CommandAnswer:
        """Say a sentence, or show a gesture's label.

        Raises:
            DefinitionError: it fits nothing, or several; with the nearest.
            SessionError: the parts of what it would start are taken.
        """
        answer = self._call(srv.GiveCommand, "give_command", text=text, gesture=gesture, source=source)
        return CommandAnswer(blueprint=answer.blueprint, run=answer.run, message=answer.message)

    def control(
        self,
        command: str,
        *,
        run: str = "",
        node: str = "",
        now: bool = False,
        come_back: bool = False,
        into: bool = False,
        how: str = "",
        value: str = "",
        breakpoints: Iterable[str] = (),
        seconds: float = 0.0,
        source: str = "",
    ) -> str:
        """Control a run; the fields are those of srv/ControlRun. Returns a remark.

        Raises:
            CommandRefused: with what would be possible.
        """
        answer = self._call(
            srv.ControlRun,
            "control",
            command=command,
            run=run,
            node=node,
            now=now,
            come_back=come_back,
            into=into,
            how=how,
            value=value,
            breakpoints=list(breakpoints),
            seconds=float(seconds),
            source=source,
        )
        return str(answer.message)

    def read_runs(
        self, run: str = "", *, blueprint: str = "", first: int = 0, at_most: int = 0
    ) -> tuple[list[dict[str, Any]], int]:
        """The runs that are kept, the newest first, or the records of one; and how many there are in all.

        Raises:
            DefinitionError: there is no such run.
        """
        answer = self._call(srv.ReadRuns, "read_runs", run=run, blueprint=blueprint, first=first, at_most=at_most)
        return [json.loads(line) for line in answer.lines], int(answer.total)

    # --- state ----------------------------------------------------------------------------------

    @property
    def state(self) -> Any:
        """The last msg/BlueprintState; None: none has come."""
        return self._state

    def add_state_listener(self, listener: StateListener) -> None:
        """Call `listener(state)` with the present state if there is one, and with each later one in the receiving
        thread."""
        with self._state_changed:
            self._listeners = [*self._listeners, listener]
            if self._state is not None:
                listener(self._state)

    def remove_state_listener(self, listener: StateListener) -> None:
        """Undo `add_state_listener`."""
        with self._state_changed:
            self._listeners = [other for other in self._listeners if other != listener]

    def wait_for_state(self, happens: Callable[[Any], object], timeout_s: float | None = None) -> Any:
        """Wait for a state for which `happens(state)` is true; returns it.

        Raises:
            TimeoutError: it did not come within this time [s].
        """
        with self._state_changed:
            if not self._state_changed.wait_for(
                lambda: self._state is not None and bool(happens(self._state)), timeout_s
            ):
                raise TimeoutError(f"no such state of {self._name!r} within {timeout_s:g} s; the last: {self._state}")
            return self._state

    @property
    def is_there(self) -> bool:
        """Whether the node is there: its action can be called."""
        return bool(self._goals.server_is_ready())

    def _take_state(self, state: Any) -> None:
        with self._state_changed:
            self._state, self.heard_at = state, time.monotonic()
            self._state_changed.notify_all()
            listeners = self._listeners
        for listener in listeners:
            listener(state)

    def _call(self, service: Any, path: str, /, **fields: Any) -> Any:
        return self._services.call(service, f"{self._name}/{path}", **fields)


def _in_file(message: str, file: str) -> str:
    """A message about a text that the node calls "skill"."""
    return re.sub(r"^skill(?=:\d+: )", lambda _: file, message)


def _saved(answer: Any) -> SaveAnswer:
    errors = errors_of(answer)
    nodes = [*answer.nodes, *[""] * len(errors)]
    return SaveAnswer(
        name=answer.name,
        version=int(answer.version),
        warnings=tuple(answer.warnings),
        mistakes=tuple(zip(errors, nodes, strict=False)),
        overtaken=answer.overtaken,
        message="" if answer.success else answer.message,
    )


def values_of_messages(messages: Iterable[Any]) -> dict[str, Value]:
    """Name → value of msg/ParameterValue: a text, a number, or several numbers."""
    found: dict[str, Value] = {}
    for message in messages:
        numbers = tuple(message.values)
        found[message.name] = message.text if not numbers else numbers[0] if len(numbers) == 1 else numbers
    return found
