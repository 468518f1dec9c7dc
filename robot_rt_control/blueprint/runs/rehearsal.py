"""Rehearsing a run: no session, no motion. Skills end as a person chooses, or with their first declared success.

A `Performer` for a laptop without a robot, and for runs of the executor that are asked to be rehearsed. Whoever drives
it gives the time. What people choose while a run is under way can also come as `events.Skip`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from robot_rt_control.blueprint.graph import events, orders
from robot_rt_control.blueprint.graph.events import EngineEvent, Moment
from robot_rt_control.blueprint.graph.results import CANCELLED, STANDARD, Results
from robot_rt_control.blueprint.text.catalogue import Skill, SkillCatalogue
from robot_rt_control.blueprint.text.state_values import SAMPLES
from robot_rt_control.definitions.parameter_value import Value
from robot_rt_control.vocabulary.errors import DefinitionError, unknown


@dataclass(frozen=True, kw_only=True)
class Ending:
    """How a rehearsed skill ends. Outputs that it must have get samples."""

    result: str
    outputs: Mapping[str, Value] = field(default_factory=dict)


Choose = Callable[[orders.StartSkill, Results], Ending | None]
"""Chooses how a skill ends that is under way, given its possible results; None: not yet."""


def first_success(order: orders.StartSkill, results: Results) -> Ending:
    """What ends a skill for which nobody chooses."""
    return Ending(result=next(name for name, failure in results.items() if not failure))


class Rehearsal:
    """Carries a run's orders out by pretending.

    Args:
        catalogue: says which results and outputs the skills have.
        now: the present moment.
        seconds: that each skill takes [s of the loop's time]; at least until the next `happened`.
        choose: default: the first success.
    """

    def __init__(
        self,
        catalogue: SkillCatalogue,
        now: Callable[[], Moment],
        *,
        seconds: float = 0.0,
        choose: Choose = first_success,
    ) -> None:
        self._catalogue, self._now, self._seconds, self._choose = catalogue, now, seconds, choose
        self._started: dict[int, tuple[orders.StartSkill, float]] = {}
        self._cancelled: list[int] = []
        self._fired: list[events.Fired] = []
        self.watched: dict[int, orders.Watch] = {}
        """Reactions that would be judged; `fire` pretends that one became true."""

    @property
    def under_way(self) -> tuple[orders.StartSkill, ...]:
        """Skills that have not ended."""
        return tuple(order for order, _ in self._started.values())

    @property
    def next_end(self) -> float | None:
        """[s] When the time of the first skill is over; None: nothing is under way."""
        return min((since + self._seconds for _, since in self._started.values()), default=None)

    def fire(self, watch: int, reaction: int) -> None:
        """Pretend that a watched condition became true."""
        self._fired.append(events.Fired(watch=watch, reaction=reaction))

    # --- Performer ------------------------------------------------------------------------------

    def moment(self) -> Moment:
        return replace(self._now(), pretended=True)

    def happened(self) -> list[EngineEvent]:
        found: list[EngineEvent] = [event for event in self._fired if event.watch in self.watched]
        found += [events.Ended(activity=activity, result=CANCELLED) for activity in self._cancelled]
        self._fired, self._cancelled = [], []
        time = self._now().time
        for activity, (order, since) in list(self._started.items()):
            if time - since >= self._seconds:
                ending = self._choose(order, self.results_of(order))
                if ending is not None:
                    del self._started[activity]
                    found.append(self._ended(order, ending))
        return found

    def start(self, order: orders.StartSkill) -> None:
        self._started[order.activity] = (order, self._now().time)

    def cancel(self, activity: int) -> None:
        if self._started.pop(activity, None) is not None:
            self._cancelled.append(activity)

    def answer(self, activity: int, answer: str) -> None:
        pass  # no skill runs that could ask

    def watch(self, order: orders.Watch) -> None:
        self.watched[order.watch] = order

    def unwatch(self, watch: int) -> None:
        self.watched.pop(watch, None)

    # --- details --------------------------------------------------------------------------------

    def results_of(self, order: orders.StartSkill) -> Results:
        """How the skill can end."""
        skill = self._skill(order)
        return STANDARD if skill is None else skill.results

    def _skill(self, order: orders.StartSkill) -> Skill | None:
        try:
            return self._catalogue.find(order.skill)
        except DefinitionError:  # say, wait_until
            return None

    def _ended(self, order: orders.StartSkill, ending: Ending) -> events.Ended:
        skill, results = self._skill(order), self.results_of(order)
        if ending.result not in results:
            what = f"rehearsed skill {order.skill!r}: no result {ending.result!r}"
            raise DefinitionError(what, expected=unknown("result", ending.result, results))
        given = skill.given.get(ending.result, ()) if skill is not None else ()
        outputs = {name: SAMPLES[skill.outputs[name].type] for name in sorted(given)} if skill is not None else {}
        return events.Ended(
            activity=order.activity,
            result=ending.result,
            reason="chosen in a rehearsal" if results[ending.result] else "",
            outputs={**outputs, **ending.outputs},
        )


