"""Spoken commands: what can be said, what is heard in a sound, and what is reported of it."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
import pytest

from robot_rt_control.blueprint.text.phrases import is_stop
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError, RobotControlError

SOUND = Path(__file__).with_name("wipe_two_times.wav")
SKILLS = str(Path(__file__).parents[2] / "examples" / "blueprints" / "sort_and_wipe.yaml")


@pytest.fixture
def speech(example):
    return example("22_speech")


def tour(parameters: str, *phrases: str) -> SkillTemplate:
    return SkillTemplate(
        f"name: tour\ncommands: [{{say: {list(phrases)!r}}}]\nparameters: {parameters}\nnodes: {{end: {{say: done}}}}"
    )


def test_blanks_are_filled_with_what_their_parameters_can_be(speech):
    how = "{type: text, default: Fast, choices: [Fast, Very Slow]}"
    parameters = f"{{n: {{type: int, default: 20, minimum: 19, maximum: 21}}, how: {how}}}"
    grammar = speech.grammar_of([tour(parameters, "Take {n} tours, {how}!", "show room 2")])
    assert {spoken: written for spoken, written in grammar.sentences.items() if written != "stop"} == {
        "take nineteen tours fast": "Take 19 tours Fast",
        "take nineteen tours very slow": "Take 19 tours Very Slow",
        "take twenty tours fast": "Take 20 tours Fast",
        "take twenty tours very slow": "Take 20 tours Very Slow",
        "take twenty one tours fast": "Take 21 tours Fast",
        "take twenty one tours very slow": "Take 21 tours Very Slow",
        "show room two": "show room 2",
    }
    assert grammar.jsgf == (
        "#JSGF V1.0; grammar phrases; public <phrase> = (stop | halt) | (stop | halt) (stop | halt) | "
        "(stop | halt) (stop | halt) (stop | halt) | (please) (stop | halt) | (stop | halt) (now | please) | "
        "(take) (nineteen | twenty | twenty one) (tours) (fast | very slow) | (show) (room) (two);"
    )
    assert [len(list(grammar.some_of_each(most))) for most in (1, 2, 9)] == [3, 4, 8]


def test_N52_stop_is_heard_several_times_and_with_other_words(speech):
    grammar = speech.grammar_of([], wake="robot")
    assert set(grammar.sentences.values()) == {"stop"} and all(map(is_stop, grammar.sentences))
    assert {"stop", "stop stop", "halt halt halt", "please stop", "stop now"} <= set(grammar.sentences)


def test_a_blank_for_any_text_needs_a_list(speech):
    template = tour("{guest: {type: text}}", "greet {guest}")
    grammar = speech.grammar_of([template])
    assert set(grammar.sentences.values()) == {"stop"}
    assert grammar.left_out == ("'greet {guest}': any text fits {guest}; say which: --word guest=ann,bob",)
    grammar = speech.grammar_of([template], {"guest": ["Ann", "Bob"]}, wake="Hey robot")
    assert {spoken: written for spoken, written in grammar.sentences.items() if written != "stop"} == {
        "hey robot greet ann": "greet Ann",
        "hey robot greet bob": "greet Bob",
    }
    with pytest.raises(CapacityError, match="at most 10000 sentences"):
        speech.grammar_of([tour("{n: {type: int, default: 1}}", "from {n} to {n} by {n}")])


def test_what_was_heard_is_counted(speech):
    kind_of = sys.modules[speech.evaluate.__module__].kind_of
    assert kind_of("wipe 2 times", ["wipe 2 times"]) == "hit"
    assert kind_of("wipe 2 times", []) == "miss"
    assert kind_of("wipe 2 times", ["wipe 3 times"]) == kind_of("wipe", ["wipe", "stop"]) == "wrong"
    assert kind_of("", []) == "nothing"
    assert kind_of("", ["stop"]) == "false stop"
    assert kind_of("", ["wipe", "stop"]) == "false start"


def test_without_the_package_it_says_how_to_get_it(speech, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "pocketsphinx", None)
    assert speech.main([str(SOUND), "--skills", SKILLS]) == 1
    assert capsys.readouterr().err == (
        "recognising speech needs the package pocketsphinx. pip install 'robot_rt_control[speech]'\n"
    )


def test_a_sound_file_is_recognised(speech, capsys, tmp_path):
    pytest.importorskip("pocketsphinx")
    assert speech.main([str(SOUND), "--skills", SKILLS]) == 0
    assert capsys.readouterr().out.startswith("heard: wipe 2 times (")
    other = tmp_path / "other.yaml"
    other.write_text("name: other\ncommands: [{say: [open the door, welcome the guest]}]\nnodes: {end: {say: done}}")
    assert speech.main([str(SOUND), "--skills", str(other)]) == 0
    assert capsys.readouterr().out.startswith("heard no command"), "it is none of this robot's phrases"
    assert speech.main([str(other), "--skills", SKILLS]) == 1
    assert "expected a WAV file" in capsys.readouterr().err
    other.write_text("name: other\ncommands: [{say: [open xqzt]}]\nnodes: {end: {say: done}}")
    assert speech.main([str(SOUND), "--skills", str(other)]) == 1
    assert "how to pronounce xqzt. Give the sounds, as in --sounds 'xqzt=M IY AH'" in capsys.readouterr().err
    assert speech.main([str(SOUND), "--skills", str(other), "--sounds", "xqzt=EH K S"]) == 0


def test_the_robot_is_told_and_its_answer_shown(speech, capsys):
    pytest.importorskip("pocketsphinx")
    recognizer = speech.Recognizer(speech.grammar_of([SkillTemplate(Path(SKILLS).read_text())]))
    told = []

    def command(sentence: str) -> str:
        told.append(sentence)
        return "started sort_and_wipe"

    assert speech.listen(recognizer, str(SOUND), command) == told == ["wipe 2 times"]
    assert capsys.readouterr().out.endswith("started sort_and_wipe\n")

    def refused(sentence: str) -> str:
        raise DefinitionError("the arm is taken")

    speech.listen(recognizer, str(SOUND), refused)
    assert capsys.readouterr().out.endswith("not started: the arm is taken\n")


def test_noise_is_no_speech_and_a_stream_is_heard_while_it_goes_on(speech):
    pytest.importorskip("pocketsphinx")
    noise = np.random.default_rng(1).normal(scale=3000.0, size=5 * 16_000).astype("<i2").tobytes()
    recognizer = speech.Recognizer(speech.grammar_of([SkillTemplate(Path(SKILLS).read_text())]))
    assert not any(recognizer.hear(utterance).sentence for utterance in speech.utterances(io.BytesIO(noise)))
    stream = io.BytesIO(speech.sound_file(SOUND).read() + bytes(16_000 * 2) + noise)
    utterance = next(speech.utterances(stream))
    assert recognizer.hear(utterance).sentence == "wipe 2 times"
    assert stream.tell() < SOUND.stat().st_size + 2 * 16_000, "not only when the stream has ended"


def test_an_evaluation_is_a_table(speech, monkeypatch):
    pytest.importorskip("pocketsphinx")
    module = sys.modules[speech.evaluate.__module__]
    said = np.frombuffer(speech.sound_file(SOUND).read(), "<i2").astype(float)
    monkeypatch.setattr(module, "synthesise", lambda text, voice, speed: said)
    monkeypatch.setattr(module, "NOISES", {"quiet": 40.0})
    grammar = speech.grammar_of([tour("{n: {type: int, default: 2, minimum: 2, maximum: 2}}", "wipe {n} times")])
    lines = list(speech.evaluate(speech.Recognizer(grammar), grammar, module.Speech(("en",), (150,), ("type",))))
    assert [line.partition(" was heard")[0] for line in lines] == [
        "wrong: 'stop' by en at 150, quiet,",
        "false start: 'type' by en at 150, quiet,",
        "| | phrase | hit | miss | wrong | stop | stop hit | other | false start | false stop |",
        "|---|---|---|---|---|---|---|---|---|---|",
        "| quiet | 2 | 1 | 0 | 1 | 1 | 0 | 1 | 1 | 0 |",
    ]


def test_without_espeak_it_says_how_to_get_it(speech, monkeypatch):
    module = sys.modules[speech.evaluate.__module__]
    monkeypatch.setenv("PATH", "")
    with pytest.raises(RobotControlError, match="apt install espeak-ng"):
        module.synthesise("hello", "en", 150)
