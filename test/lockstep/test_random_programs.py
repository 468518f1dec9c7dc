"""Random programs on three ticks at once: the compiled one, its interpreted twin, and the reference model.

A few of each here; `./run prove` runs as many as requested.

A failing seed is repeated with `check(Random(seed))`; Hypothesis prints and shrinks its own.
"""

from collections import Counter
from random import Random

import pytest
from comparison import Runner, event_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_programs import random_program
from samples import tries
from tick_bench import Bench, compiled_code, interpreted_code

from robot_rt_control.vocabulary.enums import EventKind, Refusal, StopCause

MODEL_PROGRAMS = tries(60, whole=300)
TWIN_PROGRAMS = tries(16, whole=60)
REPLAYED_PROGRAMS = tries(25, whole=100)
BLOCKS = 2

no_deadline = settings(
    max_examples=tries(10, whole=25),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.fixture(scope="module")
def compiled():
    return Bench(compiled_code())


@pytest.fixture(scope="module")
def alone(compiled):
    return Runner(compiled)


@pytest.fixture(scope="module")
def twins(compiled):
    return Runner(compiled, Bench(interpreted_code()))


@pytest.mark.sampled
@pytest.mark.parametrize("block", range(BLOCKS))
def test_tick_follows_the_rules(alone, block):
    for seed in range(block, MODEL_PROGRAMS, BLOCKS):
        try:
            alone.compare_with_model(random_program(Random(seed)))
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from None


@pytest.mark.sampled
@pytest.mark.parametrize("block", range(BLOCKS))
def test_compiled_equals_interpreted(twins, block):
    for seed in range(block, TWIN_PROGRAMS, BLOCKS):
        try:
            twins.compare_benches(random_program(Random(seed)))
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from None


@no_deadline
@given(st.randoms(use_true_random=False))
def test_tick_follows_the_rules_in_what_hypothesis_finds(alone, random):
    alone.compare_with_model(random_program(random))


@no_deadline
@given(st.randoms(use_true_random=False))
def test_compiled_equals_interpreted_in_what_hypothesis_finds(twins, random):
    twins.compare_benches(random_program(random))


@pytest.mark.sampled
def test_T2_replay_is_bit_identical(compiled):
    replay = Runner(compiled, Bench(compiled_code()))
    for seed in range(REPLAYED_PROGRAMS):
        replay.compare_benches(random_program(Random(seed)))


@pytest.mark.long
def test_programs_reach_every_event_and_reason(alone):
    """What the others compare happens often enough to be worth comparing."""
    kinds: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for seed in range(800):
        for _, (events,) in alone.run(random_program(Random(seed))):
            for event in map(event_of, events):
                kinds[event.kind] += 1
                reasons[f"{event.kind} {event.reason}"] += 1
    elsewhere = {
        EventKind.BUDGET_EXCEEDED,  # of the clock
        EventKind.STRATEGY_CHANGED,  # see test_random_strategies.py
        EventKind.REPLACE_REFUSED,  # see test_composing_replace.py
        EventKind.MOTION_STARVED,  # see test_groups_async.py
        EventKind.TOOL_CHANGED,  # see test_tools.py
    }
    assert set(kinds) == {kind.name for kind in set(EventKind) - elsewhere}
    assert min(kinds.values()) >= 8, kinds
    causes_elsewhere = {
        StopCause.TIME_LIMIT,  # see test_actions_time_limit.py
        StopCause.REPLACED,  # see test_composing_replace.py
        StopCause.MEMBER_FAILED,  # see test_groups.py
        StopCause.PROFILER_LOST,  # see test_groups_async.py
    }
    for cause in set(StopCause) - causes_elsewhere:
        assert reasons[f"ACTION_STOPPED {cause.name}"] >= 5, (cause, reasons)
    reachable = set(Refusal) - {
        Refusal.NONE,
        Refusal.TOO_MANY_SCHEDULED,
        Refusal.TARGET_TICK_TOO_FAR,  # see test_actions.py
        *(Refusal.PART_MOVES, Refusal.TOOL_IN_USE, Refusal.WRONG_TOOL, Refusal.TOOL_UNKNOWN),  # see test_tools.py
    }
    for refusal in reachable:
        assert reasons[f"COMMAND_REFUSED {refusal.name}"] >= 2, (refusal, reasons)
    dropped = Refusal.PARTS_OVERLAP, Refusal.PART_NOT_ENABLED, Refusal.PROTECTIVE_STOP, Refusal.SESSION_SUSPENDED
    for refusal in dropped:
        assert reasons[f"SWITCH_DROPPED {refusal.name}"] >= 2, (refusal, reasons)
