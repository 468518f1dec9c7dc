"""Sentences start blueprints, or nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from robot_rt_control.blueprint.text.catalogue import SkillCatalogue
from robot_rt_control.blueprint.text.check import check_skill
from robot_rt_control.blueprint.text.phrases import is_stop, understand
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.blueprint.text.stop_words import EDGE_WORDS, STOP_SIGNS, STOP_WORDS
from robot_rt_control.validation.catalogue import Catalogue
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError


def skill(name: str, *phrases: str, parameters: str = "{}") -> SkillTemplate:
    head = f"name: {name}\ncommands: [{{say: {list(phrases)}}}]\nparameters: {parameters}\n"
    return SkillTemplate(f"{head}nodes: {{a: {{wait: 1}}}}")


SKILLS = {
    "welcome": skill(
        "welcome", "Welcome the guest!", "receive {guest}", parameters="{guest: {type: text, default: dear guest}}"
    ),
    "welcome@1": skill("welcome", "receive {guest}"),
    "wipe": skill(
        "wipe", "wipe {times} times {how}", "receive order {n}",
        parameters="{times: {type: int, maximum: 9}, n: {type: int, default: 1},"
        " how: {type: text, choices: [Softly, hard]}}",
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("sentence", "name", "arguments"),
    [
        ("welcome, the GUEST", "welcome", {}),
        ("Receive Mr. O'Hara, please", "welcome", {"guest": "Mr O'Hara please"}),
        ("wipe 3 times softly!", "wipe", {"times": 3, "how": "Softly"}),
        ("STOP!", "", {}),
    ],
)
def test_a_phrase_matches_as_a_whole(sentence: str, name: str, arguments: dict[str, object]) -> None:
    said = understand(sentence, SKILLS)
    assert (said.skill, {a.name: a.value for a in said.arguments}) == (name, arguments)


@pytest.mark.parametrize(
    ("sentence", "message"),
    [
        ("please welcome the guest", "'please welcome the guest' is no known phrase; expected one such as"),
        ("", "'' is no known phrase; expected one of 4 phrases"),
        ("receive order 7", "fits several phrases; expected one of them; got welcome ('receive {guest}'), wipe ('rec"),
        ("wipe 12 times hard", "phrase 'wipe {times} times {how}': parameter 'times': out of range"),
        ("wipe two times hard", "parameter 'times': wrong type; expected a whole number; got 'two'"),
    ],
)
def test_anything_else_starts_nothing_and_says_why(sentence: str, message: str) -> None:
    with pytest.raises(DefinitionError, match=re.escape(message)):
        understand(sentence, SKILLS)


def test_a_sentence_has_a_bounded_length() -> None:
    with pytest.raises(CapacityError):
        understand("a" * 5000, SKILLS)
    with pytest.raises(CapacityError):
        understand("a " * 65, SKILLS)
    blanks = {"x": skill("x", " ".join(f"{{b{i}}}" for i in range(20)) + " end")}
    with pytest.raises(DefinitionError, match="no known phrase"):
        understand("a " * 64, blanks)


@pytest.mark.parametrize(
    "sentence",
    ["Stop!", "Stop! Stop!", "stop now", "please stop", "halt", "receive Mr. Stop", "Don't stop", "wipe 3 times stop",
     "STOOOOP", "stop" + " blah" * 2000, "Halt, sofort!", "bitte anhalten", "Stopp!!", "arrete ça", "Arrêtez !",
     "¡Para!", "robot, para", "¡Alto!", "fermati subito", "pare agora", "hou op", "стой!", "Остановитесь, пожалуйста",
     "请停下", "快停", "すぐに止まって", "ストップ!", "멈춰 주세요", "रुको", "قف", "ＳＴＯＰ", "stop_sign", "stop2"],
)  # fmt: skip
def test_N52_a_sentence_with_a_stop_word_stops_whatever_else_it_says(sentence: str) -> None:
    assert is_stop(sentence)
    assert understand(sentence, {**SKILLS, "late": skill("late", sentence[:200])}).skill == ""


@pytest.mark.parametrize(
    "sentence", ["", "it stopped raining", "a stopover", "welcome the guest", "café para Ana", "drei Stühle", "六杯"]
)
def test_N52_other_words_do_not_stop(sentence: str) -> None:
    assert not is_stop(sentence)


def test_N52_every_stop_word_stops_and_is_in_the_documentation() -> None:
    page = (Path(__file__).parents[4] / "docs" / "blueprints.md").read_text()
    for table in (STOP_WORDS, EDGE_WORDS, STOP_SIGNS):
        for language, entries in table.items():
            row = next(line for line in page.splitlines() if line.startswith(f"| {language} |"))
            for entry in entries.split(", "):
                assert is_stop(entry) and is_stop(f"{entry}, robot!") and is_stop(f"robot, {entry.upper()}!"), entry
                assert entry in row, f"{entry!r} is missing"


@pytest.mark.parametrize(
    ("commands", "message"),
    [
        ("{say: [go to the bus stop]}", "phrase 'go to the bus stop' stops: it has the stop word 'stop'"),
        ("{say: ['drive to {place}']}", "phrase 'drive to {place}' with 'bus stop' for 'place' stops"),
        ("{gesture: Halt}", "gesture 'Halt' stops: it has the stop word 'halt'"),
    ],
)
def test_N52_a_phrase_with_a_stop_word_is_refused_when_it_is_saved(commands: str, message: str) -> None:
    text = (
        f"name: drive\ncommands: [{commands}]\n"
        "parameters: {place: {type: text, default: home, choices: [home, bus stop]}}\nnodes: {a: {wait: 1}}"
    )
    with pytest.raises(DefinitionError, match=re.escape(message)):
        check_skill(SkillTemplate(text), SkillCatalogue(Catalogue(), {}, {}))
