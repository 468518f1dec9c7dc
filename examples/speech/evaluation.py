"""How many of the known phrases are heard, and what else starts something, on speech that espeak-ng synthesises."""

from __future__ import annotations

import io
import shutil
import subprocess
import wave
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from speech.phrases import STOP, Grammar
from speech.recognizer import RATE, Recognizer, Samples, as_bytes, resampled, utterances

from robot_rt_control.vocabulary.errors import RobotControlError

NOISES = {"quiet": 40.0, "noise, 20 dB": 20.0, "noise, 10 dB": 10.0}
"""Signal to noise ratios [dB] of white noise."""

_OF_EACH_PHRASE = 3
_BETWEEN_S = 0.8
_SPEECH = 6000.0  # loudness (root mean square) of the loudest voices that leaves room for peaks


@dataclass(frozen=True)
class Speech:
    """What is synthesised: each sentence by each voice with each speed [words/min]."""

    voices: tuple[str, ...]
    speeds: tuple[int, ...]
    others: tuple[str, ...]


TUNING = Speech(
    ("en-us", "en-us+f2", "en-gb", "en-gb+m3"),
    (140, 180),
    (
        "what time is it", "please stop talking so loud", "the weather is nice today", "fetch the ball",
        "bring me the red cube", "did you receive the letter", "take the bus", "I sort my mail on monday",
        "give me the red book", "hello", "open the window", "I am going home now", "the tour was great", "yes",
        "no thank you", "shop", "turn left", "polish my shoes", "go away", "mary had a little lamb",
        "the box is empty",
    ),
)  # fmt: skip
"""With TUNING_SKILL, what LIKENESS was chosen by."""

TUNING_SKILL = """
name: tuning
commands: [{say: [take a tour, 'take {n} tours', fetch the box, 'bring {who} the {colour} cube', open gripper, go home,
  polish the floor, 'turn to {n}']}]
parameters:
  n: {type: int, default: 1, minimum: 1, maximum: 12}
  colour: {type: text, default: red, choices: [red, blue]}
  who: {type: text, default: tom, choices: [john, mary, tom]}
nodes: {end: {say: done}}
"""

HELD_OUT = Speech(
    ("en-us+f4", "en-us+m5", "en-gb-scotland", "en-gb-x-rp+f3"),
    (130, 165),
    (
        "good morning everybody", "wipe the table", "wipe your feet", "welcome home", "I have received your message",
        "greet your parents from me", "sort it out", "where is the guest room", "two times two is four",
        "the guest is late", "could you close the door please", "my name is ann", "bob is my uncle",
        "let us have lunch", "how much is that", "it stopped raining", "stop it", "a stopover in london", "top",
        "step back", "the robot is broken", "we sold and shipped it", "type it ten times",
        "he was welcome as a guest", "this is a test", "okay", "never mind", "I do not know",
        "the meeting begins at nine", "put the cup on the desk", "can you hear me", "thanks a lot", "one", "receipt",
        "great", "white", "recipe for an apple pie", "she likes the green one", "call me tomorrow",
    ),
)  # fmt: skip
"""What docs/blueprints.md reports: other voices, speeds and sentences, near misses among them."""


def synthesise(text: str, voice: str, speed: int) -> Samples:
    """Sound of RATE, by espeak-ng. Raises RobotControlError: it is not installed."""
    if shutil.which("espeak-ng") is None:
        raise RobotControlError("speech is synthesised by espeak-ng", hint="apt install espeak-ng")
    command = ["espeak-ng", "-v", voice, "-s", str(speed), "--stdout", text]
    output = subprocess.run(command, capture_output=True, check=True).stdout
    with wave.open(io.BytesIO(output)) as file:
        # The header of a pipe does not know the length.
        return resampled(np.frombuffer(output[44:], "<i2").astype(float), file.getframerate())


def evaluate(recognizer: Recognizer, grammar: Grammar, speech: Speech) -> Iterator[str]:
    """Lines of the report: all that was started by mistake, then a table."""
    wanted = list(grammar.some_of_each(_OF_EACH_PHRASE)) + [(text, "") for text in speech.others]
    counts = {noise: Counter[str]() for noise in NOISES}
    random = np.random.default_rng(1)
    for voice, speed, (text, sentence) in product(speech.voices, speech.speeds, wanted):
        clean = synthesise(text, voice, speed)
        for noise, ratio in NOISES.items():
            sound = io.BytesIO(as_bytes(noisy(clean, ratio, random)))
            started = [heard for heard in map(recognizer.hear, utterances(sound)) if heard.sentence]
            kind = kind_of(sentence, [heard.sentence for heard in started])
            counts[noise].update((kind, "phrase" if sentence else "other"))
            counts[noise].update({"stop": sentence == STOP, "stop hit": sentence == STOP and kind == "hit"})
            if kind in ("wrong", "false start", "false stop"):
                fits = ", ".join(f"{heard.sentence!r} ({heard.likeness:.1f})" for heard in started)
                yield f"{kind}: {text!r} by {voice} at {speed}, {noise}, was heard as {fits}"
    columns = ("phrase", "hit", "miss", "wrong", "stop", "stop hit", "other", "false start", "false stop")
    yield f"| | {' | '.join(columns)} |"
    yield "|---" * (len(columns) + 1) + "|"
    for noise, count in counts.items():
        yield f"| {noise} | {' | '.join(str(count[column]) for column in columns)} |"


def kind_of(wanted: str, started: list[str]) -> str:
    """What it means that these sentences were heard when one was said; wanted: "" if it was no phrase."""
    if not started:
        return "miss" if wanted else "nothing"
    if started == [wanted]:
        return "hit"
    return "wrong" if wanted else "false stop" if set(started) == {STOP} else "false start"


def noisy(clean: Samples, ratio: float, random: np.random.Generator) -> Samples:
    """With silence around, and white noise of this ratio [dB] everywhere."""
    silence = np.zeros(round(_BETWEEN_S * RATE))
    loud = clean * (_SPEECH / max(float(np.sqrt(np.mean(clean**2))), 1.0))
    sound = np.concatenate([silence, loud, silence])
    return sound + random.normal(scale=_SPEECH * 10 ** (-ratio / 20), size=len(sound))
