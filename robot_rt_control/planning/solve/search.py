"""Search over several starts, in rounds: all starts of a round are run, on all cores; the first round with a good
result is the last one. The winner is chosen by value, then by order, never by arrival: the same whatever the number of
cores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

_Result = TypeVar("_Result")


def run(
    rounds: Iterable[Sequence[Callable[[], _Result]]],
    *,
    good: Callable[[_Result], bool],
    workers: int,
    watch: Callable[[], None] = lambda: None,
    period: float = 0.02,
) -> list[_Result]:
    """Results of all starts that were run, in their order.

    Args:
        rounds: of starts; each returns its result, and returns soon if it is to stop.
        good: whether no further round is needed.
        workers: threads; with one, starts run in the calling thread.
        watch: called in the calling thread every `period` [s] while others run, and at the end of a round.

    Raises:
        Exception: what a start or `watch` raises; the starts that were begun have ended then.
    """
    results: list[_Result] = []
    for starts in rounds:
        if workers > 1 and len(starts) > 1:
            found = _together(starts, min(workers, len(starts)), watch, period)
        else:
            found = [start() for start in starts]
        watch()
        results.extend(found)
        if any(good(result) for result in found):
            break
    return results


def _together(
    starts: Sequence[Callable[[], _Result]], workers: int, watch: Callable[[], None], period: float
) -> list[_Result]:
    with ThreadPoolExecutor(workers, thread_name_prefix="search") as pool:
        futures = [pool.submit(start) for start in starts]
        try:
            while wait(futures, timeout=period).not_done:
                watch()
        except BaseException:
            for future in futures:
                future.cancel()
            raise
    return [future.result() for future in futures]


def best(results: Sequence[_Result], value: Callable[[_Result], tuple[float, ...]]) -> _Result:
    """The first one of the least value."""
    return min(results, key=value)
