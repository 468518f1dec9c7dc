from __future__ import annotations

from robot_rt_control.client import Action, Event, Reaction
from robot_rt_control.client.reaction_calls import ReactionCalls


def _fired(reaction: Reaction, owner: str) -> Event:
    return Event(kind="reaction_fired", name=reaction.event, reaction=reaction.name, previous_action=owner)


def test_two_reactions_with_one_event_name_keep_their_callbacks_apart():
    one, two = Reaction("true", event="near", call=print), Reaction("true", event="near", call=print)
    free = Reaction("true", event="near", call=print)
    (first, second, third), _ = ReactionCalls().prepare([Action("a", "hold", reactions=[one, two])], [free])
    assert len({r.name for r in (one, two, free)}) == 3 and {r.event for r in (one, two, free)} == {"near"}
    of = {call.reaction: call for call in (first, second, third)}
    assert [of[r].concerns(_fired(one, "a")) for r in (one, two, free)] == [True, False, False]
    assert [of[r].concerns(_fired(free, "b")) for r in (one, two, free)] == [False, False, True]
    assert not of[one].concerns(Event(kind="switch_dropped", reaction=one.name, previous_action="a"))


def test_reactions_of_one_name_in_two_actions_keep_their_callbacks_apart():
    one, two = Reaction("true", name="near", call=print), Reaction("true", name="near", call=print)
    actions = [Action("a", "hold", reactions=[one]), Action("b", "hold", reactions=[two])]
    (first, second), _ = ReactionCalls().prepare(actions, [])
    assert (first.concerns(_fired(one, "a")), first.concerns(_fired(two, "b"))) == (True, False)
    assert (second.concerns(_fired(one, "a")), second.concerns(_fired(two, "b"))) == (False, True)


def test_one_reaction_in_two_actions_is_one_callback_also_when_the_second_comes_later():
    calls = ReactionCalls()
    shared, silent = Reaction("is_done", call=print), Reaction("is_done", event="e")
    (call,), _ = calls.prepare([Action("a", "hold", reactions=[shared, silent])], [])
    assert calls.prepare([Action("b", "hold", reactions=[shared])], [])[0] == []
    assert [call.concerns(_fired(shared, owner)) for owner in "abc"] == [True, True, False]


def test_what_was_refused_is_forgotten():
    calls = ReactionCalls()
    kept, refused = Reaction("true", call=print), Reaction("true", call=print)
    (call,), _ = calls.prepare([Action("a", "hold", reactions=[kept])], [])
    new, undo = calls.prepare([Action("b", "hold", reactions=[kept, refused])], [])
    assert [c.reaction for c in new] == [refused] and set(call.owners) == {"a", "b"}
    undo()
    assert set(call.owners) == {"a"}
    assert [c.reaction for c in calls.prepare([Action("b", "hold", reactions=[kept, refused])], [])[0]] == [refused]
