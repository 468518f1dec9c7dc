"""Record types as C structures, for code in C or C++ that shares memory with the loop.

The structures are those of a compiler that aligns as NumPy does; each comes with assertions of its size and of its
fields' offsets, so that a compiler that does not refuses the header.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

_SCALARS = {
    "f8": "double",
    "f4": "float",
    **{f"{kind}{size}": f"{'u' if kind == 'u' else ''}int{8 * size}_t" for kind in "iu" for size in (1, 2, 4, 8)},
}


def c_structs(records: Mapping[str, np.dtype]) -> str:
    """C11 and C++ definitions of record types, in their order; the includer has <stdint.h>, <stddef.h> and <assert.h>.

    Args:
        records: name of the structure → its aligned record type. Nested records come before those that contain them.

    Raises:
        ValueError: a nested record is not among those before it, a field has a type that C lacks, or it has another
            place there: NumPy does not align nested records of type `layout.Record`.
    """
    known: dict[str, np.dtype] = {}
    text = []
    for name, dtype in records.items():
        text += [*_struct(name, dtype, known), ""]
        known[name] = dtype
    return "\n".join(text)


def _struct(name: str, dtype: np.dtype, known: Mapping[str, np.dtype]) -> Iterator[str]:
    if dtype.fields is None or not dtype.isalignedstruct:
        raise ValueError(f"{name}: expected an aligned record type, got {dtype}")
    yield f"typedef struct {name} {{"
    for field in dtype.names or ():
        inner, offset = dtype.fields[field][:2]
        kind, dimensions = _declared(f"{name}.{field}", inner, known)
        if offset % _alignment(inner):
            raise ValueError(
                f"{name}.{field}: expected a multiple of {_alignment(inner)} bytes before it, got {offset}"
            )
        yield f"    {kind} {field}{dimensions};"
    yield f"}} {name};"
    yield f'static_assert(sizeof({name}) == {dtype.itemsize}, "size of {name}");'
    for field in dtype.names or ():
        yield f'static_assert(offsetof({name}, {field}) == {dtype.fields[field][1]}, "{name}.{field}");'


def _alignment(dtype: np.dtype) -> int:
    """[bytes] of a type in C."""
    base = dtype if dtype.subdtype is None else dtype.subdtype[0]
    if base.fields is not None:
        return max(_alignment(field[0]) for field in base.fields.values())
    return 1 if base.kind == "S" else base.itemsize


def _declared(what: str, dtype: np.dtype, known: Mapping[str, np.dtype]) -> tuple[str, str]:
    """The type of a field in C, and what follows the field's name."""
    base, shape = (dtype, ()) if dtype.subdtype is None else dtype.subdtype
    dimensions = "".join(f"[{n}]" for n in shape)
    if base.kind == "S":
        return "char", f"{dimensions}[{base.itemsize}]"
    if base.fields is not None:
        for name, other in known.items():
            if other == base:
                return name, dimensions
        raise ValueError(f"{what}: its record type is not among those before it")
    kind = _SCALARS.get(f"{base.kind}{base.itemsize}")
    if kind is None or not base.isnative:
        raise ValueError(f"{what}: expected one of {', '.join(_SCALARS)}, got {base}")
    return kind, dimensions
