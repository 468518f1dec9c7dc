"""Spoken sentences, and the blueprints that they start: whole phrases, without regard to case and punctuation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache

from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.blueprint.text.stop_words import stop_word_in
from robot_rt_control.definitions.action_type import Parameter
from robot_rt_control.definitions.parameter_value import ParameterValue
from robot_rt_control.program.declarations import values_of
from robot_rt_control.text.scalar import parse_scalar
from robot_rt_control.vocabulary.capacities import MAX_TEXT_LENGTH
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError, unknown

MAX_WORDS = 64
"""Words of a sentence."""

_WORD = re.compile(r"\{[^}]*\}|-?\d+(?:\.\d+)?|\w+(?:'\w+)*")
_BLANK = re.compile(r"\{([^}]*)\}")


@dataclass(frozen=True, kw_only=True)
class Said:
    """What a sentence asks for.

    Args:
        skill: name of the blueprint; empty: to stop everything.
        arguments: the parameters that the sentence filled.
        busy: what happens while another run holds the parts.
    """

    skill: str
    phrase: str
    arguments: tuple[ParameterValue, ...] = ()
    busy: str = "refuse"


def words(text: str) -> list[str]:
    """The words, numbers and blanks of a phrase or sentence."""
    return _WORD.findall(text)


def phrase_key(phrase: str) -> str:
    """Equal for two phrases that no sentence can distinguish: any blank for any."""
    return " ".join("{}" if _BLANK.fullmatch(word) else word.casefold() for word in words(phrase))


def phrases_of(template: SkillTemplate) -> Iterator[tuple[str, int]]:
    """The phrases of a blueprint, each with the index of its command."""
    for index, command in enumerate(template.content.commands):
        for phrase in command.say:
            yield phrase, index


def is_stop(sentence: str) -> bool:
    """Whether it cancels all runs: it has a stop word, whatever else it says, and however long it is."""
    return stop_word_in(sentence) != ""


def understand(sentence: str, skills: Mapping[str, SkillTemplate]) -> Said:
    """Find what a sentence starts.

    Args:
        sentence: at most MAX_TEXT_LENGTH characters, and MAX_WORDS words.
        skills: by name; versions (`name@2`) are left out.

    Raises:
        CapacityError: the sentence is too long.
        DefinitionError: it fits no phrase, or several; the message names the nearest, or those.
    """
    if is_stop(sentence):
        return Said(skill="", phrase=stop_word_in(sentence))
    if len(sentence) > MAX_TEXT_LENGTH:
        raise CapacityError(
            "the sentence is too long", expected=f"at most {MAX_TEXT_LENGTH} characters", got=str(len(sentence))
        )
    spoken = words(sentence)
    if len(spoken) > MAX_WORDS:
        raise CapacityError("the sentence is too long", expected=f"at most {MAX_WORDS} words", got=str(len(spoken)))
    found: list[Said] = []
    known: list[str] = []
    refused: list[DefinitionError] = []
    for name, template in sorted(skills.items()):
        for phrase, index in phrases_of(template) if "@" not in name else ():
            known.append(phrase)
            filled = _filled(words(phrase), spoken)
            if filled is None:
                continue
            try:
                arguments = tuple(_values(template.parameters, filled, phrase))
            except DefinitionError as error:
                refused.append(error)
            else:
                busy = template.content.commands[index].busy
                found.append(Said(skill=name, phrase=phrase, arguments=arguments, busy=busy))
    exact = [said for said in found if not said.arguments] or found  # words before blanks
    if len({said.skill for said in exact}) == 1:
        return exact[0]
    if found:
        shown = ", ".join(f"{said.skill} ({said.phrase!r})" for said in found)
        raise DefinitionError(f"{sentence!r} fits several phrases", expected="one of them", got=shown)
    if len(refused) == 1:
        raise refused[0]
    near = get_close_matches(" ".join(spoken).casefold(), {p.casefold(): p for p in known}, n=3, cutoff=0.3)
    raise DefinitionError(
        f"{sentence!r} is no known phrase",
        expected=f"one such as {' or '.join(map(repr, near))}" if near else f"one of {len(known)} phrases",
    )


def _filled(phrase: list[str], spoken: list[str]) -> dict[str, str] | None:
    """The blanks of a phrase as spoken; None: it does not fit. An earlier blank takes as few words as possible."""

    @cache  # of a phrase with many blanks, the same rests are looked at again and again
    def rest(first: int, said: int) -> tuple[tuple[str, str], ...] | None:
        if first == len(phrase):
            return () if said == len(spoken) else None
        blank = _BLANK.fullmatch(phrase[first])
        if blank is None:
            fits = said < len(spoken) and phrase[first].casefold() == spoken[said].casefold()
            return rest(first + 1, said + 1) if fits else None
        for end in range(said + 1, len(spoken) + 1):
            found = rest(first + 1, end)
            if found is not None:
                return ((blank[1], " ".join(spoken[said:end])), *found)
        return None

    found = rest(0, 0)
    return None if found is None else dict(found)


def _values(declared: Iterable[Parameter], filled: Mapping[str, str], phrase: str) -> Iterator[ParameterValue]:
    """The blanks as values of parameters. Raises DefinitionError: one does not fit its parameter."""
    for parameter in declared:
        if parameter.name not in filled:
            continue
        spoken = filled[parameter.name]
        if parameter.type == "text":
            same = [choice for choice in parameter.choices if choice.casefold() == spoken.casefold()]
            value = ParameterValue(name=parameter.name, value=same[0] if same else spoken)
        else:
            number = parse_scalar(spoken)
            value = ParameterValue(name=parameter.name, value=spoken if number is None else number)
        values_of([parameter], [value], of=f"phrase {phrase!r}", only_given=True)
        yield value


def of_gesture(label: str, skills: Mapping[str, SkillTemplate]) -> Said:
    """What a gesture's label starts.

    Raises:
        DefinitionError: nothing, or several blueprints.
    """
    found: dict[str, str] = {}
    known: list[str] = []
    for name, template in skills.items():
        for command in template.content.commands:
            known += command.gesture
            if label.strip().casefold() in (gesture.casefold() for gesture in command.gesture):
                found[name] = command.busy
    if len(found) != 1:
        what = f"gesture {label!r} " + ("starts several blueprints" if found else "is not known")
        raise DefinitionError(what, expected=", ".join(found) or unknown("gesture", label, known), got=repr(label))
    ((name, busy),) = found.items()
    return Said(skill=name, phrase=label, busy=busy)
