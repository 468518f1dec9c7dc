"""Reads the symbols that a native object file (ELF, 64 bit, little endian) defines and needs.

Format: System V ABI, chapter 4, "Object Files" (section header table, symbol table).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")

_SYMBOL_TABLE = 2  # SHT_SYMTAB
_UNDEFINED = 0  # SHN_UNDEF


@dataclass(frozen=True)
class ObjectSymbols:
    """The names of an object file's symbols."""

    defined: frozenset[str]
    needed: frozenset[str]
    """Undefined symbols: the process that loads the object must provide them."""


def object_symbols(data: bytes) -> ObjectSymbols:
    """The symbols of an object file.

    Raises:
        ValueError: not an ELF object of 64 bits, or damaged.
    """
    if data[:6] != b"\x7fELF\x02\x01":
        raise ValueError(f"not a 64-bit little-endian ELF object (it begins with {data[:6]!r})")
    try:
        return _read(data)
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise ValueError(f"damaged ELF object of {len(data)} bytes: {error}") from error


def _read(data: bytes) -> ObjectSymbols:
    header = _HEADER.unpack_from(data)
    table_offset, entry_size, n_sections = header[6], header[11], header[12]
    sections = [_SECTION.unpack_from(data, table_offset + i * entry_size) for i in range(n_sections)]
    defined: set[str] = set()
    needed: set[str] = set()
    for _, kind, _, _, offset, size, link, _, _, symbol_size in sections:
        if kind != _SYMBOL_TABLE:
            continue
        _, _, _, _, names_offset, names_size, *_ = sections[link]
        names = data[names_offset : names_offset + names_size]
        for position in range(offset, offset + size, symbol_size):
            name_offset, _, _, section, _, _ = _SYMBOL.unpack_from(data, position)
            name = names[name_offset : names.index(b"\0", name_offset)].decode() if name_offset else ""
            if name:
                (needed if section == _UNDEFINED else defined).add(name)
    return ObjectSymbols(frozenset(defined), frozenset(needed - defined))
