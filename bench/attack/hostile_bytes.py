"""Serialized messages that are none, or almost."""

from __future__ import annotations

from random import Random

_LENGTHS = (b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"\0\0\0\x20", b"\0\0\x10\0", b"\0\0\0\0")
_HEADER = b"\0\1\0\0"
"""Of CDR, little endian."""


def spoiled_bytes(random: Random, good: bytes) -> bytes:
    """What a program that does not serialize as ROS does may publish.

    Args:
        good: a serialized message.
    """
    made = bytearray(good)
    match random.randrange(8):
        case 0:
            return bytes(made[: random.randrange(len(made) + 1)])
        case 1:
            for _ in range(random.randint(1, 8)):
                made[random.randrange(len(made))] = random.randrange(256)
        case 2:  # a length that is absurd
            at = random.randrange(1, max(len(made) // 4, 2)) * 4
            made[at : at + 4] = random.choice(_LENGTHS)
        case 3:
            return random.randbytes(random.choice((0, 1, 3, 4, 5, 100, 5000)))
        case 4:
            return bytes(made) + random.randbytes(random.randint(1, 1000))
        case 5:  # another encoding
            made[:4] = random.randbytes(4)
        case 6:  # texts that are no UTF-8
            return _HEADER + b"\5\0\0\0\xff\xfe\xc3\x28\0" * random.randint(1, 40)
        case 7:
            return _HEADER + random.choice(_LENGTHS) * random.randint(1, 200)
    return bytes(made)
