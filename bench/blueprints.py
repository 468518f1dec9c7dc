"""Blueprints: how soon the next node's program commands something, and what the executor costs."""

from __future__ import annotations

import os
import re
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.report import Goal, Options, Report
from robot_rt_control.testing.ros_domain import claim_domain

if TYPE_CHECKING:
    from robot_rt_control.blueprint.remote import Blueprints
    from robot_rt_control.client import Client

REPOSITORY = Path(__file__).resolve().parents[1]
_BENCH = REPOSITORY / "config" / "bench.yaml"
_STATES = 10
_STARTUP_S = 900.0
_IDLE_S = 10.0
_FAR_M = 0.0005
_PROGRAM = (
    "name: ten_states\nstart: [s0]\nparameters: {far: {unit: m, default: 0.0005}}\nexits: {there: {}}\nactions:\n"
    + "".join(
        f"  s{i}: {{type: move_linear, parts: arm, parameters: {{offset: [0, 0, {'-' * (i % 2)}$far], speed: 0.1}}, "
        + "reactions: [{when: is_done, "
        + (f"start: s{i + 1}" if i + 1 < _STATES else "stop: true, event: there")
        + "}]}\n"
        for i in range(_STATES)
    )
)
_PYTHON = """
import time
from robot_rt_control.blueprint.makers import Handle, skill

@skill()
def nothing(handle: Handle, path: str = "") -> None:
    with open(path, "a") as file:
        file.write(f"{time.monotonic()}\\n")
"""


def measure(options: Options) -> Report:
    rows: list[list[str]] = []
    goals: list[Goal] = []
    data: dict[str, Any] = {}

    def add(figure: str, aim: str, values: Sequence[float], met: Callable[[Any], bool], unit: str, beside: str) -> None:
        found = np.asarray(values, float)
        shown = [f"{x:,.2f}" for x in (*np.percentile(found, [50, 99]), found.max())]
        rows.append([f"{figure} [{unit}]", *shown, str(len(found))])
        measured = f"median {shown[0]}, p99 {shown[1]} {unit}"
        goals.append(Goal(figure=figure, aim=aim, measured=measured, met=bool(met(found)), beside=beside))
        data[figure] = found.tolist()

    rates = [engine_rate(options.amount(100_000)) for _ in range(3)]
    alone = "nothing; by processor time"
    add("engine alone", "20 000 transitions/s", rates, lambda x: np.median(x) >= 20_000, "1/s", alone)
    checks = [check_1000() for _ in range(3)]
    add("1000 nodes read and checked", "1 s", checks, lambda x: np.median(x) <= 1.0, "s", alone)
    grown, seconds = growth(options.amount(100_000))
    met = grown["threads"] <= 0 and grown["files"] <= 0 and grown["memory_MB"] < 20
    shown = ", ".join(f"{k} {v:+.1f}" for k, v in grown.items())
    figure = f"{options.amount(100_000)} transitions of one executor"
    goals.append(Goal(figure=figure, aim="no growth", met=met, measured=shown, beside=f"{seconds:.0f} s"))
    data["growth"] = grown
    with tempfile.TemporaryDirectory(prefix="blueprints-") as folder:
        over_dds(options, Path(folder), add, goals, data)
    return Report(
        title="Blueprints",
        columns=["figure", "median", "p99", "max", "of"],
        rows=rows,
        goals=goals,
        notes=["over DDS: application, blueprints, control server, executor (1 kHz, mock hardware) as own processes"],
        data=data,
    )


# --- without a robot ----------------------------------------------------------------------------


def engine_rate(n: int) -> float:
    """Transitions a second of processor time between two nodes that end at once [1/s]: with records and orders."""
    from robot_rt_control.blueprint.engine.engine import Engine
    from robot_rt_control.blueprint.graph import events, orders
    from robot_rt_control.blueprint.graph.events import Moment
    from robot_rt_control.blueprint.text.calls import Calls

    skills = catalogue(
        "name: turns\nnodes:\n  a: {wait_until: time > 1 s, then: b}\n"
        "  b: {wait_until: time > 1 s, then: [{when: arm.tool.z < 0, end: done}, {go: a}]}\n"
    )
    engine = Engine(Calls(skills).plan("turns"))
    taken = engine.take(events.Begin(), Moment(tick=0, time=0.0))
    begin = time.thread_time()
    for i in range(1, n + 1):
        (order,) = [order for order in taken.orders if isinstance(order, orders.StartSkill)]
        moment = Moment(tick=i, time=i * 1e-3, values={"arm.tool.z": 0.3})
        taken = engine.take(events.Ended(activity=order.activity, result="done"), moment)
    return n / (time.thread_time() - begin)


def catalogue(text: str = "") -> Any:
    """The bench's skills, and one more."""
    from robot_rt_control.blueprint.text.catalogue import SkillCatalogue
    from robot_rt_control.blueprint.text.skill_file import SkillTemplate
    from robot_rt_control.command_line.offline_catalogue import offline_catalogue
    from robot_rt_control.program.file import library_template
    from robot_rt_control.program.library import library_programs

    programs = {name: library_template(name) for name in library_programs()}
    found = SkillCatalogue(offline_catalogue(_BENCH), programs, {})
    return found.with_skill(SkillTemplate(text)) if text else found


def check_1000() -> float:
    """Seconds of processor time to read and check a text of 1000 nodes; the catalogue is warm."""
    from robot_rt_control.blueprint.text.check import check_skill
    from robot_rt_control.blueprint.text.skill_file import SkillTemplate

    node = "{{skill: move_linear, parts: {{arm: arm}}, with: {{offset: [0, 0, 0.01], speed: 0.1}}, retry: 1, then: {}}}"
    last = "{skill: move_linear, parts: {arm: arm}, with: {offset: [0, 0, 0.01], speed: 0.1}}"
    nodes = "".join(f"  n{i}: {node.format(f'n{i + 1}') if i < 999 else last}\n" for i in range(1000))
    skills = catalogue()
    check_skill(SkillTemplate(f"name: warm\nnodes:\n  n: {last}\n"), skills)
    begin = time.thread_time()
    check_skill(SkillTemplate(f"name: large\nnodes:\n{nodes}"), skills)
    return time.thread_time() - begin


def growth(n: int) -> tuple[dict[str, float], float]:
    """What n transitions in one executor, in lockstep, add to its process after the first tenth; and the seconds."""
    from robot_rt_control.blueprint.runs.executor import Executor
    from robot_rt_control.blueprint.runs.robot import Robot
    from robot_rt_control.blueprint.runs.run import Start
    from robot_rt_control.blueprint.skills.skill_library import SkillLibrary
    from robot_rt_control.blueprint.skills.store import SkillStore
    from robot_rt_control.command_line.offline_catalogue import offline_catalogue
    from robot_rt_control.testing.lockstep_client import LockstepClient

    text = (
        "name: turns\nnodes: {a: {wait: 0.001, repeat: 99, then: b},"
        " b: {wait: 0.001, then: [{when: b.count < COUNT, go: a}, {end: done}]}}"
    )
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, LockstepClient(_BENCH, hardware="mock") as client:
        robot = Robot(client.backend)
        library = SkillLibrary(SkillStore(Path(folder) / "skills"), offline_catalogue(_BENCH), client.backend)
        executor = Executor(robot, library, Path(folder) / "logs")

        def turns(transitions: int) -> None:
            run = executor.start(Start(skill=text.replace("COUNT", str(transitions // 101))))
            while run.outcome is None:
                client.cell.step()
                executor.update()
            assert run.outcome.result == "done", run.outcome

        for _ in range(20):  # as many runs as are kept
            turns(max(n // 200, 101))
        before = _used()
        for _ in range(9):
            turns(n // 10)
        after = _used()
        executor.close()
    return {key: after[key] - before[key] for key in before}, time.monotonic() - begin


def _used() -> dict[str, float]:
    import gc

    gc.collect()
    status = Path("/proc/self/status").read_text()
    memory = next(int(number) for number in re.findall(r"VmRSS:\s+(\d+)", status)) / 1024
    return {
        "memory_MB": memory,
        "files": float(len(list(Path("/proc/self/fd").iterdir()))),
        "threads": float(threading.active_count()),
    }


# --- over DDS -----------------------------------------------------------------------------------


def over_dds(options: Options, folder: Path, add: Any, goals: list[Goal], data: dict[str, Any]) -> None:
    os.environ["ROS_DOMAIN_ID"] = str(claim_domain("bench"))
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    from robot_rt_control.blueprint.remote import Blueprints
    from robot_rt_control.client import Client
    from robot_rt_control.demo.demo_workcell import DemoWorkcell

    (folder / "own_skills.py").write_text(_PYTHON)
    file = folder / "bench.yaml"
    file.write_text(f"capabilities: [own_skills.py]\n{_BENCH.read_text()}")
    arguments = ["--workcell", str(file), "--hardware", "mock", "--controllers", "false", "--no-frames", "--blueprints"]
    log = options.output / "blueprints_workcell.log"
    with (
        DemoWorkcell(arguments, log, environment={"XDG_DATA_HOME": str(folder)}) as workcell,
        Client("bench", timeout_s=60.0) as client,
        Blueprints(client, timeout_s=60.0) as blueprints,
    ):
        workcell.wait_until_ready(client, lambda _: None, _STARTUP_S)
        blueprints.wait_for_state(lambda state: not state.problem, 60.0)
        client.programs.save(_PROGRAM)
        process = int(re.findall(r"started blueprints \(process (\d+)", log.read_text())[-1])
        busy = _cpu_s(process)
        time.sleep(_IDLE_S)
        idle = (_cpu_s(process) - busy) / _IDLE_S
        add("executor idle", "2 % of a core", [100 * idle], lambda x: x[0] <= 2, "%", f"{_IDLE_S:g} s")
        visits = options.amount(200)
        new, again = (program_gaps(client, blueprints, visits, new=word) for word in (True, False))
        beside = "executor beside others, 10 states"
        add("a node's end → the next node's first command, new", "median 20 ms, p99 60 ms", new,
            lambda x: np.median(x) <= 20 and np.percentile(x, 99) <= 60, "ms", beside)  # fmt: skip
        add("the same, again", "median 10 ms", again, lambda x: np.median(x) <= 10, "ms", beside)
        gaps = python_gaps(blueprints, folder / "times", options.amount(500))
        add("between Python skills", "median 3 ms", gaps, lambda x: np.median(x) <= 3, "ms", beside)
        stop = float(np.median([plain_stop(client) for _ in range(5)]))
        for command in ("pause", "cancel"):
            rests = [to_rest(client, blueprints, command) - stop for _ in range(options.amount(20))]
            beside = f"a stop of the same motion by an application: {stop:.3f} s"
            figure = f"{command} (now): call → rest, beyond the stop"
            add(figure, "0.3 s", rests, lambda x: np.median(x) <= 0.3, "s", beside)


def _cpu_s(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def program_gaps(client: Client, blueprints: Blueprints, visits: int, *, new: bool) -> list[float]:
    """From the last action's end to the first one's start of the next node's program [ms of the loop]."""
    from robot_rt_control.blueprint.remote import StartRequest

    far = f"{_FAR_M} + 0.0000001 * $round" if new else f"{_FAR_M}"
    text = (
        "name: gaps\nvalues: {round: {type: int, default: 0}}\nnodes:\n"
        f"  a: {{set: {{round: $round + 1}}, then: [{{when: $round > {visits}, end: done}}, {{go: b}}]}}\n"
        f"  b: {{skill: ten_states, with: {{far: {{value: {far}, unit: m}}}}, then: a}}\n"
    )
    found: list[Any] = []
    listener = found.append
    client.add_listener(listener)
    try:
        end = blueprints.run(StartRequest(skill=text)).wait(60 + 5.0 * visits)
    finally:
        client.remove_listener(listener)
    assert end is not None and end.success, end
    starts = [e.tick for e in found if e.kind == "action_started" and e.current_action.endswith("s0")]
    ends = [e.tick for e in found if e.kind == "reaction_fired" and e.name == "there"]
    return [float(b - a) for a, b in zip(ends, starts[1:], strict=False)]


def python_gaps(blueprints: Blueprints, path: Path, visits: int) -> list[float]:
    """From one call of a Python function to the next [ms]; the function itself takes some 0.05 ms."""
    from robot_rt_control.blueprint.remote import StartRequest

    text = f"name: gaps\nnodes: {{a: {{skill: nothing, with: {{path: {path}}}, repeat: {visits}}}}}\n"
    end = blueprints.run(StartRequest(skill=text)).wait(60 + visits)
    assert end is not None and end.success, end
    return (1e3 * np.diff([float(line) for line in path.read_text().split()])).tolist()


def to_rest(client: Client, blueprints: Blueprints, command: str) -> float:
    """Seconds from the call to the state that says that the run stands or has ended."""
    from robot_rt_control.blueprint.remote import StartRequest

    text = "name: long\nnodes: {a: {skill: move_linear, parts: {arm: arm}, with: {offset: [0, 0, 0.1], speed: 0.05}}}\n"
    back = text.replace("0.1]", "-0.1]")
    run = blueprints.run(StartRequest(skill=text))
    while client.value("arm.at_rest") == 1.0:
        time.sleep(0.01)
    time.sleep(0.1)
    begin = time.monotonic()
    blueprints.control(command, run=run.id, now=True)
    words = ("cut", "ended")
    blueprints.wait_for_state(
        lambda state: any(n.run == run.id and not n.path and n.state in words for n in state.nodes), 30.0
    )
    seconds = time.monotonic() - begin
    assert client.value("arm.at_rest") == 1.0
    if command != "cancel":
        blueprints.control("cancel", run=run.id)
        run.wait(30.0)
    blueprints.run(StartRequest(skill=back, source="bench")).wait(30.0)
    return seconds


def plain_stop(client: Client) -> float:
    """Seconds from an application's call that stops the same motion until it sees the arm at rest."""
    from robot_rt_control.client import Action

    with client.session("arm") as session:
        session.add(Action("go", "move_linear", offset=[0.0, 0.0, 0.1], speed=0.05))
        session.start("go")
        while client.value("arm.at_rest") == 1.0:
            time.sleep(0.01)
        time.sleep(0.1)
        begin = time.monotonic()
        session.stop("go")
        while client.value("arm.at_rest") != 1.0:
            pass
        seconds = time.monotonic() - begin
        session.add(Action("back", "move_linear", offset=[0.0, 0.0, -0.02], speed=0.05))
        session.start("back")
        time.sleep(1.0)
    return seconds
