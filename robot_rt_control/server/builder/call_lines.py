"""At which lines of the source optimized code calls certain functions, read off the debug information of LLVM."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

_FUNCTION = re.compile(r'^define [^@\n]*@"?([^"(\n]+)"?\([^\n]*\{\n(.*?)^\}', re.MULTILINE | re.DOTALL)
_CALL = re.compile(r'\b(?:call|invoke) [^@\n]*@"?([^"(\n]+)"?\(')
_AT = re.compile(r"!dbg !(\d+)")
_LOCATION = re.compile(r"^!(\d+) = (?:distinct )?!DILocation\(line: (\d+)[^\n]*?scope: !(\d+)([^\n]*)\)$", re.MULTILINE)
_INLINED = re.compile(r"inlinedAt: !(\d+)")
_SCOPE = re.compile(
    r"^!(\d+) = (?:distinct )?!DI(?:Subprogram|LexicalBlock)\([^\n]*?\bfile: !(\d+)[^\n]*\)$", re.MULTILINE
)
_FILE = re.compile(r'^!(\d+) = !DIFile\(filename: "([^"]*)", directory: "([^"]*)"', re.MULTILINE)


def lines_calling(llvm: str, symbols: Iterable[str], file: str) -> dict[str, int]:
    """The first line of a file from which each function is called, directly or through functions without lines.

    Args:
        llvm: text of a module that was compiled with debug information.
        symbols: functions to look for.
        file: the source file whose lines are wanted.

    Returns:
        symbol → line; symbols whose calls lie at no line of the file are missing.
    """
    bodies = {name: body.splitlines() for name, body in _FUNCTION.findall(llvm)}
    calls = {name: {c for line in body for c in _CALL.findall(line)} for name, body in bodies.items()}
    line_of = _lines_in(llvm, file)
    found: dict[str, int] = {}
    for symbol in symbols:
        reaching = {symbol}
        while more := {name for name, called in calls.items() if called & reaching} - reaching:
            reaching |= more
        lines = [
            line_of[at.group(1)]
            for body in bodies.values()
            for line in body
            if (call := _CALL.search(line)) and call.group(1) in reaching
            if (at := _AT.search(line)) and at.group(1) in line_of
        ]
        if lines:
            found[symbol] = min(lines)
    return found


def _lines_in(llvm: str, file: str) -> dict[str, int]:
    """Number of a location in the debug information → line of the file, through what was inlined there."""
    wanted = Path(file).resolve()
    files = {n for n, name, folder in _FILE.findall(llvm) if (Path(folder) / name).resolve() == wanted}
    scopes = {n for n, of in _SCOPE.findall(llvm) if of in files}
    locations = {n: (int(line), scope, rest) for n, line, scope, rest in _LOCATION.findall(llvm)}
    lines: dict[str, int] = {}
    for start in locations:
        at: str | None = start
        while at is not None and at in locations:
            line, scope, rest = locations[at]
            if scope in scopes and line > 0:
                lines[start] = line
                break
            inlined = _INLINED.search(rest)
            at = inlined.group(1) if inlined else None
    return lines
