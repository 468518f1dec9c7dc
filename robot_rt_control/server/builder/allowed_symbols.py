"""The functions that real-time machine code may call from outside: mathematics and memory."""

from __future__ import annotations

import re
from collections.abc import Iterable

_MATH_NAMES = """
acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs floor fma
fmax fmin fmod frexp hypot ldexp lgamma log log10 log1p log2 logb modf nearbyint nextafter pow remainder
rint round sin sincos sinh sqrt tan tanh tgamma trunc
"""
_MATH = frozenset(_MATH_NAMES.split())
_NUMBA_MATH = frozenset(("numba_frexp", "numba_ldexp", "numba_gamma", "numba_nextafter", "numba_cpow"))
_MEMORY = frozenset(("memcpy", "memset", "memmove", "memcmp", "bcmp"))

_ALLOCATION = (
    "allocates memory (an array, list, container or text is made)",
    "Write loops over fields of fixed size; slices and array expressions make arrays",
)
_REASONS = (
    (r"NRT_|malloc|calloc|realloc|free$|numba_attempt_nocopy_reshape", _ALLOCATION),
    (
        r"_Zn[wa]|_Zd[la]",
        ("allocates memory: a container, a text, or new and delete of C++", "Use arrays of fixed size, std::array"),
    ),
    (
        r"(f|s|sn|v)?(print|scan)f|f?put|f?get|f?write|f?read|f?open|__assert|exit|abort",
        ("calls the system", "Make what is to be seen a state variable, and return a positive status as a failure"),
    ),
    (
        r"_ZSt|_ZNSt|__cxa|__gxx|_Unwind|__dso_handle|atexit",
        ("needs the runtime library of C++", "Use templates that need none, and constant initial values"),
    ),
    (
        r"numba_xx|numba_ez_|numba_raw_|cblas|dgemm",
        ("calls the linear algebra library", "Write loops over fields of fixed size"),
    ),
    (r"numba_.*random|numba_.*rnd", ("draws random numbers", "Draw them in prepare_parameters")),
    (
        r"Py|_Py|numba_gil|numba_unpickle|numba_native",
        ("enters Python (printing, objects or exceptions)", "Use numbers, loops, math and functions marked @realtime"),
    ),
)


def is_allowed(symbol: str) -> bool:
    """Whether real-time code may call a function of this name."""
    if symbol.startswith("llvm."):
        return True
    single = symbol.removesuffix("f")
    return bool({symbol, single} & _MATH) or bool({symbol, single} & _NUMBA_MATH) or symbol in _MEMORY


def why_refused(symbols: Iterable[str]) -> list[tuple[str, str]]:
    """(operation, hint) for functions that are not allowed, each reason once."""
    found: dict[tuple[str, str], list[str]] = {}
    for symbol in sorted(symbols):
        reason = next((reason for pattern, reason in _REASONS if re.match(pattern, symbol)), None)
        if reason is None:
            reason = ("calls a function from outside of mathematics", "Only functions of math are real-time safe")
        found.setdefault(reason, []).append(symbol)
    return [(f"{operation}: {', '.join(names)}", hint) for (operation, hint), names in found.items()]
