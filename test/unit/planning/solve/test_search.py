"""V12: rounds of starts, and the winner by value and order, on scripted starts."""

import threading

import pytest

from robot_rt_control.planning.solve.search import best, run


def starts(values, done, smallest_first=False):
    """`smallest_first`: each waits until the next smaller one has ended."""
    ended = {value: threading.Event() for value in values}

    def start(value):
        if smallest_first and value - 1 in ended:
            assert ended[value - 1].wait(60.0)
        done.append(value)
        ended[value].set()
        return value

    return [lambda value=value: start(value) for value in values]


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_V12_results_are_in_the_order_of_the_starts_whoever_is_first(workers):
    done: list[int] = []
    found = run([starts([3, 2, 1], done, smallest_first=workers == 3)], good=lambda _: False, workers=workers)
    assert found == [3, 2, 1]
    if workers == 3:
        assert done == [1, 2, 3]


@pytest.mark.parametrize("workers", [1, 2])
def test_V12_a_round_is_finished_and_the_first_good_one_is_the_last(workers):
    done: list[int] = []
    rounds = [starts([1, 2], done), starts([7, 8, 9], done), starts([10], done)]
    assert run(rounds, good=lambda value: value == 7, workers=workers) == [1, 2, 7, 8, 9]


def test_V12_of_equal_values_the_first_start_wins():
    assert best([(2, "a"), (1, "b"), (1, "c")], lambda result: (result[0],)) == (1, "b")


def test_what_a_start_raises_is_raised():
    def broken():
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        run([[broken, lambda: 1]], good=lambda _: True, workers=2)


def test_V13_what_the_watch_raises_is_raised_after_the_starts_have_ended():
    stop, ended = threading.Event(), []

    def start():
        stop.wait(5.0)
        ended.append(True)

    def watch():
        stop.set()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run([[start, start]], good=lambda _: True, workers=2, watch=watch)
    assert ended == [True, True]
