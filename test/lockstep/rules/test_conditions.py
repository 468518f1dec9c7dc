"""Rules C1 to C6 of docs/semantics/conditions.md: conditions, judged in the loop."""

from __future__ import annotations

import math

import pytest

from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.errors import DefinitionError

TRUE, FALSE, UNKNOWN = "io.input[0]", "io.input[1]", "rangefinder.distance > 0.0"
"""Conditions of which `judged` knows the value."""


def judged(cell: LockstepCell, conditions: dict[str, object]) -> dict[str, object]:
    """The value of each condition in the same tick: True, False, or None for unknown. Keys: conditions."""
    cell.set_sensor("io/input_0", 1.0)
    session = cell.session("right")
    session.add(Action("probe", "probe", level=2.5))
    session.start("probe")
    reactions = []
    for i, condition in enumerate(conditions):
        reactions += [Reaction(condition, event=f"true_{i}"), Reaction(f"not ({condition})", event=f"false_{i}")]
    cell.step()
    session.add(reactions=reactions)
    tick = cell.step()
    values: dict[str, object] = {}
    for i, condition in enumerate(conditions):
        fired = [e.tick for name in ("true", "false") for e in cell.fired(f"{name}_{i}")]
        assert fired in ([], [tick])
        values[condition] = bool(cell.fired(f"true_{i}")) if fired else None
    return values


def check_refusal(cell: LockstepCell, condition: str, text: str) -> None:
    """A reaction with this condition is refused, with the condition and this text in the message."""
    session = cell.session("right")
    session.add(Action("probe", "probe"))
    with pytest.raises(DefinitionError) as error:
        session.add(reactions=[Reaction(condition, event="e")])
    assert condition in str(error.value) and text in str(error.value), str(error.value)



def test_C1_the_grammar_means_what_it_says(cell: LockstepCell) -> None:
    cell.set_sensor("rangefinder/distance", 0.3)
    expected: dict[str, object] = {
        # floats
        "rangefinder.distance < 0.4": True,
        "rangefinder.distance < 0.3": False,
        "rangefinder.distance <= 0.3": True,
        "rangefinder.distance > 0.2": True,
        "rangefinder.distance > 0.3": False,
        "rangefinder.distance >= 0.3": True,
        "0.2 < rangefinder.distance": True,
        "rangefinder.distance < probe.level": True,
        "approx(rangefinder.distance, 0.31, 0.02)": True,
        "approx(rangefinder.distance, 0.35, 0.02)": False,
        "approx(rangefinder.distance, probe.level, 3.0)": True,
        # integers: in this tick the probe has sensed twice
        "probe.senses == 2": True,
        "probe.senses != 2": False,
        "probe.senses < 3": True,
        "probe.senses <= 1": False,
        "probe.senses > 1": True,
        "probe.senses >= 3": False,
        "probe.senses == probe.entries": False,
        # booleans
        "io.input[0]": True,
        "io.input[1]": False,
        "io.input[0] == true": True,
        "io.input[0] != true": False,
        "io.input[0] == io.input[1]": False,
        "true": True,
        "not false": True,
        # `not` binds tightest, then `and`, then `or`
        "io.input[0] or io.input[0] and io.input[1]": True,
        "(io.input[0] or io.input[0]) and io.input[1]": False,
        "not io.input[1] and io.input[0]": True,
        "not (io.input[1] and io.input[0])": True,
        "is_unknown(rangefinder.distance)": False,
    }
    assert judged(cell, expected) == expected


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        ("rangefinder.distance == 0.3", "approx"),
        ("rangefinder.distance != 0.3", "approx"),
        ("io.input[0] < true", "=="),
        ("io.input[0] == 1", "true"),
        ("approx(probe.senses, 2, 1)", "float"),
        ("rangefinder.distance", "bool"),
        ("rangefinder.distance < 0.3 mm", "unit"),
        ("1 < rangefinder.distance < 2", "and"),
    ],
)
def test_C1_other_comparisons_are_refused(cell: LockstepCell, condition: str, text: str) -> None:
    check_refusal(cell, condition, text)


def test_C2_and_or_not_follow_kleene(cell: LockstepCell) -> None:
    cell.set_sensor("rangefinder/distance", math.nan)
    values = {TRUE: True, FALSE: False, UNKNOWN: None}
    expected: dict[str, object] = {f"not {text}": None if v is None else not v for text, v in values.items()}
    for a, x in values.items():
        for b, y in values.items():
            expected[f"{a} and {b}"] = False if x is False or y is False else None if x is None or y is None else True
            expected[f"{a} or {b}"] = True if x or y else None if x is None or y is None else False
    assert len(expected) == 21
    assert judged(cell, expected) == expected


def test_C2_every_comparison_with_an_unknown_value_is_unknown(cell: LockstepCell) -> None:
    cell.set_sensor("rangefinder/distance", math.nan)
    distance = "rangefinder.distance"
    comparisons = [f"{distance} {sign} 1.0" for sign in ("<", "<=", ">", ">=")]
    comparisons += [f"approx({distance}, 1.0, 0.1)", f"approx(1.0, {distance}, 0.1)", f"{distance} < {distance}"]
    # an action that was never active: its bool and int variables are also unknown
    comparisons += ["idle.is_done", "idle.is_done == true", "idle.is_done != false"]
    comparisons += [f"idle.senses {sign} 3" for sign in ("==", "!=", "<", ">=")]
    expected: dict[str, object] = dict.fromkeys(comparisons)
    expected[f"is_unknown({distance})"] = True
    expected["is_unknown(io.input[0])"] = False
    expected["is_unknown(idle.senses)"] = True
    cell.session("tool").add(Action("idle", "probe"))
    other = cell.session("left")
    other.add(Action("idle", "probe"), reactions=[Reaction(c, event=f"e{i}") for i, c in enumerate(expected)])
    other.add(reactions=[Reaction(f"not ({c})", event=f"n{i}") for i, c in enumerate(expected)])
    cell.step(2)
    found = {c: bool(cell.fired(f"e{i}")) if cell.fired(f"e{i}") + cell.fired(f"n{i}") else None
             for i, c in enumerate(expected)}  # fmt: skip
    assert found == expected


def test_C3_variables_of_an_action_that_is_not_active_are_unknown(cell: LockstepCell) -> None:
    session = cell.session("right")
    session.add(Action("a", "probe"), Action("b", "probe"))
    session.add(reactions=[Reaction("is_unknown(a.elapsed)", event="gone"), Reaction("a.senses >= 0", event="there")])
    first = cell.step()
    assert [e.tick for e in cell.fired("gone")] == [first], "it never ran"
    assert math.isnan(session.value("a.elapsed"))
    session.start("a")
    cell.step(3)
    assert session.value("a.senses") == 3
    assert [e.tick for e in cell.fired("there")] == [first + 1]
    session.start("b")
    tick = cell.step()
    assert [e.tick for e in cell.fired("gone")] == [first, tick]
    assert all(math.isnan(session.value(f"a.{name}")) for name in ("is_done", "elapsed", "senses", "heard"))
    session.remove("b")
    cell.step()
    assert all(math.isnan(session.value(f"a.{name}")) for name in ("is_done", "elapsed", "senses", "heard"))


def test_C4_a_bare_name_is_the_owners_then_come_actions_then_parts(cell: LockstepCell) -> None:
    session = cell.session("right", "left")
    session.add(
        Action("a", "probe", parts="left", level=1.0, reactions=[
            Reaction("level > 0.5", event="own", capture=["level", "b.level", "right.position[0]", "right.y.position"]),
            Reaction("b.level > 1.5", event="others"),
            Reaction("rangefinder.distance < 1.0", event="sensors"),
            Reaction("tool.position[0] > 0.0", event="parts_of_nobody"),
        ]),
        Action("b", "probe", parts="right", level=2.0),
    )  # fmt: skip
    cell.set_sensor("rangefinder/distance", 0.5)
    session.start("a", "b")
    cell.step(2)
    names = ("own", "others", "sensors", "parts_of_nobody")
    assert [len(cell.fired(name)) for name in names] == [1, 1, 1, 1]
    (own,) = cell.fired("own")
    assert own.names == ("level", "b.level", "right.position[0]", "right.y.position")
    assert own.values == (1.0, 2.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        ("c.level > 1.0", "there is no such state variable"),  # of another session
        ("level > 1.0", "got 'level'"),  # free-standing: it has no owner
        ("a.levle > 1.0", "did you mean 'a.level'"),
        ("arm.distance > 1.0", "got 'arm.distance'"),
    ],
)
def test_C4_other_names_are_refused(cell: LockstepCell, condition: str, text: str) -> None:
    cell.session("left").add(Action("c", "probe"))
    session = cell.session("right")
    session.add(Action("a", "probe"))
    with pytest.raises(DefinitionError) as error:
        session.add(reactions=[Reaction(condition, event="e")])
    assert text in str(error.value)


def test_C5_what_is_computed_stands_for_a_number(cell: LockstepCell) -> None:
    cell.set_sensor("rangefinder/distance", 0.3)
    expected: dict[str, object] = {
        "rangefinder.distance + 0.1 < 0.5": True,
        "rangefinder.distance + 0.1 m > 0.5": False,
        "probe.level - rangefinder.distance > 2.1": True,
        "1 - (rangefinder.distance - 0.5) > 1.1": True,
        "1 - rangefinder.distance - 0.5 > 1.1": False,
        "abs(rangefinder.distance - 1) < 0.71 m": True,
        "abs(0 - probe.level) >= 2.5": True,
        "approx(abs(rangefinder.distance - 0.5), 0.2, 1e-9)": True,
        "probe.senses + 1 == 3": True,
        "probe.senses - probe.entries != 1": False,
        "io.input[0] and probe.senses + 1 > 2 and abs(probe.level) < 3": True,
        "not (probe.senses + 1 > 2 or io.input[0])": False,
    }
    assert judged(cell, expected) == expected


@pytest.mark.parametrize("distance", [math.nan, math.inf])
def test_C5_what_is_computed_from_unknown_is_unknown(cell: LockstepCell, distance: float) -> None:
    cell.set_sensor("rangefinder/distance", distance)
    expected: dict[str, object] = {
        "rangefinder.distance - rangefinder.distance < 1": None,
        "abs(rangefinder.distance - rangefinder.distance) >= 0": None,
        "rangefinder.distance + 1 > 2": None if math.isnan(distance) else True,
        "abs(0 - rangefinder.distance) > 2": None if math.isnan(distance) else True,
        "probe.level + 1 > 2": True,
    }
    assert judged(cell, expected) == expected


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        ("rangefinder.distance + right.velocity[0] > 1", "units do not agree"),
        ("rangefinder.distance + 10 mm > 1", "Give the number in m"),
        ("io.input[0] + 1 > 1", "only numbers are computed with"),
        ("probe.level + 1 == 2", "'==' cannot compare a float"),
        ("2 * probe.level > 1", "only adds and subtracts"),
    ],
)
def test_C5_other_computations_are_refused(cell: LockstepCell, condition: str, text: str) -> None:
    check_refusal(cell, condition, text)


def test_C6_vectors_are_read_by_element_and_norm(cell: LockstepCell) -> None:
    session = cell.session("right")
    session.add(
        Action("v", "vector", reactions=[
            Reaction("error[0] > 2.9 m and error[1] < 0 and touched[2] and not touched[0]", event="elements",
                     capture=["error[1]", "v.touched[2]", "before", "after"]),
            Reaction("norm(error) <= 5 m and norm(v.error) >= 5", event="length"),
        ]),
        reactions=[Reaction("is_unknown(v.error[1])", event="gone"), Reaction("norm(v.error) > 0", event="some")],
    )  # fmt: skip
    first = cell.step()
    assert [e.tick for e in cell.fired("gone")] == [first] and not cell.fired("some"), "unknown while inactive"
    session.start("v")
    tick = cell.step()
    (elements,) = cell.fired("elements")
    assert (elements.tick, elements.values) == (tick, (-4.0, 1.0, 1.0, 2.0))
    assert [e.tick for name in ("length", "some") for e in cell.fired(name)] == [tick, tick]
    assert [session.value(f"v.{name}") for name in ("error[0]", "touched[2]", "after")] == [3.0, 1.0, 2.0]


@pytest.mark.parametrize(
    ("reaction", "text"),
    [
        (
            Reaction("v.error > 1", event="e"),
            "'v.error' is a vector of 2 elements; expected one of its elements, or norm",
        ),
        (Reaction("norm(v.before) > 1", event="e"), "'norm' takes a vector of numbers"),
        (
            Reaction("norm(v.touched) > 1", event="e"),
            "'norm' takes a vector of numbers; expected a vector; got a vector of b",
        ),
        (Reaction("v.error[2] > 1", event="e"), "there is no such state variable"),
        (
            Reaction("true", event="e", capture=["v.error"]),
            "captures a vector of 2 elements; expected state variables that",
        ),
        (Reaction("norm(left.position) > 1", event="e"), "there is no such state variable"),
    ],
)
def test_C6_nothing_else_reads_a_vector(cell: LockstepCell, reaction: Reaction, text: str) -> None:
    session = cell.session("right", "left")
    session.add(Action("v", "vector", parts="right"))
    with pytest.raises(DefinitionError) as error:
        session.add(reactions=[reaction])
    assert text in str(error.value), str(error.value)
