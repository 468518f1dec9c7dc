"""Reactions by the rules R: which are judged, which fire, and what their responses do."""

from __future__ import annotations

from reference_activations import ENABLED, Activation, ActivationRules
from reference_conditions import evaluate
from reference_definitions import Event, ReactionDefinition


class ReactionRules(ActivationRules):
    """The part of the reference model that judges reactions and lets them respond."""

    def _judged(self) -> list[tuple[ReactionDefinition, Activation | None]]:
        """The reactions to be judged, in the order of R5."""
        d = self.definitions
        living = [s for s in d.sessions if s not in self.ended_sessions]
        judged: list[tuple[ReactionDefinition, Activation | None]] = [
            (r, None) for s in living for r in d.reactions if r.owner is None and r.session == s
        ]
        for activation in self._in_order():  # R3
            if activation.judged_from <= self.tick_number:  # R8
                judged += [(r, activation) for r in d.reactions if r.owner == activation.action.identity]
        return judged

    def _react(self) -> None:
        firings = []
        for reaction, activation in self._judged():  # R4: all of them before any response
            memory = self.free_memory if activation is None else activation.memory
            fired = self.free_fired if activation is None else activation.fired
            before = memory.setdefault(reaction.identity, False)
            now = evaluate(reaction.condition, self.read_variable)
            if now is None:  # R2
                continue
            memory[reaction.identity] = now
            if now and not before and not (reaction.fire_once and fired.get(reaction.identity, 0)):  # R1, R10
                fired[reaction.identity] = fired.get(reaction.identity, 0) + 1
                firings.append((reaction, activation))
        for reaction, activation in firings:
            self._report(reaction, activation)
        for reaction, activation in firings:
            self._respond(reaction, activation)
        self._take_default(sorted(self.claimed))
        self._sense()  # R7: those that began just now

    def _report(self, reaction: ReactionDefinition, owner: Activation | None) -> None:
        """R12. The values are those that the condition saw. The current action is the one asked for, else the owner."""
        previous = 0 if owner is None else owner.action.identity
        current = previous
        if reaction.start:
            current = reaction.start[0]
            if owner is None:
                first_part = self._definition(current).parts[0]
                previous = self._active_on_parts().get(first_part, 0)
        captured = tuple(self.read_variable(v) for v in reaction.captures)
        self.events.append(Event("REACTION_FIRED", reaction.identity, previous, current, values=captured))

    def _respond(self, reaction: ReactionDefinition, owner: Activation | None) -> None:
        has_ended = owner is not None and not reaction.start and owner.action.identity not in self.active
        if (reaction.start or reaction.stop) and not has_ended:
            reason = self._switch_refusal(reaction, owner)
            if reason:
                current = reaction.start[0] if reaction.start else 0
                self.events.append(Event("SWITCH_DROPPED", reaction.identity, current=current, reason=reason))
            else:
                self._switch(reaction, owner)
        if reaction.signal is not None:  # also if the switch was dropped (R6)
            self._raise(*reaction.signal)

    def _switch(self, reaction: ReactionDefinition, owner: Activation | None) -> None:
        self.claimed |= self._touched(reaction, owner)
        leaving = self._leaving(reaction, owner)
        if reaction.start:
            self._start(reaction.start, self.tick_number + 1, "REACTION", leaving)  # R7, R8
        else:
            for activation in leaving:
                self._end(activation, "REACTION")

    def _leaving(self, reaction: ReactionDefinition, owner: Activation | None) -> list[Activation]:
        """What a switch ends, whatever it starts (R11, R13)."""
        if owner is not None:
            if reaction.keep_owner:
                return []
            starting = [self._definition(i) for i in reaction.start]
            return [owner, *self._left_with(owner, starting, reaction.leaves)]
        return self._of_session(reaction.session) if reaction.stop else []

    def _touched(self, reaction: ReactionDefinition, owner: Activation | None) -> set[int]:
        """The parts that a switch claims (R6)."""
        parts = {p for a in self._leaving(reaction, owner) for p in a.action.parts}
        starting = [self._definition(i) for i in reaction.start]
        for target in starting:
            parts |= set(target.parts)
            for displaced in self._in_the_way(target):
                limit = reaction.leaves if displaced is owner else None
                ending = (displaced, *self._left_with(displaced, starting, limit))
                parts |= {p for a in ending for p in a.action.parts}
        return parts

    def _switch_refusal(self, reaction: ReactionDefinition, owner: Activation | None) -> str:
        reasons = ["PARTS_OVERLAP"] if self._touched(reaction, owner) & self.claimed else []
        if reaction.start and self.protective_stop:
            reasons.append("PROTECTIVE_STOP")
        if reaction.start and reaction.session in self.suspended:  # L30
            reasons.append("SESSION_SUSPENDED")
        if any(self.states[p] != ENABLED for i in reaction.start for p in self._definition(i).parts):
            reasons.append("PART_NOT_ENABLED")
        return "|".join(reasons)
