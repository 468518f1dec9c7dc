"""Each command of the pages: run, or checked as far as a test can. One that is not there, or lacks an option, fails."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import importlib.util
import io
import re
import shlex
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

from robot_rt_control.blueprint.makers.ros.fields import filled, type_of
from robot_rt_control.bringup.bringup import BringupOptions, processes
from robot_rt_control.bringup.workcell import options_of, parser
from robot_rt_control.demo.demo_workcell import DemoWorkcell
from robot_rt_control.model.paths import find_workcell
from robot_rt_control.vocabulary.errors import RobotControlError

from .by_hand import ByHand

ROOT = Path(__file__).resolve().parents[2]
CONSOLE = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
SOURCES = "".join(file.read_text() for file in (ROOT / "robot_rt_control").rglob("*.py"))
PAGES = {
    str(page.relative_to(ROOT)): page.read_text()
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if page.name not in ("tutorial.md", "your_robot.md")  # test_tutorial.py, test_docs_your_robot.py follow them
}
HOMES = ("README.md", "docs/by_hand.md")
"""Pages whose commands to the robot are run."""

_BLOCK = re.compile(r"^ *```(\w*)[^\n]*\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_OURS = r"(\S*/run|ros2|robot-rt\S*|python|workcell|pip|colcon|cd|git|source|mkdir|ip|arecord|fastdds|export) "
OF_OTHERS = {"cd", "git", "source", "mkdir", "pip", "colcon", "ip", "arecord", "fastdds", "export"}
"""Programs of others, and the reader's shell."""
_VERBS = ("robot-rt", "robot-rt-control-blueprint", "robot-rt-control-plan", "robot-rt-control-program")


def commands(page: str) -> list[str]:
    """Every command of a page: continued lines joined, `&&` split, remarks left out."""
    found = []
    for language, text in _BLOCK.findall(PAGES[page]):
        if language not in ("", "bash", "sh"):
            continue
        waiting = ""
        for line in text.replace("\\\n", " ").splitlines():
            waiting += re.sub(r"\s+# .*", "", line).strip() + " "
            if (language or re.match(_OURS, waiting)) and waiting.count('"') % 2:
                continue  # it goes on in the next line
            if waiting.strip() and (language or re.match(_OURS, waiting)):
                found += [piece.strip() for piece in re.split(r" && | \| | & ", waiting) if piece.strip()]
            waiting = ""
    return found


COMMANDS = [(page, command) for page in PAGES for command in commands(page)]
BY_HAND = [c for page, c in COMMANDS if page in HOMES and re.match(r"ros2 (service|action|topic)", c)]


def test_the_pages_have_commands_of_each_kind() -> None:
    assert len(BY_HAND) >= 8 and len({page for page, _ in COMMANDS}) >= 15
    assert {"robot-rt-control-blueprint", "robot-rt", "./run", "ros2"} <= {c.split()[0] for _, c in COMMANDS}


@pytest.mark.parametrize("page, command", COMMANDS)
def test_each_command_is_one_that_there_is(page: str, command: str) -> None:
    words = shlex.split(command)
    if words[0].endswith("/run"):
        if words[1] != "shell":
            done = subprocess.run([ROOT / "run", "--help"], check=True, capture_output=True, text=True)
            assert words[1] == "--help" or re.search(rf"^  {words[1]} ", done.stdout, re.MULTILINE)
            return
        words = words[2:]
    check(words)


@pytest.mark.parametrize(
    "command",
    [
        "robot-rt-control-workcel --workcell bench",
        "robot-rt-control-workcell --workcell bensh",
        "robot-rt-control-blueprint fly tour.yaml",
        "robot-rt-control-plan check my_push.yaml --workcell pushh",
        "robot-rt status --nonsense",
        "python examples/99_nothing.py",
        "ros2 run robot_rt_control blueprints --ros-args -p workcel:=bench",
        "ros2 launch robot_rt_control workcell.launch.py workcell:=bench blueprint:=true",
        "ros2 service call /control_server/fly std_srvs/srv/Trigger",
        "ros2 service call /control_server/list_parts robot_rt_control/srv/ListParts '{part: arm}'",
    ],
)
def test_a_command_that_is_not_there_is_found(command: str) -> None:
    with pytest.raises((AssertionError, RobotControlError, SystemExit, pytest.fail.Exception)):
        check(shlex.split(command))


def test_what_run_requires_can_be_installed() -> None:
    done = subprocess.run([ROOT / "run", "requirements"], check=True, capture_output=True, text=True)
    assert {"numba", "pybullet"} <= {Requirement(line).name for line in done.stdout.splitlines()}


def check(words: list[str]) -> None:
    """Raises AssertionError, or what the package itself raises: there is no such command."""
    match words:
        case [first, *_] if first in OF_OTHERS or words[:2] in (["ros2", "security"], ["ros2", "pkg"]):
            pass
        case ["workcell" | "robot-rt-control-workcell", *rest]:
            assert processes(options_of(parser().parse_args(rest)))
        case ["python", "-m", module, *rest]:
            assert importlib.util.find_spec(module)
            check_options(rest, help_of("python", "-m", module))
        case ["python", file, *rest]:
            assert (ROOT / file).is_file()
            if any(word.startswith("--") for word in rest):
                check_options(rest, help_of("python", file))
        case ["ros2", "launch", "robot_rt_control", "workcell.launch.py", *given]:
            options = dict(word.split(":=") for word in given)
            options.pop("rviz", None)  # a program of another package, which may be missing here
            place = options["workcell"].split("robot_rt_control/")[-1]
            assert set(options) <= {field.name for field in dataclasses.fields(BringupOptions)}
            options["workcell"] = str(ROOT / place) if (ROOT / place).is_file() else place
            assert processes(BringupOptions.from_texts(options))
        case ["ros2", "run", "robot_rt_control", name, *rest]:
            targets = re.findall(r"from (\S+) import main", (ROOT / "scripts" / name).read_text())
            check_options(rest, called(f"{targets[0]}:main", "--help"))
        case ["ros2", "topic", "pub", name, kind, fields]:
            filled(type_of("msg", kind), yaml.safe_load(fields), str)
            assert re.search(rf"\b{name[1:]}\b", "".join(file.read_text() for file in (ROOT / "config").glob("*.yaml")))
        case ["ros2", "topic", "echo", name, *_]:
            assert_offered(name)
        case ["ros2", "service", "call", name, kind, *fields]:
            assert_offered(name)
            filled(type_of("srv", kind).Request, yaml.safe_load(fields[0]) if fields else {}, str)
        case ["ros2", "action", "send_goal", "--feedback", name, kind, fields]:
            assert_offered(name)
            filled(type_of("action", kind).Goal, yaml.safe_load(fields), str)
        case [name, *rest] if name in CONSOLE:
            verb, rest = (rest[:1], rest[1:]) if name in _VERBS else ([], rest)
            check_options(rest, called(CONSOLE[name], *verb, "--help"))
        case _:
            pytest.fail(f"nobody knows the command {shlex.join(words)}")


def assert_offered(name: str) -> None:
    """A topic, service or action of one of our nodes."""
    _, node, own = name.split("/")
    assert (ROOT / "scripts" / node).is_file() and re.search(rf'"(~/)?{own}"', SOURCES), name


def check_options(words: list[str], text: str) -> None:
    """Each option is one of this help, and each shipped workcell is there."""
    own, ros = words, list[str]()
    if "--ros-args" in words:
        at = words.index("--ros-args")
        own, ros = words[:at], [word.split(":=")[0] for word in words[at:] if ":=" in word]
    options = [word.split("=")[0] for word in own if re.match(r"--?[a-z]", word)]
    for option in [*options, *ros]:
        assert option == "use_sim_time" or re.search(rf"(?<![\w-]){option}(?![\w-])", text), f"no {option} in:\n{text}"
    for before, name in zip(own, own[1:], strict=False):
        assert before != "--workcell" or "." in name or find_workcell(name)


@functools.cache
def called(target: str, *words: str) -> str:
    """What a console script prints with these words; it must end well."""
    module, _, function = target.partition(":")
    with contextlib.redirect_stdout(io.StringIO()) as out:
        try:
            code = getattr(import_module(module), function)(list(words))
        except SystemExit as end:
            code = end.code
    assert not code, f"{target} {words}: {code}"
    return out.getvalue()


@functools.cache
def help_of(*command: str) -> str:
    """What a program of Python prints with --help."""
    words = [sys.executable, *command[1:], "--help"]
    return subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True, timeout=600).stdout


def test_the_commands_by_hand_do_what_they_say(workcell: DemoWorkcell) -> None:
    session = ""
    with ByHand(timeout_s=600.0) as person:
        for command in BY_HAND:
            typed = command.replace("session: s1", f"session: {session}") if session else command
            answer = person.run(typed)
            if command.startswith("ros2 topic"):
                continue
            assert answer.success, f"{typed}: {answer.message}"
            session = getattr(answer, "session", session)
