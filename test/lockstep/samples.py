"""How much a random or exhaustive test tries: a sample in `./run test`, the whole in `./run prove` (`-m long`).

ROUNDS = tries(40, whole=300)

@pytest.mark.sampled
def test_whatever_happens(): ... ROUNDS ...
"""

from __future__ import annotations

_whole = False


def try_the_whole() -> None:
    """From now on, `tries` gives the whole. Called before tests are collected."""
    global _whole
    _whole = True


def tries(sample: int, *, whole: int) -> int:
    """How many rounds, examples or seeds a test with the marker `sampled` tries."""
    return whole if _whole else sample
