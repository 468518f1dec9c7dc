"""What the builder has answered for this package's own action types, by a digest of the sources.

To find a type's native code by its key, its real-time code is imported, checked and digested: two seconds for all
types of this package, at each start of a control server. If no file of the package has changed since, the answer is
the same. So it is kept, under a digest of all files of the package and of everything else that decides about it. After
any change, if only of a comment, the builder looks for each key again.

Types of users are not kept: importing their files may do anything, such as read another file.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from robot_rt_control.definitions import native_code
from robot_rt_control.definitions.declared_type import DeclaredType
from robot_rt_control.native.cache_folder import cache_root, own_folder, read_code
from robot_rt_control.server.builder.built_type import BuiltType
from robot_rt_control.vocabulary.errors import RobotControlError

_PACKAGE = Path(__file__).resolve().parents[2]
_KEPT_S = 30 * 24 * 3600.0
"""[s] Answers for other sources are removed after this time."""


def read_known(digest: str) -> dict[str, BuiltType]:
    """What is known for these sources, by spec, as far as its native code is in the cache and intact.

    Args:
        digest: see `toolchain.sources_digest`.

    Raises:
        RobotControlError: another user can have written the cache.
    """
    try:
        kept = json.loads(read_code(_file(digest)))
        found = {spec: _built(spec, fields) for spec, fields in kept.items()}
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError, KeyError, AttributeError):  # the disk was full, or the machine lost power
        return {}
    return {spec: built for spec, built in found.items() if built is not None}


def _built(spec: str, fields: Mapping[str, object]) -> BuiltType | None:
    """None: its native code, or its measured time, is no longer in the cache."""
    built = BuiltType(
        **{**fields, "declared": DeclaredType.from_json(fields["declared"]), "methods": tuple(fields["methods"])}  # type: ignore[arg-type]  # from JSON; wrong ones raise TypeError
    )
    seconds = native_code.measured(built.key)
    if built.spec != spec or seconds is None or native_code.find(built.key) is None:
        return None
    return replace(built, compute_time=seconds, cached=True, seconds=0.0)


def keep(digest: str, built: Mapping[str, BuiltType]) -> None:
    """Keep what the builder has answered for these sources. A cache that cannot be written only costs time.

    Args:
        digest: of the sources, from before they were built.
        built: the types of this package, by spec.
    """
    file = _file(digest)
    kept = {spec: {**vars(one), "declared": one.declared.to_json()} for spec, one in built.items()}
    with contextlib.suppress(OSError, RobotControlError):
        own_folder(file.parent, make=True)
        with tempfile.NamedTemporaryFile("w", dir=file.parent, suffix=".part", delete=False) as part:
            json.dump(kept, part)
        os.replace(part.name, file)
        for other in file.parent.iterdir():
            if other != file and time.time() - other.stat().st_mtime > _KEPT_S:
                other.unlink(missing_ok=True)


def _file(digest: str) -> Path:
    return cache_root() / "built" / f"{digest}.json"
