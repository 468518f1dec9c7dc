"""The services of the node `blueprints`: each request is one call of the executor, each refusal a message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.node import Node

from robot_rt_control import srv
from robot_rt_control.blueprint.node.driver import Driver
from robot_rt_control.blueprint.node.messages import record_lines, run_line, skill_message
from robot_rt_control.blueprint.runs.control_request import ControlRequest
from robot_rt_control.blueprint.runs.executor import Executor
from robot_rt_control.blueprint.skills.skill_library import Entry, mistakes_of
from robot_rt_control.blueprint.text.calls import Expanded
from robot_rt_control.blueprint.text.phrases import is_stop
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.program.text_store import BIN_S
from robot_rt_control.ros.refusals import answer_to, refusal_messages
from robot_rt_control.ros.request_sizes import check_sizes
from robot_rt_control.ros.requests import Served
from robot_rt_control.vocabulary.errors import ChannelError, DefinitionError, RobotControlError

_AT_MOST = 1000
"""Records or runs in one answer."""


class Services:
    """Offers all services of a node under `~/`, until `close`. Each is answered in a thread of its own.

    Args:
        node: a `ListeningNode`.
    """

    def __init__(self, node: Node, driver: Driver) -> None:
        self._node, self._driver = node, driver
        handlers: dict[str, tuple[Any, Callable[[Executor, Any, Any], str]]] = {
            "list_skills": (srv.ListSkills, _list_skills),
            "save_skill": (srv.SaveSkill, _save_skill),
            "delete_skill": (srv.DeleteSkill, _delete_skill),
            "give_command": (srv.GiveCommand, _give_command),
            "control": (srv.ControlRun, _control),
            "read_runs": (srv.ReadRuns, _read_runs),
        }
        served = Served()
        self._services = [
            node.create_service(kind, f"~/{name}", self._guarded(name, handler), callback_group=served)
            for name, (kind, handler) in handlers.items()
        ]

    def close(self) -> None:
        """Take the services back."""
        for service in self._services:
            self._node.destroy_service(service)
        self._services = []

    def _guarded(self, name: str, handler: Callable[[Executor, Any, Any], str]) -> Callable[[Any, Any], Any]:
        """A service's callback: whatever happens becomes an answer, and nothing ends the node."""

        def call(request: Any, response: Any) -> Any:
            def do() -> str:
                # A skill's text may be as long as a program; reading it looks at that. What stops may be any length.
                if name != "save_skill" and not (name == "give_command" and is_stop(request.text)):
                    check_sizes(name, request)
                remark = handler(executor_of(self._driver), request, response)
                self._driver.publish_now()
                return remark

            return answer_to(name, do, response, self._node.get_logger().error)

        return call


def executor_of(driver: Driver) -> Executor:
    """The executor. Raises ChannelError: the workcell has not been reached."""
    if driver.executor is None:
        raise ChannelError(f"blueprints cannot be executed: {driver.problem}", hint="Bring the workcell up first")
    return driver.executor


def _list_skills(executor: Executor, request: Any, response: Any) -> str:
    if request.deleted:
        found = executor.library.deleted(request.name)
        response.skills = [skill_message(entry, {}, with_text=request.with_text) for entry in found]
        return ""
    entries = executor.library.entries(request.name)
    if request.expand and request.name:
        names = dict.fromkeys(_names(executor.library.expand(request.name)))
        entries = [*entries, *(e for n in names if n != request.name for e in executor.library.entries(n))]
    entries = [e for e in entries if _fits(e, request)]
    entries.sort(key=lambda e: not (request.scenario and e.skill is not None and request.scenario in e.skill.scenarios))
    statistics = executor.history.statistics()
    response.skills = [skill_message(entry, statistics, with_text=request.with_text) for entry in entries]
    return ""


def _names(expanded: Expanded) -> list[str]:
    if expanded.level == "built in":
        return []
    return [expanded.skill, *(name for call in expanded.calls for name in _names(call))]


def _fits(entry: Entry, request: Any) -> bool:
    skill = entry.skill
    if request.level and (skill is None or skill.level != request.level):
        return False
    if request.category and (skill is None or skill.category != request.category):
        return False
    if request.scenario and (skill is None or request.scenario not in skill.scenarios):
        return False
    tags = skill.template.tags if skill is not None and isinstance(skill.template, SkillTemplate) else ()
    text = " ".join((entry.name, skill.description if skill is not None else "", *tags)).casefold()
    return all(word in text for word in request.search.casefold().split())


def _save_skill(executor: Executor, request: Any, response: Any) -> str:
    try:
        saved = executor.library.save(
            request.text,
            based_on=request.based_on or None,
            check_only=request.check_only,
            draft=request.draft,
        )
    except DefinitionError as error:
        try:
            template = SkillTemplate(request.text)
            response.name = template.name
        except RobotControlError:
            template = None
        response.nodes = [node for _, node in mistakes_of(error, template)]
        raise
    response.name, response.version = saved.name, saved.version
    if saved.version:
        executor.note("save", request.source, f"{saved.name}@{saved.version}")
    response.warnings = list(saved.warnings)
    response.refusals = [message for error, _ in saved.mistakes for message in refusal_messages(error)]
    response.nodes = [node for _, node in saved.mistakes]
    return "kept as a draft, which cannot be run" if saved.mistakes and saved.version else ""


def _delete_skill(executor: Executor, request: Any, response: Any) -> str:
    if request.restore:
        versions = executor.library.restore(request.name)
        executor.note("restore", request.source, request.name)
        return f"restored: version {', '.join(map(str, versions))}"
    versions = executor.library.delete(request.name)
    executor.note("delete", request.source, request.name)
    return f"deleted: version {', '.join(map(str, versions))}; in the bin for {BIN_S / 86400:.0f} days"


def _give_command(executor: Executor, request: Any, response: Any) -> str:
    name, run, remark = executor.give_command(request.text, gesture=request.gesture, source=request.source)
    response.blueprint, response.run = name, run.id if run is not None else ""
    return remark


def _control(executor: Executor, request: Any, response: Any) -> str:
    return executor.control(
        ControlRequest(
            command=request.command,
            run=request.run,
            node=request.node,
            now=request.now,
            come_back=request.come_back,
            into=request.into,
            how=request.how,
            value=request.value,
            breakpoints=tuple(request.breakpoints),
            seconds=request.seconds,
            source=request.source,
        )
    )


def _read_runs(executor: Executor, request: Any, response: Any) -> str:
    first, count = request.first, request.at_most or _AT_MOST
    if request.run:
        records = executor.history.records(request.run)
        response.total = len(records)
        response.lines = record_lines(records[first : first + count])
        return ""
    runs = executor.history.runs(executor.under_way())
    runs = [run for run in runs if not request.blueprint or run.skill == request.blueprint]
    response.total = len(runs)
    response.lines = [run_line(run) for run in runs[first : first + count]]
    return ""
