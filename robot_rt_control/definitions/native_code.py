"""The cache of native code that the builder writes and the executor loads, by key.

Each key has a folder, `cache_root()/actions/<key>/`: `action.o`, the machine code of all real-time methods of one
action type, and `metadata.json`. Folders are created atomically, by renaming. `measured.json` is added once the
compute time of the code has been measured.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robot_rt_control.definitions.action_type import REALTIME_METHODS
from robot_rt_control.memory.layout import layout_digest, part_dtype
from robot_rt_control.native.cache_folder import cache_root, own_folder, read_code
from robot_rt_control.native.toolchain import processor
from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError
from robot_rt_control.vocabulary.private_files import private

FORMAT = 2
OBJECT_FILE = "action.o"
METADATA_FILE = "metadata.json"
MEASURED_FILE = "measured.json"


@dataclass(frozen=True, kw_only=True)
class NativeMetadata:
    """The metadata stored beside the machine code of an action type."""

    key: str
    type_name: str
    class_name: str
    source_file: str
    n_slots: int
    symbols: dict[str, str]
    """Real-time method → symbol of its entry; methods that the type does not define are omitted."""
    needed: tuple[str, ...]
    """Functions of the math library that the machine code calls; the executor must provide them."""
    part_layout: int
    state_layout: int
    state_size: int
    parameter_layout: int
    parameter_size: int
    processor: str
    created_by: str
    object_digest: str
    gap_methods: tuple[str, ...] = ()
    """For each stream input, in order, the method that is its own gap function, or an empty text."""
    format: int = FORMAT

    @property
    def methods(self) -> tuple[str, ...]:
        """The real-time methods that the type defines, in the order of the tick."""
        known = (*REALTIME_METHODS, *self.gap_methods)
        return tuple(m for m in known if m in self.symbols)


def folder_of(key: str) -> Path:
    """The folder of the native code of a key.

    Raises:
        DefinitionError: the text is not a key (64 hexadecimal digits).
    """
    if len(key) != 64 or any(c not in "0123456789abcdef" for c in key):
        raise DefinitionError("key of native code", expected="64 hexadecimal digits", got=repr(key))
    return cache_root() / "actions" / key


def store(metadata: NativeMetadata, code: bytes) -> Path:
    """Write a folder of native code atomically."""
    target = folder_of(metadata.key)
    own_folder(target.parent, make=True)
    building = Path(tempfile.mkdtemp(prefix=".building-", dir=target.parent))
    try:
        for name, data in (
            (OBJECT_FILE, code),
            (METADATA_FILE, json.dumps(dataclasses.asdict(metadata), indent=2).encode() + b"\n"),
        ):
            with open(building / name, "xb", opener=private) as file:
                file.write(data)
        try:
            os.rename(building, target)
        except OSError:  # exists already: replace it if damaged; keep it if another process has just stored it
            if find(metadata.key) is None:
                shutil.rmtree(target, ignore_errors=True)
                os.rename(building, target)
    finally:
        shutil.rmtree(building, ignore_errors=True)
    return target


def find(key: str) -> NativeMetadata | None:
    """The metadata of a key whose native code is in the cache and intact, else None."""
    try:
        metadata, _ = read(key)
    except DefinitionError:
        return None
    return metadata


def measured(key: str) -> float | None:
    """The measured longest time of one tick of the action on this machine [s]; None: not measured."""
    try:
        return float(json.loads((folder_of(key) / MEASURED_FILE).read_text())["compute_time"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def store_measured(key: str, compute_time: float) -> None:
    """Store a measured time [s] beside native code in the cache."""
    target = folder_of(key) / MEASURED_FILE
    with tempfile.NamedTemporaryFile("w", dir=target.parent, delete=False) as file:
        json.dump({"compute_time": compute_time}, file)
    os.rename(file.name, target)


def read(key: str) -> tuple[NativeMetadata, bytes]:
    """Metadata and machine code of a key.

    Raises:
        DefinitionError: it is missing or damaged, has another format, layout or processor, or others can write it.
    """
    folder = folder_of(key)
    try:
        status = folder.stat()
        own_folder(folder.parent)
        fields, code = _read_own(folder, key, status)
    except FileNotFoundError as error:
        raise DefinitionError(
            f"native code {key} is not in the cache", expected=f"a folder {folder}", hint="Build the action type again"
        ) from error
    except ValueError as error:
        raise DefinitionError(
            f"native code {key}: {METADATA_FILE} is damaged ({error})", hint=f"Delete {folder} and build it again"
        ) from error
    if fields.get("format") != FORMAT:
        raise DefinitionError(
            f"native code {key} has another format",
            expected=str(FORMAT),
            got=str(fields.get("format")),
            hint=f"Delete {folder} and build it again",
        )
    fields["needed"] = tuple(fields["needed"])
    fields["gap_methods"] = tuple(fields["gap_methods"])
    metadata = NativeMetadata(**fields)
    _check(metadata, code, folder)
    return metadata, code


def _read_own(folder: Path, key: str, status: os.stat_result) -> tuple[dict[str, Any], bytes]:
    """Metadata and machine code. Raises DefinitionError: another user can have written them."""
    hint = f"Delete {folder} and build the action type again"
    if status.st_uid != os.geteuid() or status.st_mode & 0o022:
        raise DefinitionError(
            f"native code {key} could have been written by another user",
            expected=f"{folder} owned by user {os.geteuid()} and writable by no other user",
            got=f"owner {status.st_uid}, mode {status.st_mode & 0o777:o}",
            hint=hint,
        )
    try:
        return json.loads(read_code(folder / METADATA_FILE)), read_code(folder / OBJECT_FILE)
    except RobotControlError as error:
        raise DefinitionError(error.what, expected=error.expected, got=error.got, hint=hint) from error


def _check(metadata: NativeMetadata, code: bytes, folder: Path) -> None:
    again = f"Delete {folder} and build the action type {metadata.type_name!r} again"
    digest = hashlib.sha256(code).hexdigest()
    for what, expected, got in (
        ("the folder's name and the key within", folder.name, metadata.key),
        ("machine code", metadata.object_digest, digest),
        ("layout of the part record", str(layout_digest(part_dtype)), str(metadata.part_layout)),
        ("processor", processor(), metadata.processor),
    ):
        if expected != got:
            raise DefinitionError(
                f"native code {folder.name} of action type {metadata.type_name!r}: {what} does not fit",
                expected=expected,
                got=got,
                hint=again,
            )
