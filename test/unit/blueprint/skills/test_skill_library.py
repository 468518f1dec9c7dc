"""What the library does to texts; the rest of it needs a control server: test/lockstep/blueprint/test_executor.py."""

from __future__ import annotations

from robot_rt_control.blueprint.skills.skill_library import pinned_text


def test_N37_used_programs_get_their_versions_in_the_text() -> None:
    text = """
actions:
  a: {use: touch, exits: {contact: b}}
  b:
    use: "touch"  # again
  c: {use: touch@1, exits: {}}
  d: {use: unknown}
  e: {parts: arm, use: 'trace_edge'}
  touch: {reuse: touch}
"""
    assert pinned_text(text, {"touch": 3, "trace_edge": 1}).splitlines()[2:] == [
        "  a: {use: touch@3, exits: {contact: b}}",
        "  b:",
        '    use: "touch@3"  # again',
        "  c: {use: touch@1, exits: {}}",
        "  d: {use: unknown}",
        "  e: {parts: arm, use: 'trace_edge@1'}",
        "  touch: {reuse: touch}",
    ]


def test_N37_only_what_is_used_is_pinned_however_it_is_written() -> None:
    text = """
description: |
  Write it so:
  use: touch
actions:
  é: {"use": touch}
  a: {? use : touch}
  b: {use: &name touch}
  c: {use: *name}
  d: &state {"use": "to\\u0075ch"}
  e: *state
  f: {type: hold, parts: use, parameters: {use: touch}}
"""
    assert pinned_text(text, {"touch": 3}).splitlines()[2:] == [
        "  Write it so:",
        "  use: touch",
        "actions:",
        '  é: {"use": touch@3}',
        "  a: {? use : touch@3}",
        "  b: {use: &name touch@3}",
        "  c: {use: touch@3}",
        '  d: &state {"use": touch@3}',
        "  e: *state",
        "  f: {type: hold, parts: use, parameters: {use: touch}}",
    ]
