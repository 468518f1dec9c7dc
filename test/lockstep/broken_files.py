"""Broken texts of blueprints, and whether they are rightly judged."""

from __future__ import annotations

from random import Random
from time import process_time

from robot_rt_control.blueprint.text.catalogue import SkillCatalogue
from robot_rt_control.blueprint.text.check import check_skill
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.vocabulary.errors import DefinitionError, ProgramError

TEXT = """\
name: mine
level: blueprint
commands: [{say: [wipe it, 'bring {thing}']}]
roles: {hand: {kinds: [arm], default: arm}}
parameters: {thing: {type: text, default: cup}, force: {unit: N, default: 5.0, maximum: 20.0}}
results: {nothing: {failure: true}}
outputs: {push: {unit: N, value: $first.watch.push}}
values: {round: {type: int, default: 0}}
start: first
nodes:
  first:
    skill: move_until_contact
    parts: {arm: hand}
    with: {force: 2 * ($force - 1), way: [0, 0, -0.1]}
    retry: 1
    timeout: 30
    then: [{on: contact, when: first.count < 3 and $first.watch.push > 1 N, go: set}, {on: failure, end: nothing}]
  set: {set: {round: $round + 1}, then: both}
  both: {all_of: {l: {skill: move_linear, parts: {arm: hand}, with: {speed: 0.1}, until: is_settled}, r: {say: $thing}}, then: ask}
  ask: {ask: {text: Again?, answers: [again, enough]}, then: [{on: again, go: first}, {on: enough, end: failed}]}
  back: {wait_until: arm.tool.z > 0.3, then: ask}
reactions: [{when: time > 10 s and hand.tool.z < $force / 100, go: back, at: end}]
view: {first: [10, 20]}
"""  # noqa: E501
PIECES = (
    *("", "  ", "\n", "- ", "{", "}", "[", "]", ": ", ", ", "$", "'", '"', "#", "&a ", "*a", "|"),
    *("first", "1e999", "-1", "é", "\t"),
)


def broken(random: Random) -> str:
    text = TEXT
    for _ in range(random.randint(1, 3)):
        at = random.randrange(len(text))
        until = at + random.choice((0, 0, 1, 1, 3, 20))
        start = random.randrange(len(text))
        piece = random.choice(PIECES) if random.random() < 0.7 else text[start : start + 12]
        text = text[:at] + piece + text[until:]
    return text


LONGEST_S = 0.1
"""[s of computing] for one file."""


def check(text: str, bench: SkillCatalogue) -> bool:
    """Whether it is valid; otherwise each mistake has a line of the text. Soon, in either case."""
    begin = process_time()
    try:
        return judged(text, bench)
    finally:
        seconds = process_time() - begin
        assert seconds < LONGEST_S, f"{seconds:.3f} s for:\n{text}"


def judged(text: str, bench: SkillCatalogue) -> bool:
    try:
        check_skill(SkillTemplate(text), bench)
    except DefinitionError as error:
        for mistake in error.mistakes if isinstance(error, ProgramError) else (error,):
            assert 1 <= mistake.line <= text.count("\n") + 1, f"{mistake}\n{text}"
            assert str(mistake).startswith(f"skill:{mistake.line}: "), mistake
        return False
    return True
