"""What can be said to a robot: the phrases of its blueprints with their blanks filled, as a grammar."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from robot_rt_control.blueprint.text.phrases import phrases_of, words
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.definitions.action_type import Parameter
from robot_rt_control.vocabulary.errors import CapacityError

STOP = "stop"
"""What the node `blueprints` gets of each of these."""
_STOPS = {"stop": STOP, "halt": STOP}
_STOP_RULES: tuple[tuple[Mapping[str, str], ...], ...] = (
    (_STOPS,),
    (_STOPS, _STOPS),
    (_STOPS, _STOPS, _STOPS),
    ({"please": ""}, _STOPS),
    (_STOPS, {"now": "", "please": ""}),
)
MAX_SENTENCES = 10_000
_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_HUNDRED = 100

Words = Mapping[str, str]
"""What can be said in one place → how it is written: {"two": "2"}."""


@dataclass(frozen=True)
class Grammar:
    """All that is listened for.

    Args:
        rules: of each phrase, the words of each of its places.
        sentences: as spoken → as the node `blueprints` takes it.
        left_out: phrases that cannot be listened for, and why.
    """

    rules: tuple[tuple[Words, ...], ...]
    sentences: Mapping[str, str]
    left_out: tuple[str, ...]

    @property
    def words(self) -> set[str]:
        return {word for sentence in self.sentences for word in sentence.split()}

    def some_of_each(self, most: int) -> Iterator[tuple[str, str]]:
        """Up to this many sentences of each phrase, as spoken and as written; of all that stops one."""
        yield STOP, STOP
        for rule in (rule for rule in self.rules if rule not in _STOP_RULES):
            spoken = [" ".join(chosen) for chosen in product(*rule)]
            for sentence in spoken[:: max(len(spoken) // most, 1)][:most]:
                yield sentence, self.sentences[sentence]

    @property
    def jsgf(self) -> str:
        """In the Java Speech Grammar Format."""
        rules = (" ".join(f"({' | '.join(place)})" for place in rule) for rule in self.rules)
        return f"#JSGF V1.0; grammar phrases; public <phrase> = {' | '.join(rules)};"


def grammar_of(
    skills: Iterable[SkillTemplate], given: Mapping[str, Sequence[str]] | None = None, wake: str = ""
) -> Grammar:
    """Of the phrases of these skills, and of what stops: `stop`, `halt`, again and again, with `please` and `now`.

    Args:
        given: parameter → its values, for parameters whose values are not known from their declarations.
        wake: words that come before each phrase, except `stop`.

    Raises:
        CapacityError: there are more than MAX_SENTENCES.
    """
    rules: list[tuple[Words, ...]] = [*_STOP_RULES]
    left_out = []
    called = [{_spoken(word): ""} for word in words(wake)]
    for template in skills:
        for phrase, _ in phrases_of(template):
            places = [_place(word, template.parameters, given or {}) for word in words(phrase)]
            if all(places):
                rules.append((*called, *places))
            else:
                blank = words(phrase)[places.index({})]
                left_out.append(f"{phrase!r}: any text fits {blank}; say which: --word {blank[1:-1]}=ann,bob")
    sentences: dict[str, str] = {}
    for rule in rules:
        for chosen in product(*(place.items() for place in rule)):
            written = [one for _, one in chosen if one]
            sentences[" ".join(spoken for spoken, _ in chosen)] = STOP if rule in _STOP_RULES else " ".join(written)
            if len(sentences) > MAX_SENTENCES:
                raise CapacityError("too much can be said", expected=f"at most {MAX_SENTENCES} sentences")
    return Grammar(tuple(rules), sentences, tuple(left_out))


def _place(word: str, parameters: Iterable[Parameter], given: Mapping[str, Sequence[str]]) -> Words:
    """Empty: a blank for any text, or for no valid parameter."""
    if not word.startswith("{"):
        return {_spoken(word): word}
    parameter = next((p for p in parameters if p.name == word[1:-1]), Parameter(name=word[1:-1], type="text"))
    if values := given.get(parameter.name, parameter.choices):
        return {_spoken(value): value for value in values}
    if parameter.type == "bool":
        return {"true": "true", "false": "false"}
    if parameter.type == "text":
        return {}
    least = 0 if parameter.minimum is None else max(parameter.minimum, 0)
    most = _HUNDRED if parameter.maximum is None else min(parameter.maximum, _HUNDRED)
    return {_number(n): str(n) for n in range(_HUNDRED + 1) if least <= n <= most}


def _spoken(text: str) -> str:
    """In small letters, numbers as words."""
    said = (_number(int(w)) if w.isdecimal() and int(w) <= _HUNDRED else w for w in words(text.casefold()))
    return " ".join(said)


def _number(n: int) -> str:
    """0 to 100."""
    if n == _HUNDRED:
        return "one hundred"
    if n < len(_ONES):
        return _ONES[n]
    tens, ones = divmod(n, 10)
    return _TENS[tens - 2] + (f" {_ONES[ones]}" if ones else "")
