"""Names of reactions, from the server's definitions to a file and back."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from robot_rt_control.memory.layout import staging_dtype
from robot_rt_control.realtime.executor.session_recorder import SessionRecorder
from robot_rt_control.recording.columns import TIME, Column
from robot_rt_control.recording.reaction_names import NamedReaction, named_reactions
from robot_rt_control.recording.tick_index import TickIndex
from robot_rt_control.recording.tick_reader import TickFile
from robot_rt_control.recording.tick_writer import TickWriter
from robot_rt_control.server.tables.table_composer import SessionEntry, TableContents, compose
from robot_rt_control.vocabulary import capacities

STAGING: Any = np.zeros(1, staging_dtype).view(np.recarray)[0]


def named(identity: int, **more: Any) -> NamedReaction:
    rest = {"name": f"near_{identity}", "owner": "down", "event": "zu_nah", "condition": 'd < 0.3 and "ä" == 1'}
    return NamedReaction(**{"identity": identity, **rest, "starts": ("up",), "values": ("d", "speed"), **more})


def staged(present: int, *names: NamedReaction) -> Any:
    """With reactions 1 to `present` in the tables."""
    system = SessionEntry(index=0, identity=1)
    compose(TableContents(version=1, type_keys=["0" * 64], sessions=[system]), [], STAGING, names)
    STAGING.tables.n_reactions = present
    STAGING.tables.reactions["identity"][:present] = range(1, present + 1)
    return STAGING


def recorder() -> SessionRecorder:
    ring: Any = SimpleNamespace(word=lambda name: 0)
    channel: Any = SimpleNamespace()
    return SessionRecorder(channel, channel, ring, lockstep=True, epoch_ns=0, about=dict)


def test_what_the_server_names_is_in_the_file_and_comes_back(tmp_path: Path) -> None:
    it = recorder()
    it.name_reactions(staged(2, named(1), named(2, owner="", starts=(), values=())))
    it.name_reactions(staged(2))
    it.name_reactions(staged(3, named(3)))
    path = tmp_path / "a.mcap"
    about = {"parts": [], "period": 0.001}
    writer = TickWriter(path, about, [Column(name=TIME, integer=True)])
    writer.definitions(7, 7_000_000, b"\n".join(it._names.values()).decode())
    writer.rows(np.array([[7, 7_000_000]], np.int64))
    writer.end(reason="stopped")
    index = TickIndex(TickFile(path))
    found = named_reactions(index.definitions())
    index.close()
    assert found == {1: named(1), 2: named(2, owner="", starts=(), values=()), 3: named(3)}


def test_only_names_of_reactions_in_the_tables_are_kept() -> None:
    it = recorder()
    it.name_reactions(staged(2, named(1), named(2)))
    it.name_reactions(staged(1))
    assert list(it._names) == [1]


def test_those_that_have_no_room_are_left_out_whole() -> None:
    long = "x" * 4000
    n = capacities.REACTION_NAMES_BYTES // 4000 + 10
    it = recorder()
    it.name_reactions(staged(n, *(named(i, condition=long) for i in range(1, n + 1))))
    assert 200 < len(it._names) < n
    assert list(it._names) == list(range(1, len(it._names) + 1))


def test_other_lines_and_later_versions_are_skipped() -> None:
    later = named(4).line().replace(b'"version":1', b'"version":2').decode()
    texts = [later, "no JSON", "[1]", '{"version":1}', f"{named(5).line().decode()}\n{named(6).line().decode()}"]
    assert set(named_reactions(texts)) == {5, 6}
