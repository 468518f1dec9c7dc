"""The executor of blueprints under attack: what a person, a sensor or a fault may do at any moment, in any order."""

from __future__ import annotations

import json
import re
from collections import Counter
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import Any

from robot_rt_control.blueprint.makers.capability_files import Capabilities, load_capabilities
from robot_rt_control.blueprint.makers.makers import Makers
from robot_rt_control.blueprint.runs.command_log import COMMANDS_FILE
from robot_rt_control.blueprint.runs.control_request import ControlRequest
from robot_rt_control.blueprint.runs.executor import Executor
from robot_rt_control.blueprint.runs.performer import RobotPerformer
from robot_rt_control.blueprint.runs.robot import Robot
from robot_rt_control.blueprint.runs.run import ExecutedRun, Start
from robot_rt_control.blueprint.runs.run_log import read_log
from robot_rt_control.blueprint.skills.skill_library import SkillLibrary
from robot_rt_control.blueprint.skills.store import SkillStore
from robot_rt_control.client.session import Session
from robot_rt_control.testing.lockstep_client import LockstepClient
from robot_rt_control.validation.catalogue import Catalogue
from robot_rt_control.vocabulary.errors import RobotControlError

HOSTED = "robot_rt_control.hardware.mock_plugin:MockPlugin"
"""Beside the loop, so that it can fall silent: then its parts fault."""
PARTS = ("arm", "gripper")
REST_TICKS = 500
"""By then everything that moves is at rest."""
LONGEST_TICKS = 4000
"""By then a cancelled run has ended: what hangs is abandoned after 2 s."""

CODE = '''
from robot_rt_control.blueprint.makers import Handle, skill

@skill(roles={"arm": {"kinds": ["arm"], "default": "arm"}})
def nudge(handle: Handle) -> object:
    handle.view.run("move_linear", offset=[0.0, 0.0, 0.004], speed=0.1)
    return None if handle.ask("Back?", ["yes", "no"]) == "yes" else "failed"

@skill()
def stubborn(handle: Handle) -> None:
    while True:
        try:
            handle.sleep(0.01)
        except BaseException:
            handle.pause()
'''
SKILLS = MappingProxyType({
    "swing": "commands: [{say: ['swing {far}', swing], busy: wait}, {gesture: wave}, {when: arm.tool.z > -10}]\n"
    "parameters: {far: {unit: m, default: 0.01}}\nnodes:\n"
    "  out:  {skill: move_linear, parts: {arm: arm}, with: {offset: [0, 0, $far], speed: 0.1}, retry: 1, then: back}\n"
    "  back: {skill: move_linear, parts: {arm: arm}, with: {offset: [0, 0, -$far], speed: 0.1}, timeout: 1,"
    " then: [{on: timeout, end: failed}, {end: done}]}\n",
    "hand": "commands: [{say: open, busy: replace}]\nnodes:\n"
    "  open: {skill: move_gripper, parts: {gripper: gripper}, with: {opening: 1.0}, then: shut}\n"
    "  shut: {skill: move_gripper, parts: {gripper: gripper}, with: {opening: 0.0}}\n",
    "both": "level: blueprint\nnodes:\n"
    "  all: {all_of: {a: {skill: swing}, b: {skill: hand}}, then: [{on: any, go: one}]}\n"
    "  one: {first_of: {a: {skill: swing, with: {far: 0.02}}, b: {wait: 0.05}}, then: [{on: any, end: done}]}\n",
    "asks": "nodes:\n  ask: {ask: {text: Tea?, answers: [yes, no]}, timeout: 3,"
    " then: [{on: yes, go: nap}, {on: [no, timeout], end: done}]}\n  nap: {wait: 0.02, repeat: 2}\n",
    "tour": "level: blueprint\nvalues: {round: {type: int, default: 0}}\nnodes:\n"
    "  go:   {skill: swing, then: [{on: any, go: ask}]}\n"
    "  ask:  {skill: asks, then: [{on: any, go: add}]}\n"
    "  add:  {set: {round: $round + 1}, then: [{when: $round < 3, go: go}, {go: last}]}\n"
    "  last: {skill: both}\n  away: {say: away, then: ask}\n  over: {say: over, then: [{end: done}]}\n"
    "reactions: [{when: arm.tool.z > 10, go: away}, {when: 'gripper.position[0] > 0.02', go: over, at: end}]\n",
    "until": "nodes:\n  high: {wait_until: arm.tool.z > -10, then: lift}\n"
    "  lift: {skill: move_linear, parts: {arm: arm}, with: {offset: [0, 0, 9], speed: 0.1}, timeout: 0.2,"
    " then: [{on: failure, go: nudge}]}\n  nudge: {skill: nudge, timeout: 2}\n",
    "hangs": "nodes: {a: {skill: stubborn, timeout: 0.5, then: [{on: timeout, end: done}]}}\n",
})  # fmt: skip
NODES = (
    *("", "out", "back", "open", "all", "one", "all/a", "all/a/out", "go", "go/out", "go/back", "ask", "ask/ask"),
    *("ask/nap", "add", "last", "last/one", "over", "away", "nap", "high", "lift", "nudge", "a", "nowhere", "go//out"),
)
WORDS = ("", "again", "next", "yes", "no", "done", "failed", "cancelled", "timeout", "maybe")


class Attacked:
    """An executor, and everything that can happen to it. Each method may come at any moment.
"""

    def __init__(self, client: LockstepClient, workcell: Catalogue, code: Capabilities, folder: Path) -> None:
        self.client, self.cell = client, client.cell
        self.robot = Robot(client.backend)
        self.library = SkillLibrary(SkillStore(folder / "skills"), workcell, client.backend, made=code.templates)
        self.logs = folder / "logs"
        self.executor = Executor(self.robot, self.library, self.logs, makers=Makers(code, patience_s=20.0))
        for name, text in SKILLS.items():
            self.library.save(f"name: {name}\n{text}")
        self.seen: dict[str, ExecutedRun] = {}
        self.full: set[str] = set()
        """Runs whose logs could not be written."""
        self._guest: Session | None = None

    # --- what may happen ------------------------------------------------------------------------

    def start(self, skill: str, **fields: Any) -> None:
        with suppress(RobotControlError):
            self.executor.start(Start(skill=skill, source="attack", **fields))

    def say(self, text: str, *, gesture: bool = False) -> None:
        with suppress(RobotControlError):
            self.executor.give_command(text, gesture=gesture, source="attack")

    def control(self, command: str, run: int, **fields: Any) -> None:
        """Args: run: index of those that were seen; -1: unnamed; -2: there is none such."""
        names = list(self.seen)
        name = "" if run == -1 or not names else "nobody" if run == -2 else names[run % len(names)]
        with suppress(RobotControlError):
            self.executor.control(ControlRequest(command=command, run=name, source="attack", **fields))

    def step(self, ticks: int, every: int = 1) -> None:
        """Let ticks pass; the executor looks after every few of them."""
        for tick in range(1, ticks + 1):
            self.cell.step()
            if tick % every == 0:
                self.look()

    def look(self) -> None:
        self.executor.update()
        self.seen |= self.executor.runs
        state = self.executor.state()
        json.dumps([asdict(node) for node in state.nodes])
        going = [run for run in self.executor.runs.values() if run.is_under_way and not run.start.rehearse]
        assert len(going) <= 8
        parts = [part for run in going for part in run.parts]
        assert len(parts) == len(set(parts)), "two runs on one part"

    def stop(self) -> None:
        self.client.protective_stop("attack")

    def release(self) -> None:
        with suppress(RobotControlError):
            self.client.release(secret=self.client.backend.operator_secret())

    def close_session(self, index: int) -> None:
        """Somebody ends the session of a run, as the server does when a part faults."""
        performers = [run.performer for run in self.seen.values() if run.is_under_way]
        sessions = [p._session for p in performers if isinstance(p, RobotPerformer) and p._session is not None]
        if sessions:
            with suppress(RobotControlError):
                self.client.backend.close_session(sessions[index % len(sessions)].key)

    def fault(self) -> None:
        self.cell.silence("sim")
        self.cell.step(60)
        self.cell.silence("sim", False)
        self.cell.step(2)

    def clear(self) -> None:
        with suppress(RobotControlError):
            self.client.clear_faults()
        self.cell.step(2)
        with suppress(RobotControlError):
            self.client.enable()

    def disable(self, part: str) -> None:
        with suppress(RobotControlError):
            self.client.disable(part)

    def take(self, part: str) -> None:
        """Another application takes a part, or gives it back."""
        if self._guest is not None:
            self._guest.close()
            self._guest = None
        else:
            with suppress(RobotControlError):
                self._guest = self.client.session(part, name="guest")

    def save(self, name: str) -> None:
        """A new version while runs go on."""
        self.library.save(f"name: {name}\n{SKILLS[name]}# {self.cell.tick}\n")

    def fill_disk(self, index: int) -> None:
        """The log of a run cannot be written any more."""
        runs = [run for run in self.seen.values() if run.is_under_way and run.log is not None]
        if runs:
            run = runs[index % len(runs)]
            assert run.log is not None

            def write(record: Any) -> None:
                raise OSError(28, "No space left on device")

            run.log.write = write  # type: ignore[method-assign]
            self.full.add(run.id)

    # --- what has to hold in the end ------------------------------------------------------------

    def calm(self) -> None:
        """Everything that was done to the cell is taken back."""
        self.look()
        self.release()
        if self._guest is not None:
            self._guest.close()
            self._guest = None
        self.executor.control(ControlRequest(command="disarm", source="attack"))
        self.clear()
        self.step(2)

    def finish(self) -> None:
        """Whoever goes on says so: then every run ends by itself."""
        for _ in range(600):
            going = [run for run in self.executor.runs.values() if run.outcome is None]
            if not going:
                return
            for run in going:
                if run.runner is None:
                    continue
                for question in list(run.runner.questions.values()):
                    node = "/".join(question.path)
                    request = ControlRequest(command="answer", run=run.id, node=node, value=question.answers[-1])
                    with suppress(RobotControlError):
                        self.executor.control(request)
                with suppress(RobotControlError):
                    self.executor.control(ControlRequest(command="breakpoints", run=run.id))
                for how in ("next", ""):
                    with suppress(RobotControlError):
                        self.executor.control(ControlRequest(command="resume", run=run.id, how=how))
            self.step(20, 4)
        raise AssertionError(f"runs hang: {self.executor.state().nodes}")

    def cancel(self) -> None:
        """Every run ends after a cancel."""
        self.executor.control(ControlRequest(command="cancel", source="attack"))
        for _ in range(LONGEST_TICKS // 4):
            if all(run.outcome is not None for run in self.executor.runs.values()):
                return
            self.step(4, 4)
        raise AssertionError(f"runs do not end: {self.executor.state().nodes}")

    def check(self) -> None:
        """All runs have ended: nothing is held, nothing moves, and the logs say all."""
        assert self.client.sessions() == [], [(s.name, s.parts) for s in self.client.sessions()]
        assert self.executor.is_idle
        self.cell.step(REST_TICKS)
        assert self.client.value("arm.at_rest") == 1.0
        kept = {path.stem for path in self.logs.glob("*.jsonl")}
        for id, run in self.seen.items():
            assert run.outcome is not None and not run.outcome.reason.startswith("internal error"), run.outcome
            if id in kept and id not in self.full:
                check_log(read_log(self.logs / f"{id}.jsonl"), run)
        commands = self.logs / COMMANDS_FILE
        for line in commands.read_text().splitlines() if commands.exists() else ():
            json.loads(line)


def check_log(records: list[dict[str, Any]], run: ExecutedRun) -> None:
    """A log that says all: from the beginning to the end, and nothing between a stop and a person's word."""
    assert run.outcome is not None
    what = [record["what"] for record in records]
    assert what[0] == "run" and what[-1] == "end" and what.count("end") == 1, what
    assert records[-1]["result"] == run.outcome.result
    ticks = [record["tick"] for record in records]
    assert ticks == sorted(ticks)
    running: Counter[str] = Counter()
    silent = False
    """A protective stop came, and no person has said how to go on."""
    for record in records:
        kind = record["what"]
        if kind == "node":
            assert not running[record["path"]], f"{record['path']} twice at once"
            running[record["path"]] += 1
        elif kind == "ended" and record.get("cut") != "skip" and running[record["path"]]:
            running[record["path"]] -= 1
        elif kind == "protective_stop":
            silent = True
        elif kind == "command" and "refused" not in record and record["command"] in ("Resume", "Jump", "Cancel"):
            silent = False
        elif kind == "start":
            assert not silent, f"{record} after a protective stop, before a person's word"
    assert not +running, f"without an end in the log: {+running}"
    jumps = [r["number"] for r in records if r["what"] == "command" and r["command"] == "Jump" and "refused" not in r]
    told = [r["number"] for r in records if r["what"] == "jump"]
    assert sorted(jumps) == sorted(told), "each jump was executed, replaced or dropped"
    numbers = [r["number"] for r in records if r["what"] == "command"]
    assert numbers == list(range(1, len(numbers) + 1)), "each command is in the log"


def code_in(folder: Path) -> Capabilities:
    """The skills in Python."""
    file = folder / "attacked_skills.py"
    file.write_text(re.sub(r"^\n", "", CODE))
    return load_capabilities([file])
