"""The verbs that ask a robot's node of blueprints, with a stand-in for its client."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from robot_rt_control.command_line.blueprints import remote_blueprints
from robot_rt_control.command_line.blueprints.main import main
from robot_rt_control.command_line.blueprints.records import shown_record, shown_records
from robot_rt_control.command_line.blueprints.tree import line_of_tree, shown_tree
from robot_rt_control.command_line.exit_codes import ExitCode
from robot_rt_control.vocabulary.errors import CommandRefused, DefinitionError, Overtaken

Captured = pytest.CaptureFixture[str]


def skill(name: str, **fields: Any) -> SimpleNamespace:
    given: dict[str, Any] = {
        "name": name, "version": 1, "level": "blueprint", "category": "", "origin": "store", "scenarios": [],
        "parts": [], "parameters": [], "results": ["done"], "failures": ["failed", "lost"], "runs": 0, "succeeded": 0,
        "duration": float("nan"), "description": "", "problem": "", "text": f"name: {name}\n", "calls": [],
        "versions": [1], "saved": SimpleNamespace(sec=0),
    }  # fmt: skip
    return SimpleNamespace(**{**given, **fields})


class StandIn:
    """Answers as a node does, and keeps what was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.skills = [
            skill("tour"),
            skill("greet", level="behavior_skill", scenarios=["welcome"], runs=4, succeeded=3, duration=2.5),
            skill("odd", level="motion_skill", problem="odd.yaml:3: wrong"),
        ]

    def __getattr__(self, name: str) -> Any:
        def ask(*words: Any, **fields: Any) -> Any:
            self.asked.append((name, {**{str(i): word for i, word in enumerate(words)}, **fields}))
            answer = getattr(type(self), f"answer_{name}")(self, *words, **fields)
            if isinstance(answer, Exception):
                raise answer
            return answer

        return ask

    def answer_list_skills(self, name: str = "", *, scenario: str = "", **_: Any) -> Any:
        return [s for s in self.skills if name in ("", s.name) and (not scenario or scenario in s.scenarios)]

    def answer_control(self, command: str, **fields: Any) -> Any:
        return CommandRefused("no node 'x'", expected="one of: a, b") if fields.get("node") == "x" else ""

    def answer_save_skill(self, text: str, based_on: int = 0, **_: Any) -> Any:
        if based_on == 1:
            error = Overtaken("version 2 has come between")
            error.text = "name: theirs"
            return error
        if "wrong" in text:
            return DefinitionError("it is wrong")
        name = text.partition("\n")[0].removeprefix("name: ")
        return SimpleNamespace(name=name, version=3, warnings=("tour.yaml:2: unused",), mistakes=())

    def answer_delete_skill(self, name: str, **_: Any) -> Any:
        return DefinitionError(f"skill {name!r} is called by 'tour'") if name == "greet" else "deleted: version 1"

    def answer_restore_skill(self, name: str, **_: Any) -> Any:
        return "restored: version 1, 2"

    def answer_give_command(self, text: str, **_: Any) -> Any:
        return SimpleNamespace(blueprint="tour", run="r1", message="")

    def answer_read_runs(self, run: str = "", *, first: int = 0, **_: Any) -> Any:
        if run:
            record = {"tick": 1, "time": 0.1, "what": "node", "path": "look", "visit": 1, "attempt": 1}
            return ([record] * 2 if first < 4 else []), 4
        one = {"run": "r1", "skill": "tour", "began": "today", "result": "", "seconds": None, "interrupted_at": "look"}
        return [one], 2


@pytest.fixture
def node(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    made = StandIn()

    @contextmanager
    def connected(_: Any) -> Iterator[Any]:
        yield made

    @contextmanager
    def of_all_robots(_: Any) -> Iterator[Any]:
        other = StandIn()
        other.skills = [skill("greet", level="behavior_skill", scenarios=["welcome"], version=7)]
        yield {"/one": made, "/two": other}

    monkeypatch.setattr(remote_blueprints, "connected", connected)
    monkeypatch.setattr(remote_blueprints, "of_all_robots", of_all_robots)
    monkeypatch.setattr(remote_blueprints, "source", lambda: "me")
    return made


def test_value_skills_lead_the_list(node: StandIn, capsys: Captured) -> None:
    assert main(["list"]) == ExitCode.DONE
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["greet@1", "tour@1", "odd@1"]
    assert "3 of 4, 2.5 s" in lines[1] and "lost (failure)" in lines[1] and "BROKEN: odd.yaml:3" in lines[3]
    assert main(["list", "--json", "--level", "blueprint", "--search", "a b"]) == ExitCode.DONE
    assert node.asked[-1][1] == {"0": "", "level": "blueprint", "category": "", "scenario": "", "search": "a b"}


def test_all_robots_that_offer_a_value_skill(node: StandIn, capsys: Captured) -> None:
    assert main(["list", "--robots", "--scenario", "welcome"]) == ExitCode.DONE
    rows = [line.split()[:2] for line in capsys.readouterr().out.splitlines()[1:]]
    assert rows == [["/one", "greet@1"], ["/two", "greet@7"]]
    assert main(["list", "--robots", "--scenario", "nap"]) == ExitCode.DONE
    assert capsys.readouterr().out == "no robot offers that\n"


def test_show_save_and_delete(node: StandIn, tmp_path: Path, capsys: Captured) -> None:
    assert main(["show", "tour"]) == ExitCode.DONE and capsys.readouterr().out == "name: tour\n"
    file = tmp_path / "tour.yaml"
    file.write_text("name: tour\n")
    assert main(["save", str(file)]) == ExitCode.DONE
    out, err = capsys.readouterr()
    assert out == "saved as tour, version 3\n" and "warning: tour.yaml:2: unused" in err
    assert main(["save", str(file), "--based-on", "1"]) == ExitCode.FAILED
    assert "name: theirs" in capsys.readouterr().err
    assert main(["save", str(file), "--based-on", "1", "--json"]) == ExitCode.FAILED
    assert json.loads(capsys.readouterr().out)["overtaken"] == "name: theirs"
    assert main(["delete", "tour@1"]) == ExitCode.DONE
    assert main(["delete", "greet"]) == ExitCode.FAILED and "called by 'tour'" in capsys.readouterr().err


def test_N53_the_bin_is_listed_and_restored_from(node: StandIn, capsys: Captured) -> None:
    assert main(["list", "--deleted"]) == ExitCode.DONE
    assert capsys.readouterr().out.splitlines()[0].split() == ["skill", "versions", "deleted"]
    assert node.asked[-1][1] == {"0": "", "deleted": True}
    assert main(["restore", "tour"]) == ExitCode.DONE
    assert capsys.readouterr().out == "restored: version 1, 2\n" and node.asked[-1][1] == {"0": "tour", "source": "me"}
    node.skills = []
    assert main(["list", "--deleted"]) == ExitCode.DONE and capsys.readouterr().out == "the bin is empty\n"


def write(folder: Path, **calls: str) -> list[str]:
    """Skills that call others: name → the names, with spaces between them."""
    for name, called in calls.items():
        nodes = "".join(f"  n{i}: {{skill: {other}}}\n" for i, other in enumerate(called.split())) or "  n: {wait: 1}\n"
        (folder / f"{name}.yaml").write_text(f"name: {name}\nlevel: blueprint\nnodes:\n{nodes}")
    return [str(folder / f"{name}.yaml") for name in calls]


def test_several_files_are_saved_in_the_order_of_their_calls(node: StandIn, tmp_path: Path, capsys: Captured) -> None:
    circle = {"left": "right", "right": "left"}
    files = write(tmp_path, outer="middle@2 other", middle="inner", other="", inner="missing", **circle)
    assert main(["save", *files]) == ExitCode.DONE
    saved = [fields["0"].partition("\n")[0].removeprefix("name: ") for _, fields in node.asked]
    assert saved == ["inner", "middle", "other", "outer", "right", "left"]
    out, err = capsys.readouterr()
    assert out.startswith(f"{files[3]}: saved as inner, version 3\n") and err.endswith("6 of 6 saved\n")
    assert {fields["file"] for _, fields in node.asked} == {Path(file).name for file in files}


def test_each_file_is_saved_or_refused_by_itself(node: StandIn, tmp_path: Path, capsys: Captured) -> None:
    files = write(tmp_path, outer="middle", middle="wrong", other="")
    assert main(["save", *files]) == ExitCode.FAILED
    out, err = capsys.readouterr()
    assert out == f"{files[2]}: saved as other, version 3\n"
    assert f"{files[1]}: not saved\nerror: it is wrong\n" in err
    assert f"{files[0]}: not saved\nerror: skill 'outer' is not tried: it calls 'middle', which was not saved\n" in err
    assert err.endswith(f"1 of 3 saved; not saved: {files[1]}, {files[0]}\n")
    assert main(["save", *files, "--json"]) == ExitCode.FAILED
    found = json.loads(capsys.readouterr().out)["skills"]
    assert [(one["name"], one["version"], len(one["errors"])) for one in found] == [
        ("middle", 0, 1), ("outer", 0, 1), ("other", 3, 0),
    ]  # fmt: skip


def test_trees_are_saved_as_files_are(node: StandIn, tmp_path: Path, capsys: Captured) -> None:
    tree = '<root BTCPP_format="4"><BehaviorTree ID="Nap"><Sleep msec="{}"/></BehaviorTree></root>'
    (tmp_path / "nap.xml").write_text(tree.format(500))
    assert main(["import", str(tmp_path / "nap.xml"), "--save", "--json"]) == ExitCode.DONE
    data = json.loads(capsys.readouterr().out)
    assert [(one["file"], one["name"], one["version"]) for one in data["saved"]] == [(*data["files"], "Nap", 3)]
    assert [(name, fields["file"]) for name, fields in node.asked] == [("save_skill", "Nap.yaml")]


def test_what_cannot_be_told_apart_is_not_saved(node: StandIn, tmp_path: Path, capsys: Captured) -> None:
    files = write(tmp_path, tour="", second="")
    (tmp_path / "copy.yaml").write_text((tmp_path / "tour.yaml").read_text())
    assert main(["save", *files, str(tmp_path / "copy.yaml")]) == ExitCode.FAILED
    assert "skill 'tour' is in two files; expected one file for each" in capsys.readouterr().err
    assert main(["save", *files, "--based-on", "1"]) == ExitCode.FAILED
    assert "--based-on; expected one file; got 2" in capsys.readouterr().err
    assert not node.asked
    (tmp_path / "tour.yaml").write_text("no skill")  # the robot says all that is wrong with it
    assert main(["save", *files]) == ExitCode.DONE and [f["0"][:8] for _, f in node.asked] == ["no skill", "name: se"]


@pytest.mark.parametrize(
    "words, asked",
    [
        (["pause", "--now", "--run", "r1"], {"0": "pause", "run": "r1", "now": True}),
        (["resume"], {"0": "resume", "run": "", "how": ""}),
        (["resume", "again"], {"0": "resume", "run": "", "how": "again"}),
        (["step", "--into"], {"0": "step", "run": "", "into": True}),
        (["jump", "a/b", "--come-back"], {"0": "jump", "run": "", "node": "a/b", "now": False, "come_back": True}),
        (["skip", "failed"], {"0": "skip", "run": "", "value": "failed", "node": ""}),
        (["breakpoints", "a/b", "after c"], {"0": "breakpoints", "run": "", "breakpoints": ["a/b", "after c"]}),
        (["breakpoints", "--run", "r1"], {"0": "breakpoints", "run": "r1", "breakpoints": []}),
        (["answer", "yes", "--node", "a"], {"0": "answer", "run": "", "value": "yes", "node": "a"}),
        (["cancel", "r1"], {"0": "cancel", "run": "r1"}),
        (["arm", "30"], {"0": "arm", "run": "", "seconds": 30.0}),
        (["disarm"], {"0": "disarm", "run": ""}),
    ],
)
def test_control(node: StandIn, words: list[str], asked: dict[str, Any], capsys: Captured) -> None:
    assert main(words) == ExitCode.DONE
    assert node.asked == [("control", {**asked, "source": "me"})]
    assert capsys.readouterr().out == f"{words[0]}: taken\n"


def test_what_the_node_refuses(node: StandIn, capsys: Captured) -> None:
    assert main(["jump", "x"]) == ExitCode.FAILED
    assert "no node 'x'; expected one of: a, b" in capsys.readouterr().err


def test_a_sentence(node: StandIn, capsys: Captured) -> None:
    assert main(["command", "welcome", "the", "guest"]) == ExitCode.DONE
    assert capsys.readouterr().out == "tour begins, run r1\n"
    assert node.asked == [("give_command", {"0": "welcome the guest", "gesture": False, "source": "me"})]


def test_logs(node: StandIn, capsys: Captured) -> None:
    assert main(["log"]) == ExitCode.DONE
    out = capsys.readouterr().out
    assert "interrupted at look" in out and "and 1 more" in out
    assert main(["log", "r1", "--json"]) == ExitCode.DONE
    assert len(json.loads(capsys.readouterr().out)["records"]) == 4, "in several answers"


def test_how_a_run_began_is_read_by_people() -> None:
    at = {"tick": 7, "time": 0.5}
    run = {**at, "what": "run", "run": "r1", "skill": "tour", "parts": ["arm"], "parameters": {"rounds": [3.0]}}
    assert shown_record({**run, "versions": {"tour": 4}})[22:] == "run r1 of tour@4, rounds=3, parts arm"
    later = {**run, "parts": [], "parameters": {"way": [0.0, 0.25]}, "outputs_of": "r0", "rehearsed": True}
    assert shown_record(later)[22:] == "run r1 of tour, way=[0, 0.25], outputs of r0, rehearsed"
    given = [{"name": "rounds", "value": [3.0], "unit": ""}, {"name": "speed", "value": [0.1], "unit": "m/s"}]
    begin = {**at, "what": "command", "command": "Begin", "number": 1, "source": "Ann", "arguments": given}
    assert shown_record(begin)[22:] == "begin by Ann arguments=[rounds=3, speed=0.1 m/s]"


def test_the_node_of_a_skill_that_is_one_call_has_the_skills_name_for_people() -> None:
    at = {"tick": 7, "time": 0.5}
    run = {**at, "what": "run", "run": "r1", "skill": "lift", "parts": [], "parameters": {}}
    node = {**at, "what": "node", "path": "only", "visit": 1, "attempt": 1}
    ended = {**at, "what": "ended", "path": "only", "result": "failed", "reason": "no", "outputs": {}}
    abandoned = {**at, "what": "abandoned", "path": "only"}
    lines = shown_records([run, node, ended, abandoned]).splitlines()
    assert [line[22:] for line in lines] == ["run r1 of lift", "lift", "lift: failed: no", "abandoned path=lift"]
    assert shown_record(node)[22:] == "only", "a record alone does not know"
    given = {"question": "", "answers": [], "reason": ""}
    nodes = [
        SimpleNamespace(path=path, does=does, state="runs", **given)
        for path, does in (("", "lift"), ("only", "move_linear"))
    ]
    assert line_of_tree(nodes) == "lift (move_linear, runs)"


def test_a_run_as_a_tree() -> None:
    def line(path: str, does: str, **fields: Any) -> SimpleNamespace:
        given: dict[str, Any] = {"run": "r1", "visit": 1, "attempt": 1, "state": "runs", "question": "", "answers": []}
        given |= dict.fromkeys(("rehearsed", "will_pause", "has_to_be_said"), False)
        given |= {"jump": "", "parts": [], "result": "", "reason": ""}
        return SimpleNamespace(path=path, does=does, **{**given, **fields})

    nodes = [
        line("", "tour", jump="x", parts=["arm"]),
        line("both", "all_of", visit=2),
        line("both/left", "swing", attempt=3, reason="2 of 5"),
        line("both/right/ask", "ask", state="asks", question="Go?", answers=["yes", "no"]),
    ]
    root = shown_tree(nodes)
    assert str(root.label) == "tour  r1  jump to x waits  parts arm"
    (both,) = root.children
    assert str(both.label) == "both all_of  visit 2"
    assert [str(child.label) for child in both.children] == [
        "left swing  attempt 3  2 of 5",
        "right/ask ask  Go? (yes / no: `answer` it)",
    ]
    assert line_of_tree(nodes) == "both/left (swing, runs, 2 of 5), both/right/ask (ask, asks): Go? (yes / no)"
    assert str(shown_tree([], "starting tour").label) == "starting tour"
