"""Programs as graphs."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from robot_rt_control.definitions.definitions import ActionDefinition, ProgramDefinition, ReactionDefinition
from robot_rt_control.program.graph import edges, unreachable, without_exit

IDS = ("a", "b", "c", "d")
targets = st.sampled_from(("", *IDS))


def program(
    draws: dict[str, list[tuple[str, bool]]], free: list[str], start: list[str], manual: set[str]
) -> ProgramDefinition:
    def reaction(target: str, keep: bool) -> ReactionDefinition:
        start = (target,) if target else ()
        return ReactionDefinition(condition="x", start=start, stop=not start, keep_owner=keep and bool(start))

    return ProgramDefinition(
        actions=tuple(
            ActionDefinition(
                id=id,
                type="t",
                parts=(f"part_of_{id}",),
                reactions=tuple(reaction(t, keep and t != id) for t, keep in draws[id]),
                manual=id in manual,
            )
            for id in IDS
        ),
        reactions=tuple(reaction(t, False) for t in free),
        start=tuple(start),
    )


graphs = st.builds(
    program,
    st.fixed_dictionaries({id: st.lists(st.tuples(targets, st.booleans()), max_size=3) for id in IDS}),
    st.lists(targets, max_size=2),
    st.lists(st.sampled_from(IDS), unique=True, max_size=2),
    st.sets(st.sampled_from(IDS), max_size=1),
)


@settings(deadline=None)
@given(graphs)
def test_what_is_reached_is_closed_under_the_reactions(made: ProgramDefinition) -> None:
    """The law itself, the other way round: the unreached ones are the largest set that nothing outside leads into."""
    lost = set(unreachable(made))
    if not made.start:
        assert not lost
        return
    roots = {*made.start, *(a.id for a in made.actions if a.manual)}
    roots |= {name for r in made.reactions for name in r.start}
    assert not lost & roots
    reached = set(IDS) - lost
    for edge in edges(made):
        if edge.owner in reached and edge.reaction.start:
            assert reached.issuperset(edge.reaction.start)
    # Every reached one has a way that begins at a root.
    found = set(roots) - {""}
    for _ in IDS:
        found |= {name for e in edges(made) if e.owner in found for name in e.reaction.start}
    assert found == reached


@settings(deadline=None)
@given(graphs)
def test_exits_where_all_have_parts_of_their_own(made: ProgramDefinition) -> None:
    parts = {a.id: frozenset(a.parts) for a in made.actions}
    stuck = without_exit(made, parts)
    for action in made.actions:
        own = [e.reaction for e in edges(made) if e.owner == action.id]
        leaves = any(r.stop or (r.start != (action.id,) and not r.keep_owner) for r in own)
        stopped = any(r.stop for r in made.reactions)
        # Others use other parts: only a switch to itself takes its part, and that is no exit.
        assert (action.id in stuck) == (not leaves and not stopped), action.id


def test_paths_name_the_reactions() -> None:
    made = program({"a": [("b", False), ("", False)], "b": [], "c": [], "d": []}, ["c"], ["a"], set())
    assert [(e.owner, e.path) for e in edges(made)] == [
        ("a", ("actions", "a", "reactions", 0)),
        ("a", ("actions", "a", "reactions", 1)),
        ("", ("reactions", 0)),
    ]
    assert unreachable(made) == ["d"]
