"""What if: a blueprint goes on from a moment of a past run, with another text, in lockstep on simulated hardware.

Where its joints were, what its sensors measured, which node ran, and what earlier nodes had given are those of the
moment; what is not known of it is named in `notes`. Nothing of the real robot is reached: every device is simulated or
mock, and skills made of Python or ROS are refused. The module is also a process beside another one: see
`processes.call`.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from robot_rt_control.blueprint.graph.events import Answer
from robot_rt_control.blueprint.graph.plan import Kind, Plan, read_path, shown_path
from robot_rt_control.blueprint.runs.run_log import outputs_of, present_nodes, read_log
from robot_rt_control.blueprint.text.calls import Calls
from robot_rt_control.blueprint.text.catalogue import SkillCatalogue
from robot_rt_control.blueprint.text.check import check_skill
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.model.workcell import workcell_schema
from robot_rt_control.model.workcell.simulators import SIMULATOR, SIMULATORS
from robot_rt_control.model.workcell.workcell import MOCK, Workcell, load_workcell
from robot_rt_control.processes.call import answer
from robot_rt_control.program.file import ProgramTemplate, library_template
from robot_rt_control.program.library import library_programs
from robot_rt_control.recording.columns import split_rows
from robot_rt_control.recording.tick_index import TickIndex
from robot_rt_control.recording.tick_reader import TickFile
from robot_rt_control.server.offline_catalogue import offline_catalogue
from robot_rt_control.testing.lockstep_blueprint import LockstepBlueprint
from robot_rt_control.testing.lockstep_client import LockstepClient
from robot_rt_control.text.schema import read
from robot_rt_control.vocabulary.defaults import MOST_WHAT_IF_RECORDS
from robot_rt_control.vocabulary.errors import DefinitionError, ProgramError, RobotControlError

MOST_S = 60.0
"""[s] of simulated time at most."""
_TICKS = 50
"""Between two looks at questions."""
Record = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Moment:
    """A moment of a run.

    Attributes:
        tick: of the loop that ran then.
        node: the node of the outermost graph that ran; it begins anew.
        positions: joint, as in joint_states → position [rad or m].
        values: state variable → its value; those of sensors count.
        outputs: "seat.wish" → value: what earlier nodes had given.
        answers: path of a question → the next answer that it got in that run, else the last one before.
        parts: for the roles.
        parameters: of the run.
    """

    tick: int
    node: str
    positions: Mapping[str, float] = field(default_factory=dict)
    values: Mapping[str, float] = field(default_factory=dict)
    outputs: Mapping[str, Any] = field(default_factory=dict)
    answers: Mapping[str, str] = field(default_factory=dict)
    parts: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class WhatIf:
    """What came of it.

    Attributes:
        result: empty: it had not ended after the time.
        first, last: ticks of the simulation in which it went on, and of its end.
        records: of the run, with ticks of the simulation.
        said: texts.
        notes: what of the moment was not taken over, in words.
    """

    result: str
    failure: bool
    reason: str
    first: int
    last: int
    records: list[Record]
    said: list[str]
    notes: list[str]


def moment_of(records: Sequence[Record], tick: int) -> Moment:
    """What the log of a run says of a tick.

    Raises:
        DefinitionError: no node of the run ran in that tick.
    """
    until = [record for record in records if record["tick"] <= tick]
    nodes = [path for path in present_nodes(until) if "/" not in path]
    if not nodes or any(record["what"] == "end" for record in until):
        raise DefinitionError(f"tick {tick}", expected="a tick in which a node of the run ran", got="none")
    begun = next((record for record in until if record["what"] == "run"), {})
    asked = {record["path"] for record in records if record["what"] == "question"}
    ended = [record for record in records if record["what"] == "ended" and record["path"] in asked]
    answers = {record["path"]: record["result"] for record in ended if record["tick"] <= tick}
    answers |= {record["path"]: record["result"] for record in reversed(ended) if record["tick"] > tick}
    return Moment(
        tick=tick,
        node=nodes[0],
        outputs=outputs_of(until),
        answers=answers,
        parts=begun.get("roles", {}),
        parameters=begun.get("parameters", {}),
    )


def recorded_values(recording: Path | str, tick: int) -> dict[str, float]:
    """State variable → its value in a tick of a recording; of an array `arm.position[2]`.

    Raises:
        RobotControlError: it cannot be read, or lacks the tick.
    """
    file = TickFile(recording)
    with contextlib.closing(TickIndex(file)) as index:
        rows = index.rows(tick, tick)
    if not len(rows):
        raise RobotControlError(f"recording {file.path}", expected=f"tick {tick}", got="a recording without it")
    found: dict[str, float] = {}
    for column in file.columns:
        if not column.modes_of and not column.integer:
            values = np.atleast_1d(split_rows(rows, file.columns)[column.name][0])
            names = [column.name] if column.scalar else [f"{column.name}[{i}]" for i in range(len(values))]
            found |= dict(zip(names, values.tolist(), strict=True))
    return found


def what_if(
    workcell: Path | str,
    text: str,
    moment: Moment,
    *,
    skills: Iterable[str] = (),
    programs: Iterable[str] = (),
    seconds: float = MOST_S,
    simulator: str = "",
    record: Path | None = None,
) -> WhatIf:
    """Let a blueprint go on from a moment, in simulated time.

    Args:
        workcell: its file.
        text: of the blueprint.
        skills, programs: texts of others that it may call, beside those that come with the package.
        seconds: of simulated time, at most MOST_S.
        simulator: as of `load_workcell`.
        record: the file for all ticks of it.

    Raises:
        DefinitionError, ProgramError: what is wrong with the text, each with its line; or it has no such node.
        RobotControlError: it cannot be simulated, and why.
    """
    if not 0.0 < seconds <= MOST_S:
        raise DefinitionError("seconds", expected=f"more than 0, at most {MOST_S:g}", got=f"{seconds:g}")
    notes: list[str] = []
    cell = simulated(workcell, moment, notes, simulator=simulator)
    catalogue, template = _catalogue(cell, text, skills, programs)
    plan = Calls(catalogue).plan(template.name)
    _check_plan(plan, catalogue)
    if read_path(moment.node)[0] not in plan.graphs[plan.root].nodes:
        raise DefinitionError(f"node {moment.node!r}, which ran at that moment", expected="a node of the blueprint",
                              got="none", hint="It may be changed, but has to be there")  # fmt: skip
    notes.append("The robot begins at rest, its tools and outputs as the workcell file has them.")
    notes.append(f"Node {moment.node!r} begins anew; values, counts and attempts do as well.")
    with LockstepClient(cell, record=record) as client:
        notes += _set_sensors(client, moment)
        client.sleep(cell.period)
        first = client.cell.tick + 1
        run = LockstepBlueprint(
            client,
            catalogue,
            template.name,
            moment.parts,
            begin={"at": read_path(moment.node), "outputs": moment.outputs, "source": "what if"},
            **moment.parameters,
        )
        outcome = None
        for _ in range(0, round(seconds / cell.period), _TICKS):
            outcome = run.step(_TICKS)
            if outcome is not None or not _answered(run, moment, notes):
                break
            if len(run.records) >= MOST_WHAT_IF_RECORDS:
                notes.append(f"It ends after {MOST_WHAT_IF_RECORDS} records.")
                break
        return WhatIf(
            result=outcome.result if outcome is not None else "",
            failure=outcome is not None and outcome.failure,
            reason=outcome.reason if outcome is not None else "",
            first=first,
            last=client.cell.tick,
            records=[dict(each) for each in run.records],
            said=list(run.said),
            notes=notes,
        )


def simulated(workcell: Path | str, moment: Moment, notes: list[str], *, simulator: str = "") -> Workcell:
    """The workcell on simulated hardware, mock where a device has no simulation, with its joints where they were.

    Args:
        notes: gets what could not be taken over.

    Raises:
        DefinitionError: the file is not valid.
        RobotControlError: a device of it would not be simulated.
    """
    read_first = load_workcell(workcell, MOCK)
    content, _ = read(workcell_schema.WorkcellFile, read_first.document)
    assert content is not None  # it was loaded
    plugins = {n: SIMULATOR if set(SIMULATORS) & d.plugins.keys() else MOCK for n, d in content.devices.items()}
    general = SIMULATOR if SIMULATOR in plugins.values() else MOCK
    hardware = ",".join([general, *(f"{name}={plugin}" for name, plugin in plugins.items())])
    named = read_first.joint_state_names()
    start: dict[str, list[float]] = {}
    for part in read_first.parts:
        joints = named.get(part.name, ())[: part.dof]
        if not joints:
            continue
        positions = [moment.positions.get(name, np.nan) for name in joints]
        positions = [
            moment.values.get(f"{part.name}.position[{i}]", q) if np.isnan(q) else q for i, q in enumerate(positions)
        ]
        if not np.isfinite(positions).all():
            notes.append(f"Where {part.name} was is not known: it begins where the workcell file says.")
            continue
        limits = part.system_limits
        start[part.name] = np.clip(
            positions, limits.position_lower[: part.dof], limits.position_upper[: part.dof]
        ).tolist()
    found = load_workcell(workcell, hardware, simulator=simulator if general == SIMULATOR else "", start=start)
    wrong = [f"{d.name} on {d.plugin}" for d in found.devices if d.plugin not in (MOCK, *SIMULATORS)]
    if wrong:
        raise RobotControlError(f"workcell {found.path}", expected="only simulated devices", got=", ".join(wrong))
    if general == SIMULATOR:
        notes.append("Objects begin where the workcell file has them: where they were is not recorded.")
    return found


def _catalogue(
    workcell: Workcell, text: str, skills: Iterable[str], programs: Iterable[str]
) -> tuple[SkillCatalogue, SkillTemplate]:
    """The skills, and the blueprint, checked. What cannot be read is left out: the check refuses what calls it."""
    known = {name: library_template(name) for name in library_programs()}
    for other in programs:
        with contextlib.suppress(DefinitionError, ProgramError):
            program = ProgramTemplate(other)
            known[program.name] = program
    kept = {}
    for other in skills:
        with contextlib.suppress(DefinitionError, ProgramError):
            skill = SkillTemplate(other)
            kept[skill.name] = skill
    found = SkillCatalogue(offline_catalogue(workcell), known, kept)
    template = SkillTemplate(text)
    check_skill(template, found)
    return found.with_skill(template), template


def _check_plan(plan: Plan, catalogue: SkillCatalogue) -> None:
    """Check all that it calls, and that nothing of it reaches beyond the simulation.

    Raises:
        DefinitionError: something does.
    """
    for name in plan.graphs:
        template = catalogue.find(name).template
        if name != plan.root and isinstance(template, SkillTemplate):
            check_skill(template, catalogue)
    calls = [call for graph in plan.graphs.values() for node in graph.nodes.values() for call in node.call.inner()]
    called = {call.skill for call in calls if call.kind in (Kind.LEAF, Kind.GRAPH)}
    for name in sorted({*called, *plan.graphs} - {"", "say"}):
        template = catalogue.find(name).template
        is_ = template.content.is_ if isinstance(template, SkillTemplate) else None
        if is_ is not None and is_.made:
            raise DefinitionError(f"skill {name!r}", expected="programs, actions and what is built in", got=is_.made,
                                  hint="What it reaches is not simulated")  # fmt: skip


def _set_sensors(client: LockstepClient, moment: Moment) -> list[str]:
    """Let mock sensors measure what they measured then, and keep it."""
    cell = client.cell
    held = set()
    for name in cell.sensors:
        value = moment.values.get(name.replace("/", ".", 1))
        if value is not None and np.isfinite(value):
            cell.set_sensor(name, value)
            held.add(name.partition("/")[0])
    moving = {part.name for part in cell.workcell.parts if part.dof}
    mock = {name.partition("/")[0] for name in cell.sensors} - moving
    notes = [f"{part} keeps what it measured then: it is not simulated." for part in sorted(held - moving)]
    return notes + [f"What {part} measured is not known." for part in sorted(mock - held)]


def _answered(run: LockstepBlueprint, moment: Moment, notes: list[str]) -> bool:
    """Answer questions as they were answered then. Returns whether all are."""
    for activity, question in list(run.runner.questions.items()):
        path = shown_path(question.path)
        known = moment.answers.get(path)
        if known is None or run.give(Answer(source="what if", answer=known, activity=activity)):
            notes.append(f"{path} asks, and nobody answered it then: it ends there.")
            return False
    return True


def _answer(question: dict[str, Any]) -> dict[str, Any]:
    """Of a question as JSON: `workcell`, `text`, `tick`; `log` (file) or `records`; `recording` (file), or `positions`
    and `values`; `skills`, `programs`, `seconds`, `simulator`, `record` as of `what_if`."""
    records = question["records"] if "records" in question else read_log(Path(question["log"]))
    tick = question["tick"]
    then = moment_of(records, tick)
    values = recorded_values(question["recording"], tick) if "recording" in question else question.get("values", {})
    then = replace(then, values=values, positions=question.get("positions", {}))
    record = question.get("record")
    options = {key: question[key] for key in ("skills", "programs", "seconds", "simulator") if key in question}
    workcell = question.get("workcell") or TickFile(question["recording"]).about["workcell_file"]
    found = what_if(workcell, question["text"], then, record=Path(record) if record else None, **options)
    return asdict(found)


if __name__ == "__main__":
    os.nice(5)  # a loop beside it comes first; but somebody waits for it
    answer(_answer)
