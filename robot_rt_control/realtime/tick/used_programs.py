"""Programs that are used as states of others (docs/semantics/composing.md): they end as a whole."""

from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary import capacities

_DEPTH = capacities.MAX_USE_DEPTH


@realtime
def program_left(w, slot, tables, starts, n_starts, limit):
    """The number of the used program that ends if this action gives way to those that start; 0: none ends.

    It is the outermost one that contains the action, but none of the others.

    Args:
        tables: index of the tables that hold the actions that start.
        starts: slots of the actions that start, shape (≥ n_starts,).
        limit: index in `within` of a program that ends even if it contains one of them; MAX_USE_DEPTH: none.
    """
    t = w.tables[w.active_tables]
    a = t.actions[slot]
    if a.within[0] == 0 or n_starts == 0:
        return 0
    depth = 0
    for i in range(n_starts):
        b = w.tables[tables].actions[starts[i]]
        common = 0
        while common < _DEPTH and a.within[common] != 0 and a.within[common] == b.within[common]:
            common += 1
        depth = max(depth, common)
    depth = min(depth, limit)
    return a.within[depth] if depth < _DEPTH else 0


@realtime
def active_within(w, program, after):
    """The next active action of a used program after a place in the order of active ones; its place, -1: none."""
    if program == 0:
        return -1
    t = w.tables[w.active_tables]
    for k in range(after + 1, w.n_active):
        a = t.actions[w.active[k]]
        for d in range(_DEPTH):
            if a.within[d] == program:
                return k
    return -1
