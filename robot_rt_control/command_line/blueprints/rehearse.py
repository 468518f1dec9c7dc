"""Rehearsing without a robot: `run --rehearse --workcell FILE`. Time passes as fast as nobody has to choose."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from robot_rt_control.blueprint.graph import events, orders
from robot_rt_control.blueprint.graph.events import Moment
from robot_rt_control.blueprint.graph.plan import read_path, shown_path
from robot_rt_control.blueprint.graph.results import Outcome, Results
from robot_rt_control.blueprint.runs.rehearsal import Ending, Rehearsal, first_success
from robot_rt_control.blueprint.runs.runner import Runner
from robot_rt_control.blueprint.text.calls import Calls
from robot_rt_control.blueprint.text.catalogue import SkillCatalogue
from robot_rt_control.blueprint.text.check import check_skill
from robot_rt_control.client.actions import parameter_values
from robot_rt_control.command_line.blueprints.offline_skills import offline_skills
from robot_rt_control.command_line.blueprints.records import shown_record
from robot_rt_control.command_line.blueprints.remote_blueprints import source
from robot_rt_control.command_line.cancelling import cancelled_by_signals
from robot_rt_control.command_line.exit_codes import ExitCode
from robot_rt_control.command_line.output import Output
from robot_rt_control.program.declarations import parts_of
from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError, unknown

_TICK_S = 0.001


class OfflineRun:
    """One rehearsed run, with a clock of its own.

    Args:
        choices: path of a node → its results, one for each time that its skill ends.
        ask: asks a person: given the question and the possible answers. Default: nobody is asked.
        said: gets each record.

    Raises:
        DefinitionError: it cannot begin.
    """

    def __init__(
        self,
        catalogue: SkillCatalogue,
        name: str,
        begin: events.Begin,
        *,
        choices: dict[str, list[str]] | None = None,
        ask: Callable[[str, list[str]], str] | None = None,
        said: Callable[[orders.Record], object] = lambda _: None,
    ) -> None:
        self._moment = Moment(tick=0, time=0.0)
        self._choices, self._ask, self._said = choices or {}, ask, said
        self.records: list[orders.Record] = []
        self.performer = Rehearsal(catalogue, lambda: self._moment, choose=self._choose)
        self.runner = Runner(Calls(catalogue).plan(name), self.performer, self)
        refused = self.runner.give(begin)
        if refused:
            raise DefinitionError(f"{name!r} cannot begin: {refused}")

    def write(self, record: orders.Record) -> None:
        """Keep a record; the runner calls it."""
        self.records.append(record)
        self._said(record)

    def run(self, at_most: int, cancelled: Callable[[], bool] = lambda: False) -> Outcome:
        """Run it to its end.

        Args:
            at_most: visits of nodes; then it is cancelled.

        Raises:
            DefinitionError: a result was chosen that the skill does not have.
        """
        while True:
            for question in list(self.runner.questions.values()):
                answers, path = list(question.answers), shown_path(question.path)
                shown = [question.titles.get(each, each) for each in answers]
                answer = self._next(path, answers) or self._asked(f"{path}: {question.text}", shown) or answers[0]
                refused = self.runner.give(events.Answer(activity=question.activity, answer=answer))
                if refused:
                    raise DefinitionError(f"node {path!r}: {refused}")
            outcome = self.runner.update()
            if outcome is not None:
                return outcome
            if cancelled():
                self.runner.give(events.Cancel(source="Ctrl-C"))
            elif sum(record["what"] == "node" for record in self.records) > at_most:
                self.runner.give(events.Cancel(source=f"the bound of {at_most} nodes"))
            self._pass()

    def _pass(self) -> None:
        """Let a tick pass; where only time is awaited, all of it."""
        deadline, time = self.runner.engine.next_deadline, self._moment.time + _TICK_S
        if deadline is not None and not self.performer.under_way and not self.runner.questions:
            time = max(time, deadline)
        self._moment = Moment(tick=self._moment.tick + 1, time=time)

    # --- choices --------------------------------------------------------------------------------

    def _next(self, path: str, results: list[str]) -> str:
        """The next of the results that were given for a node."""
        waiting = self._choices.get(path)
        if not waiting:
            return ""
        if waiting[0] not in results:
            expected = unknown("result", waiting[0], results)
            raise DefinitionError(f"--choose: node {path!r} has no result {waiting[0]!r}", expected=expected)
        return waiting.pop(0)

    def _choose(self, order: orders.StartSkill, results: Results) -> Ending | None:
        path = shown_path(order.path)
        chosen = self._next(path, list(results))
        if chosen:
            return Ending(result=chosen)
        if self._ask is None:
            return first_success(order, results)
        reactions = {
            f"!{condition}": (watch.watch, index)
            for watch in self.performer.watched.values()
            for index, condition in enumerate(watch.conditions)
        }
        said = self._asked(f"{path}: {order.skill}", [*results, *reactions])
        if said in reactions:
            self.performer.fire(*reactions[said])
            return None
        return Ending(result=said)

    def _asked(self, question: str, answers: list[str]) -> str:
        return "" if self._ask is None else self._ask(question, answers)


def rehearse(arguments: argparse.Namespace) -> int:
    """Run a skill of a file or of the package. Returns the exit code."""
    output = Output(as_json=arguments.json)
    known = offline_skills([arguments.skill], arguments.workcell)
    (template,) = known.asked
    for warning in check_skill(template, known.catalogue):
        output.warning(warning)
    choices: dict[str, list[str]] = {}
    for node, results in arguments.choose:
        choices.setdefault(shown_path(read_path(node)), []).extend(results)
    begin = events.Begin(
        arguments=tuple(parameter_values(dict(arguments.values))),
        parts=parts_of(template.roles, arguments.parts, of=f"skill {template.name!r}"),
        at=read_path(arguments.at),
        source=source(),
    )
    for option in ("outputs-of", "paused", "break", "busy"):
        if getattr(arguments, {"break": "breakpoints"}.get(option, option.replace("-", "_"))):
            raise DefinitionError(f"--{option}", expected="a run on a robot, without --workcell")

    def say(record: orders.Record) -> None:
        line = shown_record(record, template.name)
        if line and not output.as_json:
            output.result(None, line)

    with cancelled_by_signals() as cancelled:
        run = OfflineRun(
            known.catalogue,
            template.name,
            begin,
            choices=choices,
            ask=_ask if arguments.ask else None,
            said=say,
        )
        outcome = run.run(arguments.at_most, cancelled.is_set)
    for node, left in choices.items():
        if left:
            output.warning(f"--choose {node}: {','.join(left)} did not come")
    data = {"result": outcome.result, "success": not outcome.failure, "reason": outcome.reason}
    output.result({**data, "outputs": dict(outcome.outputs), "records": run.records})
    if not outcome.failure:
        return ExitCode.DONE
    return ExitCode.INTERRUPTED if cancelled.is_set() else ExitCode.FAILED


def _ask(question: str, answers: list[str]) -> str:
    """Ask at the terminal; an empty line takes the first answer.

    Raises:
        RobotControlError: the input has ended.
    """
    while True:
        print(f"{question} [{' | '.join(answers)}] ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        if not line:
            raise RobotControlError("nobody answers any more", hint="Without --ask, nobody is asked")
        said = line.strip() or answers[0]
        fitting = [answer for answer in answers if answer.startswith(said)]
        if said in answers or len(fitting) == 1:
            return said if said in answers else fitting[0]
        print(f"expected one of these; got {said!r}", file=sys.stderr)


