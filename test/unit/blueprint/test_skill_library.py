"""What the library does to texts; the rest of it needs a control server: test/lockstep/blueprint/test_executor.py."""

from __future__ import annotations

from robot_rt_control.blueprint.skill_library import pinned_text


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
