"""Why a reaction is, or is not, true now: its condition term by term, with the present values (Kleene's logic)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from robot_rt_control.conditions.evaluation import evaluate_ast
from robot_rt_control.conditions.grammar import parse_condition
from robot_rt_control.conditions.tree import And, Condition, Not, Or, variables
from robot_rt_control.editor.robot import Json, Robot
from robot_rt_control.editor.timelines import Fired

_ELEMENTS = "xyz"
"""Of a vector whose elements have letters for names."""
Values = Mapping[str, float | Sequence[float]]


def session_reactions(robot: Robot, request: Json, fired: Fired | None = None) -> list[Json]:
    """The reactions of a session, in one look: `owner` (empty: free-standing), `name`, `condition`, where it leads
    (`start`, `stop`, `signal`, `event`), `place` (file and line that defined it; empty: not known), and `terms`, see
    `Term.as_json`; the first term is the whole condition.

    Args:
        request: `session`, and `action`: only those of this one; without it, all.
        fired: of it there are `fired` as well: the terms by the values of the tick in which it fired.

    Raises:
        RobotControlError: there is no such session.
    """
    session, wanted = str(request.get("session", "")), request.get("action")
    defined = robot.actions(session)
    found = [("", reaction) for reaction in defined["reactions"]]
    found += [(action["id"], reaction) for action in defined["actions"] for reaction in action["reactions"]]
    values = {each["name"]: float(each["value"]) for each in robot.variables(session)}
    shown = [(owner, reaction) for owner, reaction in found if wanted is None or owner == wanted]
    return [reaction_shown(owner, each, values, _then(fired, session, owner, each)) for owner, each in shown]


def _then(fired: Fired | None, session: str, owner: str, reaction: Json) -> Mapping[str, float] | None:
    is_it = fired is not None and (fired.session, fired.reaction) == (session, reaction["name"])
    return fired.values if fired is not None and is_it and owner in ("", fired.owner) else None


def reaction_shown(
    owner: str, reaction: Json, values: Mapping[str, float], then: Mapping[str, float] | None = None
) -> Json:
    """As `session_reactions`, for one msg/Reaction.

    Args:
        owner: id of its action; empty: it is free-standing.
        values: of all state variables that the session can name; NaN: unknown.
        then: those of the tick in which it fired; None: it is not asked for, and there is no `fired`.
    """
    kept = ("name", "condition", "start", "stop", "signal", "event", "fire_once", "keep_owner", "place")
    tree = parse_condition(reaction["condition"])
    terms = {"terms": values} if then is None else {"terms": values, "fired": then}
    judged = {key: [term.as_json() for term in terms_of(tree, owner, each)] for key, each in terms.items()}
    return {"owner": owner, **{key: reaction[key] for key in kept}, **judged}


@dataclass(frozen=True, kw_only=True)
class Term:
    """A part of a condition that is true, false or unknown."""

    depth: int
    text: str
    truth: bool | None
    """None: unknown."""
    is_known: bool
    """False: a variable is not listed, so that nothing can be said of it here."""
    values: Mapping[str, float | Sequence[float]]
    """Of its variables, if nothing is below it."""

    def as_json(self) -> Json:
        """`truth`: true, false, unknown, or "not listed"."""
        truth = {True: "true", False: "false", None: "unknown"}[self.truth] if self.is_known else "not listed"
        return {"depth": self.depth, "text": self.text, "truth": truth, "values": dict(self.values)}


def terms_of(tree: Condition, owner: str, values: Mapping[str, float]) -> Iterator[Term]:
    """The whole condition, then each of its terms below it, in the order of the text."""
    yield from _terms(tree, 0, _known(tree, owner, values))


def _terms(node: Condition, depth: int, known: Values) -> Iterator[Term]:
    inner: tuple[Condition, ...] = ()
    match node:
        case And(operands=operands) | Or(operands=operands):
            inner = operands
        case Not(operand=operand):
            inner = (operand,)
    own = {each.name: known[each.name] for each in variables(node) if each.name in known}
    is_known = len(own) == len(variables(node))
    yield Term(
        depth=depth, text=str(node), truth=evaluate_ast(node, known) if is_known else None, is_known=is_known,
        values={} if inner else own,
    )  # fmt: skip
    for each in inner:
        yield from _terms(each, depth + 1, known)


def _known(tree: Condition, owner: str, values: Mapping[str, float]) -> Values:
    """Name of each variable → its value, or those of a vector's elements; what is not listed is left out.

    A name is the owner's own before anything else's (C4).
    """
    found: dict[str, float | Sequence[float]] = {}
    for variable in variables(tree):
        for name in (f"{owner}.{variable.name}", variable.name):
            if name in values:
                found[variable.name] = values[name]
                break
            if elements := _elements(name, values):
                found[variable.name] = elements
                break
    return found


def _elements(vector: str, values: Mapping[str, float]) -> list[float]:
    lettered = [values[f"{vector}.{x}"] for x in _ELEMENTS if f"{vector}.{x}" in values]
    numbered: list[float] = []
    while (name := f"{vector}[{len(numbered)}]") in values:
        numbered.append(values[name])
    return numbered or lettered


