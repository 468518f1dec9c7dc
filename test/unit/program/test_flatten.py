"""Mistakes in programs that use programs, with the lines of both texts; the content of the flat program."""

from __future__ import annotations

import pytest

from robot_rt_control.program.check import check_program
from robot_rt_control.program.file import ProgramTemplate
from robot_rt_control.validation.catalogue import Catalogue, KnownPart
from robot_rt_control.vocabulary.errors import DefinitionError, unknown

INNER = """\
roles: {mover: {kinds: [arm]}, eye: {kinds: [rangefinder], default: eye}}
parameters: {speed: {unit: m/s, maximum: 0.25}, way: {length: 3, unit: m, default: [0, 0, 1]}}
start: [go, look]
actions:
  look: {type: watch, parts: eye, reactions: [{when: done.is_done, stop: true}]}
  go:
    type: move
    parts: mover
    parameters: {speed: $speed, way: $way}
    strategies:
      x: [{name: near, law: slow, when: look.distance < $speed, inputs: {d: look.distance}}, {name: far, law: fast}]
    reactions:
      - {when: look.distance < 0.1 and elapsed > 1, start: done, signal: look.zero, capture: [look.distance, elapsed]}
      - {when: elapsed > 5, start: [gone], keep_owner: true, event: late}
  done: {type: stop, parts: mover, final: true, reactions: [{when: is_done, stop: true, event: there}]}
  gone: {type: stop, parts: mover, final: true}
"""
OUTER = """\
name: outer
roles: {arm: {kinds: [arm]}}
parameters: {v: {unit: m/s}}
start: a
actions:
  a:
    use: inner
    parts: {mover: arm}
    parameters: {speed: $v}
    exits: {there: [end, beside], gone: a}
  end: {type: hold, parts: arm, final: true}
  beside: {type: hold, parts: tool, final: true, reactions: [{when: a__look.distance > 1, event: far}]}
"""


def template(outer: str = OUTER, inner: str = INNER) -> ProgramTemplate:
    texts = {"inner": inner}

    def find(name: str) -> ProgramTemplate:
        if name not in texts:
            raise DefinitionError("unknown program", expected=unknown("program", name, texts), got=repr(name))
        return ProgramTemplate(texts[name], source=f"{name}.yaml", find=find)

    return ProgramTemplate(outer, source="outer.yaml", find=find)


def changed(old: str, new: str) -> ProgramTemplate:
    """The programs with a change in one of the two texts."""
    assert (OUTER + INNER).count(old) == 1
    return template(OUTER.replace(old, new), INNER.replace(old, new))


def test_the_used_programs_actions_take_the_place_of_the_state() -> None:
    filled = template().sample()
    program = filled.definition
    assert program.start == ("a__go", "a__look")
    assert [a.id for a in program.actions] == ["a__done", "a__look", "a__go", "end", "beside"], "exits come first"
    done, look, go, end, beside = program.actions
    assert (go.parts, look.parts, end.parts) == (("arm",), ("eye",), ("arm",))
    assert [a.within for a in program.actions] == [("a",)] * 3 + [()] * 2
    assert not done.final and end.final
    (axis,) = go.strategies
    assert axis.strategies[0].when == "a__look.distance < 0.25 m/s" and axis.strategies[0].inputs == (
        ("d", "a__look.distance"),
    )
    near, late = go.reactions
    first = INNER[: INNER.index("- {when: look.distance < 0.1")].count("\n") + 1
    assert [near.place, late.place] == [f"inner.yaml:{first}", f"inner.yaml:{first + 1}"], "of the text that has them"
    assert beside.reactions[0].place == f"outer.yaml:{OUTER.count(chr(10))}"
    assert near.condition == "a__look.distance < 0.1 and elapsed > 1" and near.start == ("a__done",)
    assert (near.signal, near.capture, near.leaves) == ("a__look.zero", ("a__look.distance", "elapsed"), "")
    assert (late.start, late.keep_owner, late.event, late.leaves) == (("a__go", "a__look"), False, "late", "a")
    (there,) = done.reactions
    assert (there.start, there.stop, there.event, there.leaves) == (("end", "beside"), False, "there", "a")
    assert ("a__go", "speed") in filled.sampled and ("a__go", "way") not in filled.sampled
    (use,) = filled.uses
    assert (use.state, use.program, dict(use.parts)) == ("a", "inner", {"mover": "arm", "eye": "eye"})
    assert check_program(filled, None) == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("use: inner", "use: iner", "7: unknown program; expected one of|got 'iner'"),
        ("use: inner", "use: in ner", "7: actions.a.use; expected the name of a program such as trace_edge"),
        ("    use: inner\n", "    use: inner\n    type: x\n", "8: actions.a.type: unknown key"),
        ("{there: [end, beside], gone: a}", "{there: end}", "10: state 'a' uses 'inner': exit 'gone' leads nowhere; "
         "expected exits: {gone: <the state that follows>}; got exits: {there}"),
        ("gone: a}", "gone: a, lost: a}", "10: state 'a' uses 'inner': it has no exit 'lost'; expected one of"),
        ("gone: a}", "gone: b}", "10: state 'a' uses 'inner': exit 'gone' leads to a state that is not|got 'b'"),
        ("    parts: {mover: arm}\n", "", "6: state 'a': program 'inner': no part for role 'mover' (arm)"),
        ("{mover: arm}", "{mover: arm, leg: arm}", "8: state 'a': program 'inner' has no role 'leg'"),
        ("    parameters: {speed: $v}\n", "", "6: state 'a': program 'inner': parameter 'speed' is missing"),
        ("{speed: $v}", "{speed: 1.0}", "9: state 'a': program 'inner': parameter 'speed': out of range"),
        ("{speed: $v}", "{speed: $v, spee: 1}", "9: state 'a': program 'inner' has no parameter 'spee'"),
        ("{v: {unit: m/s}}", "{v: {unit: m}}", "9: state 'a': program 'inner': parameter 'speed': wrong unit"),
        ("{speed: $v}", "{speed: $w}", "9: state 'a': parameter 'speed': unknown parameter $w"),
        ("a__look.distance > 1", "a__look.distance >", "12: condition of a reaction of action 'beside'"),
        ("  end: {", "  a__look: {type: hold, parts: x, manual: true, final: true}\n  end: {",
         "6: state 'a' uses 'inner': action 'a__look' exists; expected another id"),
        ("{mover: arm}", "{mover: go}", "6: state 'a' uses 'inner': part 'go' has the name of an action of that"),
        ("start: [go, look]", "start: []", "IN:4: program 'inner' starts no action"),
        ("start: [go, look]", "start: gone", "IN:3: program 'inner' starts in its exit"),
        ("elapsed > 5", "elapsed >", "IN:14: condition of a reaction of action 'a__go'"),
        ("$speed, way", "$sped, way", "IN:9: action 'go': parameter 'speed': unknown"),
        ("type: watch", "typ: watch", "IN:5: actions.look.typ: unknown key"),
        ("start: done, signal", "start: don, signal",
         "IN:13: reaction on 'a__look.distance < 0.1 and elapsed > 1' of action 'a__go' "
         "starts an action that is not defined"),
        ("  look: {type", "  other: {type: stop, parts: mover}\n  look: {type",
         "IN:5: action 'a__other' cannot be reached"),
        ("length: 3, unit", "lenght: 3, unit", "IN:2: parameters.way.lenght: unknown key"),
    ],
)  # fmt: skip
def test_mistakes_have_the_lines_of_both_texts(old: str, new: str, message: str) -> None:
    with pytest.raises(DefinitionError) as error:
        check_program(changed(old, new).sample(), None)
    first, *pieces = message.replace("IN:", "7: state 'a' uses 'inner': inner.yaml:").split("|")
    text = str(error.value)
    assert any(line.startswith(f"outer.yaml:{first}") for line in text.splitlines()), text
    assert all(piece in text for piece in pieces)


def test_free_standing_reactions_would_not_end_with_the_program() -> None:
    with pytest.raises(DefinitionError) as error:
        check_program(template(inner=INNER + "reactions: [{when: time > 1, event: e}]\n").sample(), None)
    assert str(error.value).startswith(
        "outer.yaml:7: state 'a' uses 'inner': inner.yaml:17: program 'inner' has free-standing reactions; "
        "expected reactions of its actions only"
    )


def test_a_state_that_nothing_starts_is_one_mistake() -> None:
    with pytest.raises(DefinitionError) as error:
        check_program(changed("start: a", "start: [end, beside]").sample(), None)
    assert str(error.value).startswith("outer.yaml:6: action 'a' cannot be reached") and "\n" not in str(error.value)


def test_roles_of_used_programs_take_parts_of_their_kinds() -> None:
    def known(kind: str) -> KnownPart:
        return KnownPart(kinds=(kind,))

    parts = {"arm7": known("arm"), "eye": known("rangefinder"), "tool": known("gripper"), "wheels": known("base")}
    cell = Catalogue(parts=parts)
    assert check_program(template().sample(), cell) == []
    for old, new, what in (
        ("{arm: {kinds: [arm]}}", "{arm: {kinds: [base]}}", "role 'mover': part 'arm' does not fit|of kind arm: arm7"),
        ("{mover: arm}", "{mover: wheels}", "role 'mover': part 'wheels' does not fit|got base"),
        ("default: eye", "default: eyes", "role 'eye': unknown part|got 'eyes'"),
    ):
        with pytest.raises(DefinitionError) as error:
            check_program(changed(old, new).sample(), cell)
        first, second = what.split("|")
        assert f"outer.yaml:8: {first}" in str(error.value) or f"outer.yaml:6: {first}" in str(error.value)
        assert second in str(error.value)
