"""Rules P1 to P18 of docs/semantics/programs.md: programs."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from robot_rt_control.client.programs import Programs
from robot_rt_control.definitions.definitions import ParameterValue
from robot_rt_control.program.file import ProgramTemplate
from robot_rt_control.server.core.programs import check_for_session, save_program
from robot_rt_control.server.programs.program_states import ProgramStates, SessionState
from robot_rt_control.server.programs.program_store import ProgramStore
from robot_rt_control.server.runs.runs import Run, RunResult, check_plan, plan_action, plan_program
from robot_rt_control.testing.cell_backend import CellBackend
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.errors import DefinitionError, Overtaken, ProgramError, RobotControlError

APPROACH = """\
name: approach
description: Move until something is near, then back.
roles:
  mover: {kinds: [base], description: moves}
  eye: {kinds: [rangefinder], default: rangefinder}
parameters:
  speed: {unit: m/s, default: 0.1, minimum: 0.01, maximum: 0.5}
  near: {unit: m}
  direction: {length: 2, default: [1, 0]}
  frame: {type: text, choices: [base, tool], default: base}
start: [there]
actions:
  there:
    type: probe
    parts: mover
    parameters: {speed: $speed, level: "2 * ($speed + $direction[0]) - 0.5"}
    reactions:
      - {name: near, when: eye.distance < $near, start: back, event: touched, capture: [eye.distance]}
  back:
    type: probe
    parts: {part: mover}
    parameters: {speed: -$speed, duration: 0.004}
    reactions:
      - {when: is_done, stop: true, event: finished}
"""


def refused(cell: LockstepCell, text: str, parts: list[str] | None = None, **values: Any) -> str:
    """Why an upload to a session on `right` is refused; nothing is left of it."""
    session = cell.session("right")
    with pytest.raises(DefinitionError) as error:
        session.upload(text, parts or [], **values)
    contents = cell.server.contents(cell.server.session(session.id))
    assert not contents.actions and not contents.reactions and session.ended is None
    session.close()
    return str(error.value)


def lines(text: str) -> list[int]:
    """The lines of the mistakes in a message."""
    return [int(line.split(":")[1]) for line in text.splitlines() if line.startswith("program:")]


def finish(cell: LockstepCell, run: Run, at_most: int = 200) -> RunResult:
    for _ in range(at_most):
        cell.step()
        result = run.update()
        if result is not None:
            run.close()
            cell.step()
            return result
    raise AssertionError("the run did not end")


# --- P1 to P5: what a program says, filled in ------------------------------------------------------


def test_P1_all_of_a_program_is_there_from_one_tick_on_and_nothing_starts(cell: LockstepCell) -> None:
    session = cell.session("right")
    assert session.upload(APPROACH, {"mover": "right"}, near=0.3) == ["there", "back"]
    cell.step(3)
    assert session.active == () and cell.active("right") != "there"
    session.start("there")
    cell.step()
    assert session.active == ("there",)


def test_P1_nothing_of_a_program_is_there_where_anything_is_wrong(cell: LockstepCell) -> None:
    refusal = refused(cell, APPROACH.replace("duration: 0.004", "duration: [1, 2]"), ["mover=right"], near=0.3)
    assert refusal.startswith("program:22: action 'back': parameter 'duration': wrong length")
    # What only the action type's own code can see is also reported with the line.
    text = "actions:\n  a: {type: velocity_move, parts: right, parameters: {velocity: [100.0]}}\n"
    assert refused(cell, text).startswith("program:2: action 'a': ")


def test_P2_values_stand_for_parameters_and_defaults_for_what_is_left_out(cell: LockstepCell) -> None:
    session = cell.session("right")
    session.upload(APPROACH, {"mover": "right"}, near=0.3, speed=0.2)
    session.start("there")
    cell.set_sensor("rangefinder/distance", 0.31)
    cell.step(2)
    assert session.value("there.level") == pytest.approx(2 * (0.2 + 1) - 0.5)
    contents = cell.server.contents(cell.server.session(session.id))
    assert [a.prepared.values["speed"] for a in contents.actions.values()] == [0.2, -0.2]
    cell.set_sensor("rangefinder/distance", 0.29)
    cell.step()
    assert session.active == ("back",)
    assert [e.values for e in cell.fired("touched")] == [(0.29,)]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "program 'approach': parameter 'near' is missing; expected a number in m; got no value"),
        (
            {"near": 0.3, "sped": 1.0},
            "program 'approach' has no parameter 'sped'; expected one of the known names; did",
        ),
        ({"near": 0.3, "speed": 1.0}, "program 'approach': parameter 'speed': out of range; expected 0.01 to 0.5 m/s"),
        ({"near": (0.3, "mm")}, "program 'approach': parameter 'near': wrong unit; expected 'm'; got 'mm'"),
        ({"near": "close"}, "program 'approach': parameter 'near': wrong type; expected a number in m; got 'close'"),
        (
            {"near": 0.3, "direction": [1, 0, 0]},
            "parameter 'direction': wrong length; expected 2 numbers; got 3 values",
        ),
        ({"near": 0.3, "frame": "table"}, "parameter 'frame': not a valid choice; expected one of: base, tool"),
    ],
)
def test_P2_values_that_are_not_as_declared_are_refused(
    cell: LockstepCell, values: dict[str, object], message: str
) -> None:
    assert message in refused(cell, APPROACH, ["mover=right"], **values)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("$sped", "program:16: action 'there': parameter 'level': unknown parameter $sped; expected one of the known"),
        ("2 *", "program:16: action 'there': parameter 'level': '$speed + 2 *' cannot be computed; expected a number"),
        ("$speed / 0", "program:16: action 'there': parameter 'level': 0.1 / 0; expected a finite result"),
        ("$direction[2]", "$direction[2]; expected an element of $direction; got a parameter of 2 values, from [0]"),
        ("$frame + 1", "'+' computes with numbers; expected a number; got $frame = 'base'"),
        ("sqrt($speed)", "cannot be computed; expected a number, a parameter such as $speed, or '('; got 'sqrt"),
    ],
)
def test_P3_what_is_no_parameter_or_no_expression_is_refused(cell: LockstepCell, expression: str, message: str) -> None:
    expression = f"$speed + {expression}" if expression == "2 *" else expression
    text = APPROACH.replace("2 * ($speed + $direction[0]) - 0.5", expression)
    assert message in refused(cell, text, ["mover=right"], near=0.3)


def test_P3_conditions_compute_as_well(cell: LockstepCell) -> None:
    session = cell.session("right")
    text = APPROACH.replace("eye.distance < $near", "eye.distance < 2 * $near - 0.1 and ($speed < 0.2)")
    with pytest.raises(DefinitionError, match="a number is not a condition|cannot|only"):
        session.upload(text.replace(" < 0.2", ""), {"mover": "right"}, near=0.3)
    text = text.replace(" and ($speed < 0.2)", "")
    session.upload(text, {"mover": "right"}, near=0.3)
    session.start("there")
    cell.set_sensor("rangefinder/distance", 0.51)
    cell.step(2)
    assert session.active == ("there",)
    cell.set_sensor("rangefinder/distance", 0.49)
    cell.step()
    assert session.active == ("back",)


def test_P4_a_unit_must_agree_with_what_the_parameter_is_used_for(cell: LockstepCell) -> None:
    wrong = APPROACH.replace("near: {unit: m}", "near: {unit: N}")
    assert refused(cell, wrong, ["mover=right"], near=0.3) == (
        "program:18: condition of reaction 'near' of action 'there', column 24: units do not agree; expected m, as the "
        "float variable 'rangefinder.distance' has; got '0.3 N'. Give the number in m; units are not converted\n"
        "  rangefinder.distance < 0.3 N\n                         ^"
    )
    wrong = APPROACH.replace("speed: {unit: m/s", "speed: {unit: m")
    messages = refused(cell, wrong, ["mover=right"], near=0.3)
    assert "program:16: action 'there': parameter 'speed': wrong unit; expected 'm/s'; got 'm'" in messages
    assert "program:22: action 'back': parameter 'speed': wrong unit; expected 'm/s'; got 'm'" in messages


def test_P5_a_part_stands_wherever_its_role_does(cell: LockstepCell) -> None:
    for part in ("left", "right"):
        session = cell.session(part)
        text = APPROACH.replace("{speed: $speed, ", "{").replace(
            "{speed: -$speed, ", "{"
        )  # left also has joints in rad
        session.upload(text, [f"mover={part}"], near=0.3)
        session.start("there")
        cell.step()
        assert cell.active(part) == "there"
    cell.set_sensor("rangefinder/distance", 0.1)  # the default part of the role `eye`
    cell.step()
    assert (cell.active("left"), cell.active("right")) == ("back", "back")


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([], "program 'approach': no part for role 'mover' (base); expected 'mover=<part>'; got none"),
        (
            ["mver=right"],
            "program 'approach' has no role 'mver'; expected one of the known names; did you mean 'mover'",
        ),
        (
            ["mover=tool"],
            "program:4: role 'mover': part 'tool' does not fit; expected a part of kind base: left, right",
        ),
        (
            ["mover=rigth"],
            "program:4: role 'mover': unknown part; expected one of the known names; did you mean 'right'",
        ),
        (
            ["mover=right", "eye=io"],
            "program:5: role 'eye': part 'io' does not fit; expected a part of kind rangefinder",
        ),
        (["right"], "program 'approach': parts; expected 'role=part'; got 'right'"),
    ],
)
def test_P5_roles_without_a_part_and_parts_that_do_not_fit_are_refused(
    cell: LockstepCell, parts: list[str], message: str
) -> None:
    assert message in refused(cell, APPROACH, parts or None, near=0.3)


# --- P6 to P10: validation before anything moves -------------------------------------------------------

MISTAKES = """\
start: [a]
actions:
  a:
    type: porbe
    parts: right
  b:
    type: probe
    parts: rihgt
    parameters:
      sped: 1.0
      level: high
    reactions:
      - {when: elapsd > 1, event: e}
      - when: is_done
        signal: pnig
        capture: [nothing.at_all]
      - {when: elapsed == 1, start: c}
  c: {type: watch, parts: [right]}
"""


def test_P6_every_mistake_is_told_with_its_line(cell: LockstepCell) -> None:
    message = refused(cell, MISTAKES)
    assert lines(message) == [4, 6, 8, 10, 11, 13, 15, 16, 17, 18, 18]
    for text in (
        "program:4: action 'a': unknown action type; expected one of the known names; did you mean 'probe'",
        "program:6: action 'b' cannot be reached; expected a reaction that starts it, or its name in `start`",
        "program:8: action 'b': unknown part; expected one of the known names; did you mean 'right'",
        "program:10: action 'b' has no parameter 'sped'; expected one of the known names; did you mean 'speed'",
        "program:11: action 'b': parameter 'level': wrong type; expected a number; got 'high'",
        "program:13: condition of a reaction of action 'b', column 1: there is no such state variable",
        "program:15: reaction on 'is_done' of action 'b' raises a signal that action 'b' (type 'probe') does not have",
        "program:16: reaction on 'is_done' of action 'b' captures an unknown state variable",
        "program:17: condition of a reaction of action 'b', column 1: '==' cannot compare a float",
        "program:18: action 'c': wrong number of parts; expected 2, in the order of the slots of 'watch'",
        "program:18: action 'c' cannot be reached",
    ):
        assert text in message


def test_P6_a_run_and_a_store_refuse_in_the_same_words(cell: LockstepCell) -> None:
    for attempt in (
        lambda: plan_program(cell.server, MISTAKES, until_event="", timeout=0.0),
        lambda: save_program(cell.server.core, MISTAKES, check_only=True),
    ):
        with pytest.raises(ProgramError) as error:
            attempt()
        assert lines(str(error.value)) == [4, 6, 8, 10, 11, 13, 15, 16, 17, 18, 18]
        assert [mistake.line for mistake in error.value.mistakes] == lines(str(error.value))
    assert cell.server.sessions() == []


def warned(cell: LockstepCell, text: str) -> list[str]:
    return check_for_session(cell.server.core, ProgramTemplate(text).fill(), None)


CHAIN = """\
start: [a]
actions:
  a: {type: probe, parts: right, reactions: [{when: is_done, start: b}]}
  b: {type: probe, parts: right, reactions: [{when: is_done, start: a}]}
  c: {type: probe, parts: right, reactions: [{when: is_done, start: b}]}
"""


def test_P7_what_nothing_leads_to_is_a_mistake(cell: LockstepCell) -> None:
    assert refused(cell, CHAIN) == (
        "program:5: action 'c' cannot be reached; expected a reaction that starts it, or its name in `start`; got "
        "neither. If a user starts it by hand, write manual: true"
    )
    assert warned(cell, CHAIN.replace("c: {type", "c: {manual: true, type")) == []
    assert warned(cell, CHAIN + "reactions: [{when: rangefinder.distance < 0.1, start: c}]\n") == []
    assert warned(cell, CHAIN.replace("start: [a]\n", "")) == [], "without a start a user starts what they like"


def test_P8_what_goes_on_for_ever_is_warned_of(cell: LockstepCell) -> None:
    text = CHAIN.replace("start: [a]\n", "")
    ends = text.replace(
        "b: {type: probe, parts: right, reactions: [{when: is_done, start: a}]}", "b: {type: probe, parts: right}"
    )
    (warning,) = warned(cell, ends)
    assert warning == (
        "program:3: action 'b' has no exit: nothing starts another one in its place, stops it, or emits an event. "
        "If the program may end there, write final: true"
    )
    assert warned(cell, ends.replace("b: {type", "b: {final: true, type")) == []
    itself = text.replace("start: a}", "start: b}")
    assert len(warned(cell, itself)) == 1, "to start itself again is no exit"
    assert warned(cell, itself.replace("start: b}]}\n  c", "start: b, event: again}]}\n  c")) == []
    assert warned(cell, ends + "reactions: [{when: rangefinder.distance < 0.1, stop: true}]\n") == []
    assert warned(cell, ends + "reactions: [{when: rangefinder.distance < 0.1, start: a}]\n") == []
    beside = "  d: {type: probe, parts: left, reactions: [{when: is_done, start: c, keep_owner: true, event: e}]}\n"
    assert warned(cell, ends + beside) == [], "an action beside it takes its part"
    session = cell.session("right")
    session.upload(ends)  # a warning refuses nothing
    session.start("b")
    cell.step()
    assert session.active == ("b",)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "start: [a]",
            "start: [a, b]",
            "program:1: actions 'a' and 'b' cannot start together; expected actions that share no part; got both move "
            "right",
        ),
        (
            "start: b}]}\n  b",
            "start: b, keep_owner: true}]}\n  b",
            "program:3: reaction on 'is_done' of action 'a' keeps its owner, but starts an action that takes a part "
            "from it; expected an action that does not move right; got 'b', which moves right. Leave keep_owner out",
        ),
        (
            "start: [a]",
            "start: [a]\nparts: [left]",
            "program:4: action 'a' moves part 'right'; expected a part of the program: left; got a part that the "
            "program's `parts` do not list. Add it to the program's `parts`",
        ),
        (
            "b: {type: probe, parts: right",
            "b: {type: probe, parts: left",
            "program:4: action 'b' moves part 'left'; expected a part of its session: right; got a part that the "
            "session does not hold. Open the session with this part too",
        ),
    ],
)
def test_P9_conflicts_over_parts_are_mistakes(cell: LockstepCell, old: str, new: str, message: str) -> None:
    text = CHAIN.replace("c: {type", "c: {manual: true, type")
    assert text.count(old) == 1
    assert message in refused(cell, text.replace(old, new))


def test_P10_state_variables_that_are_always_unknown_are_warned_of(cell: LockstepCell) -> None:
    text = CHAIN.replace("start: [a]\n", "").replace(
        "when: is_done, start: b}]}\n  b", "when: b.is_done, start: b}]}\n  b"
    )
    (warning,) = warned(cell, text)
    assert warning == (
        "program:2: reaction on 'b.is_done' of action 'a' reads a state variable of action 'b', which is always "
        "unknown there: both move right, so they are never active together"
    )
    assert warned(cell, text.replace("a: {type: probe, parts: right", "a: {type: probe, parts: left")) == []


# --- P11 to P15: running and keeping ------------------------------------------------------------------

ENDS = """\
name: ends
start: [a]
actions:
  a: {type: probe, parts: right, parameters: {duration: 0.003}, reactions: [{when: is_done, start: b, event: half}]}
  b: {type: watch, parts: [right, rangefinder], final: true}
"""


def test_P11_a_run_ends_in_a_final_action_that_is_never_done(cell: LockstepCell) -> None:
    run = Run(cell.server, plan_program(cell.server, ENDS, until_event="", timeout=0.0))
    result = finish(cell, run)
    assert (result.success, result.message, result.last_event) == (True, "", "half")
    (started,) = [e.tick for e in cell.kinds("action_started", current_action="b")]
    assert cell.tick - started <= 2
    text = ENDS.replace(", final: true", "")
    run = Run(cell.server, plan_program(cell.server, text, until_event="", timeout=0.02))
    assert finish(cell, run).message == "it took longer than its timeout of 0.02 s"
    run = Run(cell.server, plan_program(cell.server, text, until_event="half", timeout=0.02))
    assert finish(cell, run).success


def test_P11_a_run_takes_values_and_parts(cell: LockstepCell) -> None:
    with pytest.raises(DefinitionError, match="no part for role 'mover'"):
        plan_program(cell.server, APPROACH, until_event="", timeout=0.0)
    cell.set_sensor("rangefinder/distance", 0.1)
    plan = plan_program(
        cell.server,
        APPROACH,
        until_event="finished",
        timeout=0.0,
        parameters=[ParameterValue(name="near", value=0.3)],
        parts=["mover=right"],
    )
    assert plan.parts == ("right",)
    assert finish(cell, Run(cell.server, plan)).last_event == "finished"


@pytest.fixture
def kept(cell: LockstepCell, tmp_path: Path) -> ProgramStore:
    library = tmp_path / "library"
    library.mkdir()
    (library / "shipped.yaml").write_text(CHAIN.replace("c: {type", "c: {manual: true, type"))
    cell.server.programs = cell.server.core.programs = ProgramStore(tmp_path / "programs", library=library)
    return cell.server.programs


def test_P12_saving_makes_the_next_version_and_no_number_comes_twice(cell: LockstepCell, kept: ProgramStore) -> None:
    for version, duration in ((1, 0.003), (2, 0.005), (3, 0.007)):
        text = ENDS.replace("0.003", str(duration))
        assert save_program(cell.server.core, text, check_only=False).version == version
    for name, duration in (("ends", 0.007), ("ends@2", 0.005), ("ends@1", 0.003)):
        program = kept.template(name).fill().definition
        assert [p.value for p in program.actions[0].parameters] == [duration]
        run = Run(cell.server, plan_program(cell.server, name, until_event="half", timeout=0.0))
        assert finish(cell, run).success
    assert kept.get("ends").versions == (1, 2, 3)
    assert kept.delete("ends@3") == [3]
    assert kept.get("ends").version == 2
    with pytest.raises(DefinitionError, match="program 'ends' has no version 3; expected one of: ends@1, ends@2"):
        kept.template("ends@3")
    assert save_program(cell.server.core, ENDS, check_only=False).version == 4
    assert kept.delete("ends") == [1, 2, 4]
    with pytest.raises(DefinitionError, match="unknown program; expected one of: shipped; got 'ends'"):
        kept.template("ends")
    assert save_program(cell.server.core, ENDS, check_only=False).version == 5


def test_P15_a_sessions_program_is_named_with_the_version_that_runs(cell: LockstepCell, kept: ProgramStore) -> None:
    for _ in range(2):
        save_program(cell.server.core, ENDS, check_only=False)
    for given, shown in (("ends", "ends@2"), ("ends@1", "ends@1"), (ENDS, "ends")):
        run = Run(cell.server, plan_program(cell.server, given, until_event="half", timeout=0.0))
        (session,) = cell.server.sessions()
        assert session.program == shown
        assert finish(cell, run).success


def test_P12_a_save_that_was_overtaken_changes_nothing(cell: LockstepCell, kept: ProgramStore) -> None:
    core, theirs = cell.server.core, ENDS.replace("0.003", "0.005")
    assert save_program(core, ENDS, check_only=False).version == 1
    assert save_program(core, theirs, check_only=False, based_on=1).version == 2
    with pytest.raises(Overtaken) as overtaken:
        save_program(core, ENDS.replace("0.003", "0.007"), check_only=False, based_on=1)
    assert (overtaken.value.version, overtaken.value.text) == (2, theirs)
    assert kept.get("ends").versions == (1, 2)
    assert save_program(core, ENDS, check_only=True, based_on=1).version == 0, "only checked"


def test_P13_the_library_is_used_like_saved_programs_and_cannot_be_changed(
    cell: LockstepCell, kept: ProgramStore
) -> None:
    session = cell.session("right")
    assert session.upload("shipped") == ["a", "b", "c"]
    assert [(p.name, p.library) for p in kept.all()] == [("shipped", True)]
    with pytest.raises(DefinitionError, match="program 'shipped' comes with the package and cannot be changed"):
        save_program(cell.server.core, ENDS.replace("name: ends", "name: shipped"), check_only=False)
    with pytest.raises(DefinitionError, match="program 'shipped' comes with the package and cannot be deleted"):
        kept.delete("shipped")


def test_P18_programs_are_found_by_words_and_tags_and_copied_under_another_name(
    cell: LockstepCell, kept: ProgramStore
) -> None:
    programs = Programs(CellBackend(cell, keeps_leases=False))
    programs.save(f"# Two ends.\n{ENDS}tags: [surface, slow]\ndescription: Follows an Edge.\n")
    programs.save(ENDS.replace("name: ends", "name: others"))

    def found(**wanted: Any) -> list[str]:
        return [p.name for p in programs.list(**wanted)]

    assert found() == ["ends", "others", "shipped"]
    assert found(search="edge FOLL") == found(search="surf") == found(tags=["slow", "surface"]) == ["ends"]
    assert found(search="edge nothing") == found(tags=["surface", "fast"]) == found(tags=["surf"]) == []
    assert list(programs.list("ends")[0].tags) == ["surface", "slow"]

    assert [programs.copy("ends", "mine"), programs.copy("ends@1", "mine")] == [1, 2]
    assert programs.text("mine") == programs.text("ends").replace("name: ends", "name: mine")
    assert programs.copy("shipped", "mine") == 3
    with pytest.raises(DefinitionError, match="program 'shipped' comes with the package and cannot be changed"):
        programs.copy("ends", "shipped")
    with pytest.raises(DefinitionError, match="unknown program; .* got 'nowhere'"):
        programs.copy("nowhere", "somewhere")
    for name in ("my edge: {}", "a, b: c", "5", "x #"):
        with pytest.raises(DefinitionError):
            programs.copy("ends", name)
    assert found() == ["ends", "mine", "others", "shipped"]


def test_P14_deleting_a_program_changes_nothing_that_runs(cell: LockstepCell, kept: ProgramStore) -> None:
    save_program(cell.server.core, ENDS.replace("0.003", "0.050"), check_only=False)
    run = Run(cell.server, plan_program(cell.server, "ends", until_event="half", timeout=0.0))
    cell.step(10)
    save_program(cell.server.core, ENDS, check_only=False)
    kept.delete("ends")
    assert cell.active("right") == "a"
    result = finish(cell, run)
    assert result.success and result.ticks >= 48


def test_P15_every_change_of_a_sessions_states_is_told(cell: LockstepCell) -> None:
    told: list[SessionState] = []
    states = ProgramStates(lambda session: cell.server.session(session).program, told.append)
    cell.server.add_listener(states.take)
    session = cell.session("right", "left")
    session.upload(APPROACH + "  beside: {type: probe, parts: left, manual: true}\n", {"mover": "right"}, near=0.3)
    session.start("there", "beside")
    first = cell.step()
    states.flush()
    assert [(s.program, s.tick, dict(s.active)) for s in told] == [
        ("approach", first, {"there": first, "beside": first})
    ]
    cell.step(5)
    states.flush()
    assert len(told) == 1, "nothing has changed"
    cell.set_sensor("rangefinder/distance", 0.1)
    second = cell.step()
    states.flush()
    state = told[-1]
    assert (dict(state.active), state.last_reaction, state.last_event) == (
        {"beside": first, "back": second},
        "near",
        "touched",
    )
    session.close()
    cell.step()
    states.flush()
    state = told[-1]
    assert (state.program, dict(state.active), state.ended, state.end_reason) == (
        "approach",
        {},
        True,
        "closed by its client",
    )


def test_P15_refusals_leave_the_states_alone(cell: LockstepCell) -> None:
    told: list[SessionState] = []
    states = ProgramStates(lambda _: "", told.append)
    cell.server.add_listener(states.take)
    session = cell.session("right")
    with pytest.raises(RobotControlError):
        session.upload(MISTAKES)
    cell.step(2)
    states.flush()
    assert told == []


def test_P17_an_invalid_goal_is_judged_without_a_session(cell: LockstepCell) -> None:
    def judge(text: str = "", **values: float) -> None:
        if text:
            check_plan(cell.server, plan_program(cell.server, text, until_event="", timeout=0.0))
        else:
            parameters = [ParameterValue(name=name, value=value) for name, value in values.items()]
            plan = plan_action(cell.server, "probe", ["left"], parameters, until="true", timeout=0.0)
            check_plan(cell.server, plan)

    judge(ENDS)
    judge(speed=0.1)
    cell.events.clear()
    with pytest.raises(DefinitionError):
        judge(MISTAKES)
    with pytest.raises(DefinitionError, match="parameter 'sped'"):
        judge(sped=0.1)
    with pytest.raises(DefinitionError, match=r"program:4.*got 'session.offset'"):  # no application writes it
        judge(ENDS.replace("when: is_done", "when: session.offset > 0"))
    go = "{type: velocity_move, parts: left, parameters: {velocity: [100, 0]}, final: true}"
    too_fast = f"start: go\nactions:\n  go: {go}\n"
    with pytest.raises(DefinitionError, match=r"program:3.*velocity"):  # the type's own code, with the line
        judge(too_fast)
    assert cell.server.sessions() == [] and cell.events == []


def test_P16_a_text_beyond_the_limits_is_refused_before_it_is_built(cell: LockstepCell) -> None:
    levels = "".join(f"{b}: &{b} [{f'*{a},' * 10}]\n" for a, b in pairwise("abcdefgh"))
    for text, message in (
        ("actions:\n  " + "[" * 2000, "program:2: nested too deeply; expected at most 50 (MAX_YAML_DEPTH); got more"),
        ("a: &a [1,1,1,1,1,1,1,1,1,1]\n" + levels, "program:5: too many items, those included that aliases repeat"),
        (APPROACH + "#" * (1 << 20), "program:1: the text is too large; expected at most 1048576 bytes"),
    ):
        assert refused(cell, text).startswith(message)
