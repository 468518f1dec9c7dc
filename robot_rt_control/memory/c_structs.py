"""Record types as C structs: C11 and C++17, held to NumPy's layout by static assertions."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from types import MappingProxyType

import numpy as np

from robot_rt_control.vocabulary.errors import DefinitionError
from robot_rt_control.vocabulary.names import NAME_PATTERN

INCLUDES = "#include <assert.h>\n#include <stddef.h>\n#include <stdint.h>\n"
"""What the structs need."""

_TYPES = {
    **{"f8": "double", "f4": "float", "b1": "uint8_t", "S1": "char"},
    **{f"{sign}{size}": f"{'u' * (sign == 'u')}int{8 * size}_t" for sign in "iu" for size in (1, 2, 4, 8)},
}
_KEYWORDS = """
alignas alignof and and_eq asm assert auto bitand bitor bool break case catch char char16_t char32_t class compl const
const_cast constexpr continue decltype default delete do double dynamic_cast else enum errno explicit export extern
false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr offsetof operator or
or_eq private protected public register reinterpret_cast restrict return short signed sizeof static static_assert
static_cast struct switch template this thread_local throw true try typedef typeid typename typeof union unsigned using
virtual void volatile wchar_t while xor xor_eq NULL
"""
_NOT_NAMES = frozenset(_KEYWORDS.split())
"""Words of C or C++, and macros of `INCLUDES` and of the math library that authors include."""


def c_name(name: str, of: str) -> str:
    """A name of Python's as one of C's: words of C and C++ get an underscore at the end.

    Args:
        of: what has the name, for messages.

    Raises:
        DefinitionError: C has no such names.
    """
    if not re.fullmatch(NAME_PATTERN, name) or "__" in name:
        expected = "letters, digits and single underscores, not beginning with a digit: C has no other names"
        raise DefinitionError(f"{of}: name", expected=expected, got=repr(name))
    return f"{name}_" if name in _NOT_NAMES else name


class CStructs:
    """The structs of one header. Each record type stands in it once, before those that contain it.

    Attributes:
        text: what has been added so far; it needs `INCLUDES` before it.
    """

    def __init__(self) -> None:
        self.text = ""
        self._names: dict[tuple[str, np.dtype], str] = {}

    def add(
        self,
        name: str,
        dtype: np.dtype,
        *,
        writable: Container[str] | None = None,
        notes: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Add a struct, and those of the records in it, which are named after their place: `Part_chain`.

        Args:
            name: of the struct.
            dtype: a record type.
            writable: fields that may be written; the others are const. None: all.
            notes: field → comment.

        Raises:
            DefinitionError: a name or type that C does not have, or a layout that a C compiler would not give it.
        """
        assert dtype.fields is not None  # a record type
        lines, checks, end = [], [], 0
        aligned = self._alignment(dtype)
        for field in dtype.names or ():
            inner, offset = dtype.fields[field][:2]
            base, shape = inner.subdtype if inner.subdtype is not None else (inner, ())
            if base.kind == "S":
                base, shape = np.dtype("S1"), (*shape, base.itemsize)
            if inner.itemsize == 0:
                continue  # C has no empty arrays
            spelled = c_name(field, f"{name}, field {field!r}")
            constant = "const " if writable is not None and field not in writable else ""
            kind, alignment = self._type(f"{name}_{field}", base, f"{name}, field {field!r}")
            natural = -(-end // alignment) * alignment
            if offset % alignment or offset < natural:
                raise DefinitionError(
                    f"{name}, field {field!r}: offset",
                    expected=f"a multiple of {alignment} bytes, from {natural} on, as a C compiler places it",
                    got=str(offset),
                    hint="Make the record type with align=True, and place records and fields of 8 bytes first",
                )
            if offset > natural:
                lines.append(f"char reserved_{end}_[{offset - end}];")
            note = f"  /* {notes[field].replace('*/', '* /')} */" if notes.get(field) else ""
            lines.append(f"{constant}{kind} {spelled}{''.join(f'[{n}]' for n in shape)};{note}")
            checks.append(f'static_assert(offsetof({name}, {spelled}) == {offset}, "{name}.{spelled}");')
            end = offset + inner.itemsize
        if dtype.itemsize > -(-end // aligned) * aligned:
            lines.append(f"char reserved_{end}_[{dtype.itemsize - end}];")
        body = "".join(f"    {line}\n" for line in lines)
        checks.append(f'static_assert(sizeof({name}) == {dtype.itemsize}, "size of {name}");')
        self.text += f"\ntypedef struct {name} {{\n{body}}} {name};\n" + "\n".join(checks) + "\n"

    def _type(self, name: str, dtype: np.dtype, of: str) -> tuple[str, int]:
        """C's name of the type of a field's elements, and its alignment [bytes]; a record gets a struct."""
        if dtype.fields is None:
            kind = _TYPES.get(dtype.str[1:]) if dtype.isnative else None
            if kind is None:
                expected = "a number of the processor's own byte order: float, int or bool"
                raise DefinitionError(f"{of}: type", expected=expected, got=str(dtype))
            return kind, dtype.alignment
        alignment = self._alignment(dtype)
        known = (str(dtype), dtype)
        if known not in self._names:
            self._names[known] = c_name(name, of)
            self.add(self._names[known], dtype)
        return self._names[known], alignment

    def _alignment(self, dtype: np.dtype) -> int:
        base = dtype.subdtype[0] if dtype.subdtype is not None else dtype
        if base.fields is None:
            return base.alignment
        return max((self._alignment(field[0]) for field in base.fields.values() if field[0].itemsize), default=1)
