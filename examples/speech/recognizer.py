"""Which of the known phrases somebody spoke, by PocketSphinx: offline, with the English model that it brings."""

from __future__ import annotations

import io
import math
import re
import sys
import wave
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
from scipy.signal import resample_poly
from speech.phrases import Grammar, grammar_of

from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError

RATE = 16_000
"""[samples/s] of all sound: 16 bits, one channel, no header."""

LIKENESS = -2.3
"""How well the worst word must fit: the mean over its time of the logarithm of its likelihood by that of the best
row of speech sounds, which knows no words. Chosen with the tuning set of evaluation.py, as all numbers here."""

STOP_LIKENESS = -1.5
"""The same where nothing but `stop` is listened for."""

MAX_SECONDS = 10.0
"""Longer speech is cut: no command is that long."""


PAUSE = 0.5
"""[s] of silence that end an utterance; as much of what was before it is heard with it."""

SHORTEST = 0.12
"""[s] of speech within PAUSE that begin an utterance: less is a crack."""

_SCORE_SCALE = 1024  # the decoder shifts its scores by 10 bits

_FLOOR = 0.15  # of the loudness
_MARKS = ("<s>", "</s>", "(NULL)")
_FILLERS = ("<sil>", "[NOISE]", "[SPEECH]")  # what is taken for them must be like them, too

Samples = npt.NDArray[np.float64]
Piece = tuple[str, int, int, float]


@dataclass(frozen=True)
class Heard:
    """What came out of a piece of speech.

    Args:
        sentence: as the node `blueprints` takes it; empty: no known phrase.
        words: what was nearest.
        likeness: of the worst word; see LIKENESS.
    """

    sentence: str
    words: str
    likeness: float


def pocketsphinx() -> Any:
    """The module. Raises RobotControlError: it is not installed."""
    try:
        import pocketsphinx
    except ImportError:
        raise RobotControlError(
            "recognising speech needs the package pocketsphinx", hint="pip install 'robot_rt_control[speech]'"
        ) from None
    return pocketsphinx


class Recognizer:
    """Not to be used by several threads at once.

    Args:
        sounds: word → its sounds in ARPABET ("M IY AH"), for words that the dictionary lacks.
        likeness: see LIKENESS; less hears more, and starts more by mistake.

    Raises:
        RobotControlError: PocketSphinx is not installed.
        DefinitionError: the dictionary lacks words.
    """

    def __init__(
        self, grammar: Grammar, *, sounds: Mapping[str, str] | None = None, likeness: float = LIKENESS
    ) -> None:
        self._grammar, self._likeness = grammar, likeness
        self._decoder = pocketsphinx().Decoder(lm=None, loglevel="FATAL")
        for word, phones in (sounds or {}).items():
            self._decoder.add_word(word.casefold(), phones)
        unknown = sorted(word for word in grammar.words if self._decoder.lookup_word(word) is None)
        if unknown:
            raise DefinitionError(
                f"the dictionary does not know how to pronounce {', '.join(unknown)}",
                hint=f"Give the sounds, as in --sounds '{unknown[0]}=M IY AH'",
            )
        self._decoder.add_jsgf_string("phrases", grammar.jsgf)
        self._decoder.add_jsgf_string("stop", grammar_of([]).jsgf)
        self._decoder.add_allphone_file("sounds", None)

    def hear(self, sound: bytes) -> Heard:
        """What was said in one piece of speech. If it is no phrase, it may still be `stop`: in noise, that short word
        alone is found where other phrases would have hidden it."""
        sound = _with_a_floor(sound)
        best = self._fit("phrases", sound, self._likeness)
        if best.sentence:
            return best
        stop = self._fit("stop", sound, STOP_LIKENESS)
        return stop if stop.sentence else best

    def _fit(self, search: str, sound: bytes, least: float) -> Heard:
        spoken = [piece for piece in self._decode(search, sound) if piece[0] not in _MARKS]
        words = " ".join(word for word, *_ in spoken if word not in _FILLERS)
        if words not in self._grammar.sentences:  # of a phrase that was not finished, too
            return Heard("", words, -math.inf)
        sounds = self._decode("sounds", sound)
        likeness = min(_likeness(*word, sounds) for word in spoken)
        return Heard(self._grammar.sentences[words] if likeness >= least else "", words, likeness)

    def _decode(self, search: str, sound: bytes) -> list[Piece]:
        """Words or sounds, each with its first frame, its last one, and the logarithm of its likelihood."""
        decoder = self._decoder
        decoder.activate_search(search)
        decoder.start_utt()
        decoder.process_raw(sound, full_utt=True)
        decoder.end_utt()
        found = decoder.hyp()
        if not found or not found.score:
            return []
        pieces = [(s.word, s.start_frame, s.end_frame, _log(s.ascore)) for s in decoder.seg()]
        # The searches scale the scores of their pieces differently, but not that of the whole.
        scale = math.log(found.score) * _SCORE_SCALE / (sum(score for *_, score in pieces) or 1.0)
        return [(re.sub(r"\(\d+\)$", "", word), first, last, scale * score) for word, first, last, score in pieces]


def _with_a_floor(sound: bytes) -> bytes:
    """With faint noise: the model was made from speech in rooms, and likes no sound that is perfectly silent between
    its words."""
    samples = np.frombuffer(sound, "<i2").astype(float)
    level = float(np.sqrt(np.mean(samples**2))) * _FLOOR
    return as_bytes(samples + np.random.default_rng(1).normal(scale=level, size=len(samples)))


def _log(likelihood: float) -> float:
    return math.log(max(likelihood, sys.float_info.min))


def _likeness(word: str, first: int, last: int, score: float, sounds: list[Piece]) -> float:
    """See LIKENESS."""
    best = sum(s / (b - a + 1) * max(min(b, last) - max(a, first) + 1, 0) for _, a, b, s in sounds)
    return (score - best) / (last - first + 1)


def utterances(sound: BinaryIO) -> Iterator[bytes]:
    """The pieces of a sound in which somebody speaks, each as soon as it is over, with a little silence around."""
    vad = pocketsphinx().Vad(mode=2)
    size = vad.frame_bytes
    around = round(PAUSE / vad.frame_length)
    before: deque[tuple[bytes, bool]] = deque(maxlen=around)
    spoken: list[bytes] = []
    silent = 0
    while len(frame := sound.read(size)) == size:
        speech = vad.is_speech(frame)
        if spoken:
            spoken.append(frame)
            silent = 0 if speech else silent + 1
            if silent >= around or len(spoken) * vad.frame_length > MAX_SECONDS:
                yield b"".join(spoken)
                spoken = []
        else:
            before.append((frame, speech))
            if sum(speech for _, speech in before) * vad.frame_length >= SHORTEST:
                spoken, silent = [frame for frame, _ in before], 0
                before.clear()
    if spoken:
        yield b"".join(spoken)


def sound_file(path: Path) -> BinaryIO:
    """A WAV file of 16 bits as it is needed here. Raises RobotControlError: it is none."""
    try:
        with wave.open(str(path)) as file:
            rate, channels, width = file.getframerate(), file.getnchannels(), file.getsampwidth()
            data = file.readframes(file.getnframes())
    except (wave.Error, EOFError, OSError) as error:
        raise RobotControlError(f"sound file {path}: {error}", expected="a WAV file") from None
    if width != 2:
        raise RobotControlError(f"sound file {path}", expected="16 bits for each sample", got=f"{8 * width}")
    samples = np.frombuffer(data, np.int16).reshape(-1, channels).mean(axis=1)
    return io.BytesIO(as_bytes(resampled(samples, rate)))


def resampled(samples: Samples, rate: int) -> Samples:
    """From `rate` to RATE."""
    common = math.gcd(rate, RATE)
    return samples if rate == RATE else resample_poly(samples, RATE // common, rate // common)


def as_bytes(samples: Samples) -> bytes:
    """As 16 bits each."""
    return np.clip(np.rint(samples), -32768, 32767).astype("<i2").tobytes()
