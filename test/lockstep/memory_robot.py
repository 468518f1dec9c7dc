"""A robot in memory for tests of the editor: the blueprints' real core, skills that take a second and move nothing."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from robot_rt_control.blueprint.graph import events, orders
from robot_rt_control.blueprint.graph.events import EngineEvent, Moment
from robot_rt_control.blueprint.graph.results import STANDARD, Outcome
from robot_rt_control.blueprint.makers.ros.answers import InstalledTypes
from robot_rt_control.blueprint.runs.run_state import state_of
from robot_rt_control.blueprint.runs.runner import Runner
from robot_rt_control.blueprint.skills.store import SkillStore
from robot_rt_control.blueprint.text import phrases
from robot_rt_control.blueprint.text.calls import Calls
from robot_rt_control.blueprint.text.catalogue import Skill, SkillCatalogue
from robot_rt_control.blueprint.text.check import check_skill
from robot_rt_control.blueprint.text.phrases import understand
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.command_line.offline_catalogue import offline_catalogue
from robot_rt_control.definitions.action_type import Parameter
from robot_rt_control.definitions.parameter_value import ParameterValue
from robot_rt_control.editor.robot import SOURCE, TimelineNews
from robot_rt_control.program.check import check_program
from robot_rt_control.program.exits import exits_of
from robot_rt_control.program.file import ProgramTemplate, library_template
from robot_rt_control.program.library import library_programs
from robot_rt_control.vocabulary.errors import (
    CommandRefused,
    DefinitionError,
    Overtaken,
    ProgramError,
    RobotControlError,
    SessionError,
)

Json = dict[str, Any]
CONFIG = Path(__file__).parent / "mock_bench.yaml"


def refusals(error: RobotControlError) -> list[Json]:
    """As msg/Refusal."""
    errors = list(error.mistakes) if isinstance(error, ProgramError) else [error]
    return [
        {
            "error": type(e).__name__,
            "what": getattr(e, "what", str(e)),
            "expected": getattr(e, "expected", ""),
            "got": getattr(e, "got", ""),
            "hint": getattr(e, "hint", ""),
            "text": "",
            "position": 0,
            "line": getattr(e, "line", 0) or 0,
        }
        for e in errors
    ]


def parameter_info(p: Parameter) -> Json:
    """As msg/ParameterInfo."""
    return {
        "name": p.name,
        "type": p.type,
        "unit": p.unit,
        "length": str(p.length),
        "required": p.default is None and not p.optional,
        "default_value": "" if p.default is None else str(p.default),
        "minimum": p.minimum,
        "maximum": p.maximum,
        "choices": list(p.choices),
        "description": p.description,
    }


@cache
def _bench_skills() -> SkillCatalogue:
    """Those of the bench, without kept ones. It takes half a second, and nobody changes it: all robots share it."""
    programs = {name: library_template(name) for name in library_programs()}
    return SkillCatalogue(offline_catalogue(CONFIG), programs, {}, interfaces=InstalledTypes())


@dataclass
class Leaf:
    """A skill that takes a second."""

    order: orders.StartSkill
    ends_at: float
    result: str = "done"


@dataclass
class MemoryRun:
    """One run; it performs its skills itself."""

    robot: MemoryRobot
    id: str
    plan: Any
    source: str
    catalogue: SkillCatalogue
    skill: str = ""
    rehearsed: bool = False
    records: list[Json] = field(default_factory=list)
    leaves: dict[int, Leaf] = field(default_factory=dict)
    ended: list[EngineEvent] = field(default_factory=list)
    outcome: Outcome | None = None

    def __post_init__(self) -> None:
        self.runner = Runner(self.plan, self, self)
        self.began = time.strftime("%Y%m%d-%H%M%S")

    @property
    def seconds(self) -> float:
        """[s] from its first record to its last."""
        times = [float(record["time"]) for record in self.records]
        return times[-1] - times[0] if times else 0.0

    def moment(self) -> Moment:
        time = self.robot.time
        return Moment(tick=round(time * 1000), time=time, values=self.robot.variable_values)

    def happened(self) -> list[EngineEvent]:
        found, self.ended = self.ended, []
        for id, leaf in list(self.leaves.items()):
            if leaf.ends_at <= self.robot.time:
                del self.leaves[id]
                found.append(events.Ended(activity=id, result=leaf.result))
        return found

    def start(self, order: orders.StartSkill) -> None:
        result = self.robot.results.get(order.skill, "")
        if not result:
            try:
                known = self.catalogue.find(order.skill).results
            except DefinitionError:
                known = STANDARD
            result = next((name for name, failure in known.items() if not failure), "done")
        seconds = self.robot.seconds if order.skill != "say" else 0.0
        self.leaves[order.activity] = Leaf(order, self.robot.time + seconds, result)

    def cancel(self, activity: int) -> None:
        if self.leaves.pop(activity, None) is not None:
            self.ended.append(events.Ended(activity=activity, result="cancelled"))

    def answer(self, activity: int, answer: str) -> None: ...

    def watch(self, order: orders.Watch) -> None: ...

    def unwatch(self, watch: int) -> None: ...

    def write(self, record: Mapping[str, Any]) -> None:
        self.records.append(dict(record))

    def nodes(self) -> list[Json]:
        state = state_of(self.runner.engine)
        empty = {
            "run": self.id, "visit": 0, "attempt": 0, "since": 0.0, "question": "", "answers": [], "result": "",
            "reason": "", "parts": [], "source": "", "rehearsed": False, "will_pause": False,
            "has_to_be_said": False, "jump": "", "breakpoints": [],
        }  # fmt: skip
        questions = {"/".join(q.path): q for q in state.questions}
        outcome = state.outcome
        run = {
            **empty,
            "path": "",
            "does": self.skill,
            "state": "ended" if outcome else state.stands or ("ends" if state.ending else "runs"),
            "result": outcome.result if outcome else "",
            "reason": outcome.reason if outcome else "",
            "source": self.source,
            "rehearsed": self.rehearsed,
            "will_pause": state.will_pause,
            "has_to_be_said": state.has_to_be_said,
            "jump": state.jump,
            "breakpoints": [*state.before, *(f"after {p}" for p in state.after)],
        }
        found = [run]
        for node in state.nodes:
            asks = questions.get(node.path)
            found.append({
                **empty, "path": node.path, "does": node.does, "visit": node.visit, "attempt": node.attempt,
                "state": "ends" if node.ends else "asks" if asks else "runs",
                "question": asks.text if asks else "", "answers": list(asks.answers) if asks else [],
            })  # fmt: skip
        if state.stands and state.stands_at not in {n["path"] for n in found}:
            found.append({**empty, "path": state.stands_at, "does": "", "state": state.stands})
        return found


class MemoryJogger:
    """Remembers what it was to do.

    Attributes:
        taken: action, values [rad/s, m/s] and age [s] of each command.
        refusal: raised as soon as something is to move.
    """

    def __init__(self, part: str, name: str) -> None:
        self.part, self.name, self.is_closed = part, name, False
        self.taken: list[tuple[str, list[float], float]] = []
        self.refusal: Exception | None = None

    @property
    def is_open(self) -> bool:
        return bool(self.taken)

    def take(self, action: str, values: Any, age: float, *, moves: bool | None = None) -> None:
        self.taken.append((action, [float(value) for value in values], age))

    def process(self) -> None:
        if self.refusal is not None and any(any(values) for _, values, _ in self.taken):
            raise self.refusal

    def close(self) -> None:
        self.is_closed = True


class MemoryRobot:
    """The robot.

    Args:
        folder: of kept skills.
        seconds: what each skill takes.
    """

    def __init__(self, folder: Path, *, seconds: float = 1.0) -> None:
        self.store = SkillStore(folder)
        self.seconds, self.speed, self.stopped = seconds, 1.0, False
        self.stops: list[Json] = []
        self.silent: Json = {}
        self.results: dict[str, str] = {}
        self.variable_values: dict[str, float] = {"below.distance": 2.0, "ahead.distance": 1.0}
        self.connected = True
        self.description_text = ""
        self.positions: dict[str, float] = {}
        self.joints_followed = self.timeline_followed = False
        self.news = TimelineNews()
        self.defined: dict[str, Json] = {}
        """Session → its actions and reactions."""
        self.drawn_shapes: list[Json] = []
        self.simulated: list[Json] = []
        self.faults: dict[str, str] = {}
        self.disabled: set[str] = set()
        self.joggers: list[MemoryJogger] = []
        self.program_states: list[Json] = []
        self.started = time.monotonic()
        self.time = 0.0
        self.runs: list[MemoryRun] = []
        self._base = _bench_skills()
        self.programs, self.workcell = self._base.programs, self._base.workcell
        self.own_programs: dict[str, list[str]] = {}
        self.calls: list[tuple[str, Json]] = []
        self._callbacks: list[Callable[[Json], None]] = []
        self._lock = threading.RLock()
        self._changes = 1
        self._last = ""
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._end.set()
        self._thread.join(5)

    def _spin(self) -> None:
        before = time.monotonic()
        while not self._end.wait(0.01):
            now = time.monotonic()
            with self._lock:
                self.time += (now - before) * (0.0 if self.stopped else 1.0)
                before = now
                for run in self.runs:
                    if run.outcome is None:
                        run.outcome = run.runner.update()
                self._publish()

    def _publish(self) -> None:
        shown = [r for r in self.runs if r.outcome is None] or self.runs[-1:]
        state = {
            "nodes": [n for run in shown for n in run.nodes()],
            "protective_stop": self.stopped,
            "armed": 0.0,
            "waiting": [],
            "problem": "",
            "skills_changed": self._changes,
        }
        text = json.dumps(state)
        if text != self._last:
            self._last = text
            whole = {"tick": round(self.time * 1000), "time": self.time, **state}
            for callback in self._callbacks:
                callback(whole)

    def _catalogue(self) -> SkillCatalogue:
        kept: dict[str, SkillTemplate] = {}
        for name, versions in self.store.kept().items():
            for version in versions:
                template = self.store.get(f"{name}@{version}").template
                if template is not None:
                    kept[f"{name}@{version}"] = kept[name] = template
        return self._base.with_skills(kept)

    # --- the interfaces -------------------------------------------------------------------------

    def call(self, service: str, request: Mapping[str, Any]) -> Json:
        if not self.connected:
            raise RobotControlError("no answer of /blueprints", hint="Is its process running?")
        with self._lock:
            self.calls.append((service, dict(request)))
            try:
                answer = getattr(self, f"_{service}")(**request)
            except RobotControlError as error:
                return {"success": False, "message": str(error), "refusals": refusals(error)}
            return {"success": True, "message": "", "refusals": [], **answer}

    def _info(self, skill: Skill, calls: list[str], *, with_text: bool) -> Json:
        template = skill.template
        own = template if isinstance(template, SkillTemplate) else None
        stored = self.store.get(skill.name) if own else None
        origin = "action_type" if skill.level == "capability" and not own else "program"
        return {
            "name": skill.name,
            "version": stored.version if stored else 0,
            "versions": list(stored.versions) if stored else [],
            "origin": "store" if stored else origin,
            "level": skill.level,
            "category": skill.category,
            "description": skill.description,
            "scenarios": list(skill.scenarios),
            "tags": list(getattr(template, "tags", ())),
            "parts": [f"{r.name}: {r.shown_kinds}" + (f" ({r.default})" if r.default else "") for r in skill.roles],
            "moves": sorted(skill.moves),
            "parameters": [parameter_info(p) for p in skill.parameters],
            "results": [n for n, bad in skill.results.items() if not bad],
            "failures": [n for n, bad in skill.results.items() if bad],
            "outputs": [
                parameter_info(Parameter(name=name, unit=output.unit, default=0.0))
                for name, output in skill.outputs.items()
            ],
            "phrases": [p for c in own.content.commands for p in c.say] if own else [],
            "gestures": [],
            "calls": calls,
            "runs": sum(r.skill == skill.name for r in self.runs),
            "succeeded": 0,
            "duration": float("nan"),
            "problem": skill.problem,
            "text": stored.text if stored and with_text else "",
        }  # fmt: skip

    def _list_skills(self, name: str = "", level: str = "", category: str = "", scenario: str = "", search: str = "",
                     with_text: bool = False, expand: bool = False, deleted: bool = False) -> Json:  # fmt: skip
        if deleted:
            return {"skills": [{**self._nothing(), "name": s.name, "version": s.version, "versions": list(s.versions),
                                "origin": "store", "text": s.text if with_text else "",
                                "saved": {"sec": s.saved_ns // 10**9, "nanosec": 0}}
                               for s in self.store.deleted(name)]}  # fmt: skip
        catalogue = self._catalogue()
        calls = Calls(catalogue)
        base = name.partition("@")[0]
        names: list[str] = [base] if base else list(catalogue.names)
        if expand:
            waiting = list(names)
            while waiting:
                for called in self._called(calls, waiting.pop()):
                    if called not in names:
                        names.append(called)
                        waiting.append(called)
        found = []
        for each in names:
            skill = catalogue.find(each)
            info = self._info(skill, self._called(calls, each), with_text=with_text)
            if "@" in name:
                stored = self.store.get(name)
                info |= {"version": stored.version, "text": stored.text if with_text else ""}
            words = f"{info['name']} {info['description']} {' '.join(info['tags'])}".casefold()
            if (
                (not level or info["level"] == level)
                and (not category or info["category"] == category)
                and (not scenario or scenario in info["scenarios"])
                and all(word in words for word in search.casefold().split())
            ):
                found.append(info)
        return {"skills": sorted(found, key=lambda s: not s["scenarios"])}

    @staticmethod
    def _called(calls: Calls, name: str) -> list[str]:
        try:
            return [e.skill for e in calls.expand(name).calls if e.level != "built in"]
        except RobotControlError:
            return []

    def _save_skill(self, text: str, based_on: int = 0, check_only: bool = False, draft: bool = False,
                    source: str = "") -> Json:  # fmt: skip
        template, problem, warnings = None, None, []
        try:
            template = SkillTemplate(text)
            warnings = check_skill(template, self._catalogue())
        except RobotControlError as error:
            problem = error
        mistakes = refusals(problem) if problem else []
        nodes = [template.node_at(m["line"]) if template and m["line"] else "" for m in mistakes]
        answer = {
            "name": template.name if template else "", "version": 0, "warnings": warnings, "nodes": nodes,
            "refusals": mistakes, "overtaken": "", "success": problem is None or draft,
            "message": str(problem) if problem else "",
        }  # fmt: skip
        if check_only or (problem and not draft) or template is None:
            return answer
        try:
            answer["version"] = self.store.save(text, based_on=based_on or None)
            self._changes += 1
        except Overtaken as error:
            answer |= {"success": False, "message": str(error), "refusals": refusals(error), "nodes": [""],
                       "overtaken": error.text}  # fmt: skip
        return answer

    @staticmethod
    def _nothing() -> Json:
        """msg/SkillInfo of a skill of which nothing but its text is known."""
        lists = ("scenarios", "tags", "parts", "moves", "parameters", "results", "failures", "outputs", "phrases",
                 "gestures", "calls")  # fmt: skip
        return {"level": "", "category": "", "description": "", "runs": 0, "succeeded": 0, "duration": None,
                "problem": "", **{key: [] for key in lists}}  # fmt: skip

    def _delete_skill(self, name: str, source: str = "", restore: bool = False) -> Json:
        if restore:
            self.store.restore(name)
            self._changes += 1
            return {}
        calls = Calls(self._catalogue())
        callers = [n for n in self.store.names() if n != name and name in self._called(calls, n)]
        if callers:
            raise DefinitionError(f"skill {name!r} is called by {', '.join(callers)}")
        self.store.delete(name)
        self._changes += 1
        return {}

    def _give_command(self, text: str, gesture: bool = False, source: str = "") -> Json:
        if phrases.is_stop(text):
            return self._control("cancel", source=source)
        templates = {name: self.store.get(name).template for name in self.store.names()}
        said = understand(text, {name: template for name, template in templates.items() if template})
        given = [{"name": p.name, "values": [p.value], "text": ""} for p in said.arguments]
        return {**self.run({"skill": said.skill, "parameters": given, "source": source}), "blueprint": said.skill}

    def _control(self, command: str, run: str = "", node: str = "", now: bool = False, come_back: bool = False,
                 into: bool = False, how: str = "", value: str = "", breakpoints: Iterable[str] = (),
                 seconds: float = 0.0, source: str = "") -> Json:  # fmt: skip
        active = [r for r in self.runs if r.outcome is None and run in ("", r.id)]
        if not active:
            raise RobotControlError(f"no run {run!r} is under way")
        it = active[0]
        path = tuple(node.split("/")) if node else ()
        points = [p.removeprefix("after ") for p in breakpoints if p.startswith("after ")]
        before = [p for p in breakpoints if not p.startswith("after ")]
        made: dict[str, Callable[[], events.Command]] = {
            "pause": lambda: events.Pause(source=source, now=now),
            "resume": lambda: events.Resume(source=source, how=how),
            "step": lambda: events.Step(source=source, into=into),
            "jump": lambda: events.Jump(source=source, target=path, now=now, come_back=come_back),
            "skip": lambda: events.Skip(source=source, node=path, result=value),
            "cancel": lambda: events.Cancel(source=source),
            "breakpoints": lambda: events.SetBreakpoints(
                source=source,
                before=frozenset(tuple(p.split("/")) for p in before),
                after=frozenset(tuple(p.split("/")) for p in points),
            ),
            "answer": lambda: events.Answer(
                source=source,
                answer=value,
                activity=next((i for i, q in it.runner.questions.items() if node in ("", "/".join(q.path))), 0),
            ),
        }
        if command not in made:
            raise RobotControlError(f"unknown command {command!r}")
        refused = it.runner.give(made[command]())
        if refused:
            raise RobotControlError(refused)
        it.outcome = it.runner.update()
        return {}

    def _read_runs(self, run: str = "", blueprint: str = "", first: int = 0, at_most: int = 0) -> Json:
        at_most = at_most or 1000
        if run:
            records = next((r.records for r in self.runs if r.id == run), None)
            if records is None:
                raise DefinitionError(f"there is no run {run!r}")
            lines = [json.dumps(r) for r in records]
        else:
            lines = [
                json.dumps({
                    "run": r.id, "skill": r.skill, "title": r.plan.graphs[r.plan.root].title, "began": r.began,
                    "result": r.outcome.result if r.outcome else "", "reason": r.outcome.reason if r.outcome else "",
                    "seconds": r.seconds, "source": r.source, "interrupted_at": "",
                    "rehearsed": r.rehearsed,
                })
                for r in reversed(self.runs)
                if blueprint in ("", r.skill)
            ]  # fmt: skip
        return {"lines": lines[first : first + at_most], "total": len(lines)}

    def run(self, goal: Mapping[str, Any]) -> Json:
        with self._lock:
            if any(r.outcome is None for r in self.runs) or self.stopped:
                return {"success": False, "message": "another run is under way", "refusals": [], "run": ""}
            try:
                catalogue, skill = self._catalogue(), goal["skill"]
                versions = {name: max(of) for name, of in self.store.kept().items()}
                if "\n" in skill:
                    template = SkillTemplate(skill)
                    check_skill(template, catalogue)
                    catalogue, skill = catalogue.with_skill(template), template.name
                else:
                    template = self.store.template(skill)
                    base, _, version = skill.partition("@")
                    versions[base] = int(version or self.store.get(skill).version)
                    check_skill(template, catalogue)
                plan = Calls(catalogue).plan(skill)
            except RobotControlError as error:
                return {"success": False, "message": str(error), "refusals": refusals(error), "run": ""}
            run = MemoryRun(self, f"run-{len(self.runs) + 1}", plan, goal.get("source", ""), catalogue)
            run.skill = template.name
            run.rehearsed = bool(goal.get("rehearse"))  # here, nothing moves anyway
            text = goal["skill"] if "\n" in goal["skill"] else ""
            run.records.append({"tick": round(self.time * 1000), "time": self.time, "what": "run", "run": run.id,
                                "skill": template.name, "versions": versions,
                                **({"text": text} if text else {})})  # fmt: skip
            self.runs.append(run)
            given = [
                ParameterValue(name=p["name"], value=p.get("text") or p["values"][0])
                for p in goal.get("parameters", ())
            ]
            at = tuple(goal["start_at"].split("/")) if goal.get("start_at") else ()
            run.runner.give(events.Begin(arguments=tuple(given), at=at, paused=bool(goal.get("paused"))))
            points = goal.get("breakpoints", ())
            if points and run.runner.engine.outcome is None:
                self._control("breakpoints", breakpoints=points)
            return {"success": True, "message": "", "refusals": [], "run": run.id}

    def list_programs(self, request: Mapping[str, Any]) -> Json:
        found = []
        texts: dict[str, tuple[list[str], str]] = {n: ([t.text], "library") for n, t in self.programs.items()}
        texts |= {name: (versions, "store") for name, versions in self.own_programs.items()}
        wanted, _, number = request.get("name", "").partition("@")
        for name, (versions, origin) in texts.items():
            version = int(number) if number else len(versions)
            template = ProgramTemplate(versions[version - 1]) if wanted in ("", name) else None
            if template is not None:
                filled = template.sample()
                found.append({
                    "name": name, "version": version, "versions": list(range(1, len(versions) + 1)), "origin": origin,
                    "description": template.description, "tags": list(template.tags),
                    "parts": [r.name for r in template.roles],
                    "events": [] if filled is None else list(exits_of(filled.definition)),
                    "parameters": [parameter_info(p) for p in template.parameters],
                    "text": versions[version - 1] if request.get("with_text") else "",
                })  # fmt: skip
        return {"success": True, "message": "", "programs": found}

    def save_program(self, request: Mapping[str, Any]) -> Json:
        try:
            template = ProgramTemplate(request["text"])
            filled = template.sample()
            warnings = [] if filled is None else check_program(filled, self.workcell)
        except RobotControlError as error:
            return {"success": False, "message": str(error), "refusals": refusals(error), "warnings": [], "version": 0,
                    "overtaken": ""}  # fmt: skip
        version = 0
        if not request.get("check_only"):
            versions = self.own_programs.get(template.name, [])
            if request.get("based_on") and request["based_on"] != len(versions):
                overtaken = Overtaken(f"program {template.name!r} was saved by somebody else meanwhile")
                return {"success": False, "message": str(overtaken), "refusals": refusals(overtaken), "warnings": [],
                        "version": 0, "overtaken": versions[-1] if versions else ""}  # fmt: skip
            self.own_programs[template.name] = versions = [*versions, request["text"]]
            version = len(versions)
        return {"success": True, "message": "", "refusals": [], "warnings": list(warnings), "name": template.name,
                "version": version, "overtaken": ""}  # fmt: skip

    def delete_program(self, request: Mapping[str, Any]) -> Json:
        if self.own_programs.pop(request.get("name", ""), None) is None:
            raise DefinitionError(f"there is no program {request.get('name')!r} that can be deleted")
        return {"success": True, "message": "", "refusals": []}

    def action_types(self) -> list[Json]:
        return [
            {
                "name": name,
                "description": t.description,
                "slots": [
                    {"name": s.name, "kinds": [k.name.lower() for k in s.kinds], "moves": s.moves, "description": ""}
                    for s in t.slots
                ],
                "parameters": [parameter_info(p) for p in t.parameters],
                "state_variables": [
                    {"name": v.name, "type": v.type, "unit": v.unit, "description": v.description}
                    for v in (*t.state_variables, *t.action_variables)
                ],
                "signals": list(t.signals),
                "inputs": [{"name": i.name, "unit": i.unit, "description": i.description} for i in t.inputs],
                "degrees_of_freedom": [degree.name for degree in t.degrees_of_freedom],
                "streams": [{"name": stream.name} for stream in t.streams],
                "source": "built in",
            }
            for name, t in (self.workcell.types or {}).items()
        ]

    def parts(self) -> list[Json]:
        return [
            {"name": name, "kind": part.kinds[0], **self._state(name), "session": "",
             "joint_names": list(part.joints or ()), "joint_units": ["rad"] * len(part.joints or ()),
             "command_modes": ["position"] if part.joints else [],
             **{f"{limit}_limit": [n] * len(part.joints or ())
                for limit, n in (("velocity", 2.0), ("acceleration", 8.0), ("jerk", 80.0))}}
            for name, part in (self.workcell.parts or {}).items()
        ]

    def _state(self, part: str) -> Json:
        fault = self.faults.get(part, "")
        state = "faulted" if fault else "disabled" if part in self.disabled else "enabled"
        return {"operational_state": state, "fault": fault}

    def set_motion(self, part: str, command: str) -> None:
        self.calls.append(("set_motion", {"part": part, "command": command}))
        if command == "disable":
            self.disabled.add(part)
        elif command == "clear_faults":
            self.faults.pop(part, None)
            self.disabled.add(part)
        else:
            self.disabled.discard(part)

    def jogger(self, part: Json, name: str, on_event: Callable[[], None]) -> MemoryJogger:
        made = MemoryJogger(part["name"], name)
        self.joggers.append(made)
        return made

    def run_action(
        self, type: str, parts: list[str], values: Mapping[str, Any], *, until: str, limit_s: float,
        cancelled: threading.Event, on_progress: Callable[[], None],
    ) -> Json:  # fmt: skip
        """It takes until it is cancelled, or else as long as a skill."""
        self.calls.append(("run_action", {"type": type, "parts": parts, "values": dict(values), "until": until,
                                          "limit_s": limit_s}))  # fmt: skip
        for name, value in values.items():
            if value == -1:
                raise DefinitionError(f"parameter {name!r}", expected="at least 0", got="-1")
        on_progress()
        stopped = cancelled.wait(limit_s or self.seconds)
        return {"success": not stopped, "message": "it was cancelled" if stopped else ""}

    def variables(self, session: str = "") -> list[Json]:
        return [
            {"name": name, "type": "float", "unit": "", "description": "", "value": value}
            for name, value in self.variable_values.items()
        ]

    def actions(self, session: str) -> Json:
        if session not in self.defined:
            raise SessionError(f"unknown session {session!r}")
        return self.defined[session]

    def values(self, names: Iterable[str]) -> Json:
        return {name: self.variable_values.get(name) for name in names}

    def set_speed(self, speed: float) -> None:
        self.speed = speed

    def latch(self, source: str, reason: str, who: str = "", *, stop: bool = True) -> None:
        """A protective stop of a source, or its release."""
        with self._lock:
            self.stops = [each for each in self.stops if each["source"] != source]
            if stop:
                self.stops.append({"source": source, "reason": reason, "who": who, "needs_secret": False})
            stop = bool(self.stops)
            if stop == self.stopped:
                return
            self.stopped = stop
            for run in self.runs:
                if run.outcome is None:
                    run.runner._take(events.Stopped() if stop else events.Released())
                    if stop:
                        for id in list(run.leaves):
                            run.cancel(id)

    def protective_stop(self, stop: bool, reason: str, who: str) -> None:
        self.latch(SOURCE, reason, who, stop=stop)

    def resume(self, session: str, who: str) -> None:
        if self.stopped:
            raise CommandRefused(f"session {session!r} was not resumed: a protective stop is latched")
        found = [each for each in self.program_states if each["session"] == session]
        if not found:
            raise SessionError(f"unknown session {session!r}")
        self.calls.append(("resume", {"session": session, "who": who}))
        self.program_states = [{**each, "suspended": each["suspended"] and each not in found}
                               for each in self.program_states]  # fmt: skip

    def status(self) -> Json:
        return {
            "blueprints": self.connected and "blueprints" not in self.silent,
            "executor": self.connected and "executor" not in self.silent, "speed": self.speed,
            "silent": self.silent, "protective_stop": self.stopped, "stops": self.stops,
            "programs": self.program_states,
            "parts": [
                {"name": name, **self._state(name)}
                for name in {**(self.workcell.parts or {}), **self.faults}
            ],
        }  # fmt: skip

    def description(self) -> str:
        return self.description_text

    def joint_positions(self) -> Mapping[str, float]:
        self.joints_followed = True
        return self.positions

    def shapes(self) -> list[Json]:
        return self.drawn_shapes

    def objects(self) -> list[Json]:
        return list(self.simulated)

    def forget_scene(self) -> None:
        self.joints_followed = False

    def timeline(self) -> TimelineNews:
        self.timeline_followed = True
        news, self.news = self.news, TimelineNews(names=self.news.names)
        return news

    def forget_timeline(self) -> None:
        self.timeline_followed = False

    def on_state(self, callback: Callable[[Json], None]) -> None:
        self._callbacks.append(callback)
        self._last = ""


