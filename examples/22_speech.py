"""Spoken commands: a microphone or a sound file starts the robot's blueprints. Offline, limited to the known phrases.

    ./run shell workcell --workcell bench --blueprints            the robot, with blueprints saved; and beside it
    arecord -q -t raw -f S16_LE -r 16000 -c 1 | ./run shell python examples/22_speech.py -
    ./run shell python examples/22_speech.py order.wav
    ./run shell python examples/22_speech.py order.wav --skills examples/blueprints/*.yaml      prints only, no robot
    ./run shell python examples/22_speech.py --evaluate           how well it hears: needs espeak-ng

`stop` is always listened for, and cancels all runs; it is no emergency stop. A phrase that any text fits, as
`greet {guest}`, needs a list of what can be said: --word guest=ann,bob. What else is said around the robot should start
nothing: --wake robot listens to "robot, wipe two times" only; `arecord -d 4` listens for 4 s, as with a button to push.

docs/blueprints.md, "Speech", says how well that works.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path

from speech.evaluation import HELD_OUT, TUNING, TUNING_SKILL, evaluate
from speech.phrases import Grammar, grammar_of
from speech.recognizer import LIKENESS, Recognizer, sound_file, utterances

from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.vocabulary.errors import RobotControlError

SKILLS = sorted((Path(__file__).parent / "blueprints").glob("*.yaml")) + [
    Path(__file__).parent / "welcome" / f"{name}.yaml" for name in ("welcome", "short_welcome")
]
"""Whose phrases are evaluated, and which words are said in their blanks."""
GUESTS = {"guest": ["ann", "bob", "peter", "maria"]}

Command = Callable[[str], str]
"""Gives the robot a sentence; returns its answer. Raises RobotControlError: it starts nothing."""


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sound", nargs="?", help="a WAV file; or -: raw sound of 16 kHz, 16 bits, mono")
    parser.add_argument("--skills", type=Path, nargs="+", help="take the phrases of these files; nothing is started")
    parser.add_argument("--word", metavar="NAME=A,B", type=_pair, action="append", default=[], help="values of a blank")
    parser.add_argument("--sounds", metavar="WORD=M IY AH", type=_pair, action="append", default=[],
                        help="how to pronounce a word that the dictionary lacks")  # fmt: skip
    parser.add_argument("--wake", default="", metavar="WORDS", help="what is said before each phrase but stop")
    parser.add_argument("--likeness", type=float, default=LIKENESS, help="at least; -1.5 hears less (%(default)s)")
    parser.add_argument("--evaluate", choices=("held_out", "tuning"), nargs="?", const="held_out",
                        help="report hits, misses and false starts")  # fmt: skip
    options = parser.parse_args(argv)
    if (options.sound is None) == (options.evaluate is None):
        parser.error("give a sound file, -, or --evaluate")
    given = {name: values.split(",") for name, values in options.word}

    def recognizer_of(skills: Iterable[SkillTemplate], given: dict[str, list[str]]) -> tuple[Recognizer, Grammar]:
        grammar = grammar_of(skills, given, options.wake)
        for line in grammar.left_out:
            print(f"not heard: {line}", file=sys.stderr)
        return Recognizer(grammar, sounds=dict(options.sounds), likeness=options.likeness), grammar

    try:
        if options.evaluate:
            tuning = options.evaluate == "tuning"
            skills = [TUNING_SKILL] if tuning else [file.read_text() for file in options.skills or SKILLS]
            recognizer, grammar = recognizer_of(map(SkillTemplate, skills), given or GUESTS)
            for line in evaluate(recognizer, grammar, TUNING if tuning else HELD_OUT):
                print(line, flush=True)
            return 0
        with ExitStack() as open_things:
            if options.skills:
                found, command = [SkillTemplate(file.read_text()) for file in options.skills], None
            else:
                found, command = _robot(open_things)
            recognizer, _ = recognizer_of(found, given)
            listen(recognizer, options.sound, command)
    except (RobotControlError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def listen(recognizer: Recognizer, sound: str, command: Command | None = None) -> list[str]:
    """Until the sound ends: print what is heard and what the robot answers. Returns the sentences.

    Args:
        sound: path of a WAV file, or "-".
        command: None: nothing is started.
    """
    sentences = []
    for utterance in utterances(sys.stdin.buffer if sound == "-" else sound_file(Path(sound))):
        heard = recognizer.hear(utterance)
        if not heard.sentence:
            nearest = f" (like {heard.words!r}, {heard.likeness:.1f})" if heard.words else ""
            print(f"heard no command{nearest}", flush=True)
            continue
        sentences.append(heard.sentence)
        print(f"heard: {heard.sentence} ({heard.likeness:.1f})", flush=True)
        if command is not None:
            try:
                print(command(heard.sentence), flush=True)
            except RobotControlError as error:
                print(f"not started: {error}", flush=True)
    return sentences


def _robot(open_things: ExitStack) -> tuple[list[SkillTemplate], Command]:
    """The skills of the running workcell's node `blueprints`, and how to command it."""
    from robot_rt_control.blueprint.remote import Blueprints
    from robot_rt_control.client import Client

    blueprints = open_things.enter_context(Blueprints(open_things.enter_context(Client())))

    def command(sentence: str) -> str:
        answer = blueprints.give_command(sentence, source="speech")
        return answer.message or f"started {answer.blueprint} ({answer.run})"

    skills = blueprints.list_skills(with_text=True)
    return [SkillTemplate(skill.text) for skill in skills if skill.phrases and not skill.problem], command


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, got {text!r}")
    return name, value


if __name__ == "__main__":
    raise SystemExit(main())
