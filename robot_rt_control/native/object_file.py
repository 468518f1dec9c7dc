"""Reads what a native object file (ELF, 64 bit, little endian) defines, needs, and could write.

Format: System V ABI, chapter 4, "Object Files" (section header table, symbol table).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")

_SYMBOL_TABLE = 2  # SHT_SYMTAB
_AT_START = (14, 15, 16)  # SHT_INIT_ARRAY, SHT_FINI_ARRAY, SHT_PREINIT_ARRAY
_WRITE_AND_ALLOCATE = 3  # SHF_WRITE, SHF_ALLOC
_UNDEFINED, _COMMON = 0, 0xFFF2  # SHN_UNDEF, SHN_COMMON
_GLOBAL, _WEAK = 1, 2  # STB_GLOBAL, STB_WEAK
_FUNCTION, _VARIABLES = 2, (1, 5, 6)  # STT_FUNC; STT_OBJECT, STT_COMMON, STT_TLS
_MADE_BY_LINKER = "_GLOBAL_OFFSET_TABLE_"
_OLD_AT_START = (".ctors", ".dtors")
_CONSTANT = ".data.rel.ro"
"""Begin of the name of sections that are written once, as the object is loaded: constants with addresses."""


@dataclass(frozen=True)
class ObjectSymbols:
    """The names of an object file's symbols."""

    defined: frozenset[str]
    needed: frozenset[str]
    """Undefined symbols: the process that loads the object must provide them."""
    functions: frozenset[str] = frozenset()
    """Defined functions that other objects could call."""
    writable: frozenset[str] = frozenset()
    """Variables outside of functions, or sections of such without names."""
    at_start: bool = False
    """Whether it contains code that is to run as it is loaded."""


def object_symbols(data: bytes) -> ObjectSymbols:
    """The symbols of an object file.

    Raises:
        ValueError: not an ELF object of 64 bits, or damaged.
    """
    if data[:6] != b"\x7fELF\x02\x01":
        raise ValueError(f"not a 64-bit little-endian ELF object (it begins with {data[:6]!r})")
    try:
        return _read(data)
    except (struct.error, IndexError, ValueError) as error:
        raise ValueError(f"damaged ELF object of {len(data)} bytes: {error}") from error


def _read(data: bytes) -> ObjectSymbols:
    header = _HEADER.unpack_from(data)
    table_offset, entry_size, n_sections, names_section = header[6], header[11], header[12], header[13]
    sections = [_SECTION.unpack_from(data, table_offset + i * entry_size) for i in range(n_sections)]

    def text(names: int, position: int) -> str:
        start = sections[names][4]
        return data[start + position : data.index(b"\0", start + position)].decode()

    writable = {
        i: text(names_section, name)
        for i, (name, kind, flags, _, _, size, *_) in enumerate(sections)
        if flags & _WRITE_AND_ALLOCATE == _WRITE_AND_ALLOCATE and size and kind not in _AT_START
    }
    at_start = any(kind in _AT_START and size for _, kind, _, _, _, size, *_ in sections)
    at_start |= any(name.startswith(_OLD_AT_START) for name in writable.values())
    writable = {i: name for i, name in writable.items() if not name.startswith((_CONSTANT, *_OLD_AT_START))}
    defined: set[str] = set()
    needed: set[str] = set()
    functions: set[str] = set()
    written: set[str] = set()
    named: set[int] = set()
    for _, kind, _, _, offset, size, link, _, _, symbol_size in sections:
        if kind != _SYMBOL_TABLE:
            continue
        for position in range(offset, offset + size, symbol_size):
            name_offset, info, _, section, _, _ = _SYMBOL.unpack_from(data, position)
            name = text(link, name_offset) if name_offset else ""
            if not name:
                continue
            (needed if section == _UNDEFINED else defined).add(name)
            if section != _UNDEFINED and info & 15 == _FUNCTION and info >> 4 in (_GLOBAL, _WEAK):
                functions.add(name)
            if section == _COMMON or (section in writable and info & 15 in _VARIABLES):
                written.add(name)
                named.add(section)
    written |= {name for section, name in writable.items() if section not in named}
    return ObjectSymbols(
        frozenset(defined),
        frozenset(needed - defined - {_MADE_BY_LINKER}),
        frozenset(functions),
        frozenset(written),
        at_start,
    )
