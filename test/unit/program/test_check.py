"""Programs are checked as a whole: laws on random programs, and what is special without workcell, session or values."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robot_rt_control.conditions.types import VariableRef
from robot_rt_control.definitions.action_type import ActionType, Parameter, Slot, StateVariable
from robot_rt_control.definitions.declared_type import DeclaredType
from robot_rt_control.program.check import check_program
from robot_rt_control.program.file import ProgramTemplate, dump_program, parse_program
from robot_rt_control.validation.catalogue import Catalogue, KnownPart
from robot_rt_control.validation.definitions import SessionFacts
from robot_rt_control.vocabulary.capacities import MAX_MISTAKES
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import DefinitionError, ProgramError

MOVING = (PartKind.ARM, PartKind.BASE)


class Move(ActionType):
    name = "move"
    slots = (Slot(name="part", kinds=MOVING),)
    parameters = (
        Parameter(name="speed", unit="joint/s", default=0.1, maximum=2.0),
        Parameter(name="goal", length="dof", unit="joint", optional=True),
        Parameter(name="mode", type="text", choices=("soft", "hard"), default="soft"),
    )
    state_variables = (StateVariable(name="is_done", type="bool"), StateVariable(name="left", unit="m"))
    signals = ("pause",)


class Guarded(ActionType):
    name = "guarded"
    slots = (Slot(name="part", kinds=MOVING), Slot(name="eye", kinds=(PartKind.RANGEFINDER,), moves=False))
    parameters = (Parameter(name="limit", unit="m"), Parameter(name="pose", length="dof", unit="joint"))
    state_variables = (StateVariable(name="is_done", type="bool"),)


VARIABLES = {
    "time": VariableRef(0, "float", "s"),
    "arm.age": VariableRef(0, "int"),
    "arm.position[0]": VariableRef(0, "float", "rad"),
    "left.age": VariableRef(0, "int"),
    "rangefinder.distance": VariableRef(0, "float", "m"),
}
CELL = Catalogue(
    types={"move": DeclaredType.of(Move), "guarded": DeclaredType.of(Guarded)},
    parts={
        "arm": KnownPart(kinds=("arm",), dof=7, joint_unit="rad"),
        "left": KnownPart(kinds=("arm",), dof=2, joint_unit="rad"),
        "rangefinder": KnownPart(kinds=("rangefinder",), dof=0, joint_unit=""),
    },
    variables=VARIABLES,
)
ANYWHERE = Catalogue(types=CELL.types, variables={"time": VARIABLES["time"]})


def refusal(text: str, catalogue: Catalogue | None = CELL, session: SessionFacts | None = None) -> str:
    with pytest.raises(DefinitionError) as error:
        check_program(ProgramTemplate(text).sample(), catalogue, session)
    return str(error.value)


# --- random programs ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Item:
    """A line of a program's text, and wrong ones for the same place that are found when it is checked."""

    text: str
    wrong: tuple[str, ...] = ()


@st.composite
def lines(draw: st.DrawFn) -> list[Item]:
    """A valid program in which every state is reached and left."""
    ids = [f"s{i}" for i in range(draw(st.integers(1, 6)))]
    with_roles = draw(st.booleans())
    robot, eye = ("robot", "eye") if with_roles else ("arm", "rangefinder")
    found = [Item("name: random")]
    if with_roles:
        found += [Item("roles:"), Item("  robot: {kinds: [arm]}"), Item("  eye: {kinds: [rangefinder]}")]
    found += [
        Item("parameters:"),
        Item("  slow: {unit: rad/s, default: 0.5}"),
        Item("  near: {unit: m, default: 0.2}"),
        Item("  share: {default: 0.25, maximum: 1}"),
        Item("start: [s0]"),
        Item("actions:"),
    ]
    for i, id in enumerate(ids):
        found.append(Item(f"  {id}:"))
        found.append(Item("    type: move", ("    type: mvoe",)))
        found.append(
            Item(f"    parts: {robot}", ("    parts: mra", f"    parts: {eye}", f"    parts: [{robot}, {eye}]"))
        )
        found.append(Item("    parameters:"))
        found.append(
            Item(
                draw(st.sampled_from(["      speed: $slow", "      speed: -$slow * $share", "      speed: 0.1"])),
                ("      sped: 1", "      speed: 3", "      speed: soft", "      speed: $near", "      speed: [1, 2]"),
            )
        )
        if draw(st.booleans()):
            found.append(Item("      mode: hard", ("      mode: hrad",)))
        found.append(Item("    reactions:"))
        for j in range(draw(st.integers(1, 3))):
            target = ids[(i + 1) % len(ids)] if j == 0 else draw(st.sampled_from(ids))
            condition = draw(
                st.sampled_from([f"{eye}.distance < $near", "is_done", "left > 2 * $near", "time > 3 s", "not is_done"])
            )
            found.append(
                Item(
                    f"      - when: {condition}",
                    (
                        f"      - when: {eye}.distanse < 1",
                        "      - when: is_dnoe",
                        f"      - when: {eye}.distance == 1",
                        "      - when: left > 1 s",
                        "      - when: time > $near",
                    ),
                )
            )
            found.append(Item(f"        start: {target}"))
            if draw(st.booleans()):
                found.append(Item("        signal: pause", ("        signal: puase",)))
            if draw(st.booleans()):
                found.append(Item(f"        capture: [{eye}.distance]", (f"        capture: [{eye}.distanse]",)))
            found.append(Item(f"        event: e{j}"))
    return found


def text_of(items: list[Item]) -> str:
    return "".join(f"{item.text}\n" for item in items)


def used(items: list[Item]) -> bool:
    """Whether the random program uses everything that it declares."""
    actions = text_of(items).partition("actions:")[2]
    text = text_of(items)
    return all(f"${n}" in actions for n in ("slow", "near", "share")) and ("roles" not in text or "eye." in actions)


@settings(deadline=None)
@given(lines())
def test_valid_programs_have_no_mistakes(items: list[Item]) -> None:
    text = text_of(items)
    template = ProgramTemplate(text)
    warnings = check_program(template.sample(), CELL)
    assert all("is not used" in w for w in warnings) and (not used(items) or not warnings)
    check_program(template.sample(), ANYWHERE)
    check_program(template.sample(), None)
    parts = {role.name: "arm" if role.name == "robot" else "rangefinder" for role in template.roles}
    filled = template.fill(parts=parts)
    check_program(filled, CELL, SessionFacts(parts=("arm",)))
    assert parse_program(dump_program(filled.definition)) == filled.definition


@settings(deadline=None)
@given(lines(), st.data())
def test_every_random_mistake_is_told_with_its_line(items: list[Item], data: st.DataObject) -> None:
    places = [i for i, item in enumerate(items) if item.wrong]
    chosen = sorted(data.draw(st.lists(st.sampled_from(places), min_size=1, max_size=4, unique=True)))
    changed = list(items)
    for i in chosen:
        changed[i] = Item(data.draw(st.sampled_from(items[i].wrong)))
    with pytest.raises(DefinitionError) as caught:
        check_program(ProgramTemplate(text_of(changed)).sample(), CELL)
    error = caught.value
    found = [m.line for m in error.mistakes] if isinstance(error, ProgramError) else [error.line]
    assert found == sorted(found)
    expected = {i + 1 for i in chosen}
    assert set(found) <= expected
    # Of an action whose type is not known nothing else can be judged.
    owner = list(itertools.accumulate(bool(re.fullmatch(r"  s\d+:", item.text)) for item in items))
    no_type = {owner[i] for i in chosen if items[i].text.startswith("    type")}
    judged = {i + 1 for i in chosen if owner[i] not in no_type or items[i].text.startswith("    type")}
    assert judged <= set(found)
    assert all(line.startswith(("program:", "  ")) for line in str(error).splitlines())


@settings(deadline=None)
@given(lines(), st.data())
def test_a_line_that_is_lost_or_doubled_never_breaks_the_check(items: list[Item], data: st.DataObject) -> None:
    changed = list(items)
    for _ in range(data.draw(st.integers(1, 3))):
        i = data.draw(st.integers(0, len(changed) - 1))
        changed[i : i + 1] = data.draw(st.sampled_from([[], [changed[i]] * 2, [Item(changed[i].text[2:])]]))
        if not changed:
            break
    try:
        check_program(ProgramTemplate(text_of(changed)).sample(), CELL)
    except DefinitionError as error:
        assert all(line.startswith(("program:", "  ")) for line in str(error).splitlines())


# --- what is known, and what is not -----------------------------------------------------------------------

GUARDED = """\
roles:
  robot: {kinds: [arm]}
  eye: {kinds: [rangefinder]}
parameters:
  pose: {length: any, unit: rad}
  limit: {unit: m, minimum: 0.5}
start: go
actions:
  go: {type: guarded, parts: [robot, eye], parameters: {pose: $pose, limit: $limit}, final: true}
"""


def test_values_that_nobody_gave_yet_are_not_judged() -> None:
    assert check_program(ProgramTemplate(GUARDED).sample(), CELL) == []
    wrong_name = GUARDED.replace("pose: $pose", "poes: $pose")
    message = refusal(wrong_name)
    assert (
        "program:9: action 'go' has no parameter 'poes'; expected one of the known names; did you mean 'pose'"
        in message
    )
    assert "program:9: action 'go': parameter 'pose' is missing; expected one or more numbers in rad or m" in message
    given_now = GUARDED.replace("pose: $pose", "pose: [1, 2]")
    assert "parameter 'pose' is not used" in "".join(check_program(ProgramTemplate(given_now).sample(), CELL))
    filled = ProgramTemplate(given_now.replace("limit: {", "limit: {default: 1, ")).fill
    values = [*ProgramTemplate(given_now).sample().definition.actions[0].parameters][:1]
    with pytest.raises(
        DefinitionError, match=r"program:9: .*'pose': wrong length; expected 7 numbers \(one for each joint"
    ):
        check_program(filled(parts=["robot=arm", "eye=rangefinder"], parameters=values), CELL)
    assert check_program(filled(parts=["robot=left", "eye=rangefinder"], parameters=values), CELL) != []


def test_a_role_must_fit_the_slot_whoever_plays_it() -> None:
    assert refusal(GUARDED.replace("kinds: [arm]", "kinds: [arm, gripper]")) == (
        "program:9: action 'go': role 'robot' does not fit slot 'part' of type 'guarded'; expected a part of kind arm "
        "or base; got arm or gripper"
    )
    (warning,) = check_program(ProgramTemplate(GUARDED.replace("kinds: [arm]", "kinds: [base]")).sample(), CELL)
    assert warning == "program:2: role 'robot': the workcell has no part of kind base"


def test_without_a_workcell_parts_may_have_any_name() -> None:
    text = 'start: a\nactions:\n  a:\n    type: move\n    parts: whatever\n    reactions: [{when: "%s", event: e}]\n'
    for condition in ("whatever.position[0] > 1", "other.thing == 1 and time > 3 s"):
        assert check_program(ProgramTemplate(text % condition).sample(), ANYWHERE) == []
        assert check_program(ProgramTemplate(text % condition).sample(), None) == []
    assert "there is no such state variable" in refusal(text % "nonsense > 1", ANYWHERE)
    assert "units do not agree" in refusal(text % "time > 3 m", ANYWHERE)
    assert "there is no such state variable" in refusal(text % "a.is_dnoe", ANYWHERE)


def test_actions_of_the_session_are_known() -> None:
    text = (
        "actions:\n  a: {type: move, parts: arm, reactions: [{when: old.left > 1 m, start: old, signal: old.pause}]}\n"
    )
    filled = ProgramTemplate(text).fill(defined=["old"])
    session = SessionFacts(parts=("arm",), actions={"old": (DeclaredType.of(Move), frozenset({"arm"}))})
    (warning,) = check_program(filled, CELL, session)
    assert "reads a state variable of action 'old', which is always unknown there: both move arm" in warning
    with pytest.raises(DefinitionError, match="program:2: .*keeps its owner, but starts an action that takes a part"):
        check_program(
            ProgramTemplate(text.replace("start: old", "keep_owner: true, start: old")).fill(defined=["old"]),
            CELL,
            session,
        )
    with pytest.raises(DefinitionError, match="program:2: .*raises a signal that action 'old'.*expected one of: pause"):
        check_program(ProgramTemplate(text.replace("old.pause", "old.x")).fill(defined=["old"]), CELL, session)
    with pytest.raises(
        DefinitionError, match="program:2: action 'a' moves part 'arm'; expected a part of its session: left"
    ):
        check_program(filled, CELL, SessionFacts(parts=("left",), actions=session.actions))
    with pytest.raises(DefinitionError, match="program:2: action 'arm' has the name of a part"):
        check_program(ProgramTemplate(text.replace("  a:", "  arm:")).fill(defined=["old"]), CELL, session)


def test_a_role_may_have_the_name_of_the_part_that_plays_it() -> None:
    text = "roles: {arm: {kinds: [arm]}}\nactions:\n  a: {type: move, parts: arm, reactions: [%s]}\n"
    text %= "{when: arm.age > 1, event: e}"
    for part in ("arm", "left"):
        assert check_program(ProgramTemplate(text).fill(parts={"arm": part}), CELL) == []
    with pytest.raises(DefinitionError, match="program:1: role 'arm': part 'rangefinder' does not fit"):
        check_program(ProgramTemplate(text).fill(parts={"arm": "rangefinder"}), CELL)


BROKEN = """\
roles: {robot: {kinds: [arm]}}
parameters: {slow: {unit: rad/s, default: 0.5}}
start: a
actions:
  a:
    type: move
    parts: robot
    parameters: {speed: $slwo, mode: hrad}
    reactions:
      - {when: time >> 3, start: b, capture: [tmie], signal: puase}
      - {when: 1 < 2, start: nowhere}
  b: {type: move, parts: rihgt, reactions: [{when: left.aeg > 1, event: e}]}
  c: {type: guarded, parts: [robot, rangefinder], parameters: {limit: [], pose: [1, 2]}, manual: true}
  d: {type: move, parts: robot, final: true}
"""


def test_what_cannot_be_read_hides_nothing_else() -> None:
    message = refusal(BROKEN)
    for text in (
        "program:8: action 'a': parameter 'speed': unknown parameter $slwo",
        "program:8: action 'a': parameter 'mode': not a valid choice; expected one of the known names; did you mean",
        "program:10: condition of a reaction of action 'a' is not valid at column 7",
        "program:10: reaction on 'time >> 3' of action 'a' captures an unknown state variable",
        "program:10: reaction on 'time >> 3' of action 'a' raises a signal that action 'a' (type 'move') does not have",
        "program:11: condition of a reaction of action 'a', column 1: the comparison has no state variable",
        "program:11: reaction on '1 < 2' of action 'a' starts an action that is not defined",
        "program:12: action 'b': unknown part",
        "program:12: condition of a reaction of action 'b', column 1: there is no such state variable",
        "program:13: actions.c.parameters.limit; expected a number, true, false, a text, or a list of these; got []",
        "program:14: action 'd' cannot be reached",
    ):
        assert text in message, text
    assert "action 'b' cannot be reached" not in message, "the reaction that leads there is read, wrong as it is"
    assert "parameter 'limit' is missing" not in message, "it is there, and wrong"
    lines = [int(m[1]) for m in re.finditer(r"^program:(\d+)", message, re.M)]
    assert lines == [8, 8, 10, 10, 10, 11, 11, 12, 12, 13, 14]


def test_a_wrong_value_at_the_top_hides_nothing_else() -> None:
    message = refusal("name: [p]\nstart: {a: 1}\nparts: 3\n" + re.sub(r"^start: .*\n", "", BROKEN, flags=re.M))
    for text in (
        "program:1: name; expected a text; got ['p']",
        "program:2: start; expected a text, or a list of texts; got {'a': 1}",
        "program:3: parts; expected a text, or a list of texts; got 3",
        "action 'a': parameter 'speed': unknown parameter $slwo",
        "action 'b': unknown part",
    ):
        assert text in message, text
    assert "cannot be reached" not in message, "where it starts is not known"


def test_a_reaction_that_cannot_be_read_makes_no_state_unreachable() -> None:
    text = BROKEN.replace("start: b, capture", "strat: b, capture")
    message = refusal(text)
    assert "program:10: actions.a.reactions[0].strat: unknown key" in message and "cannot be reached" not in message
    assert "program:12: action 'b': unknown part" in message


def test_no_more_mistakes_are_told_than_the_limit() -> None:
    last = "  d: {type: move, parts: robot, final: true}\n"
    assert last in BROKEN
    more = "".join(f"  d{i}: {{type: moev, parts: robot}}\n" for i in range(2 * MAX_MISTAKES))
    message = refusal(BROKEN.replace(last, more))
    assert len(re.findall(r"^program:\d+", message, re.M)) == MAX_MISTAKES
