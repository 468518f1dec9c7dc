"""Writes YAML that `Document` reads as the same data."""

from __future__ import annotations

import re
from typing import Any

import yaml

from robot_rt_control.text.scalar import parse_scalar


def dump(data: Any) -> str:
    """The YAML text of dicts, lists and scalars, for people."""
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=None, width=110)


_BOOL = "tag:yaml.org,2002:bool"


class _Dumper(yaml.SafeDumper):
    """Quotes every text that would be read as something else."""

    # `on`, `yes` and the like are texts (scalar.py), and keys of blueprints: they need no quotes.
    yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in found if tag != _BOOL]
        for first, found in yaml.SafeDumper.yaml_implicit_resolvers.items()
    }

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    ambiguous = not isinstance(parse_scalar(text), str)
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"' if ambiguous else None)


_Dumper.add_representer(str, _represent_text)
_Dumper.add_implicit_resolver(_BOOL, re.compile("true|false"), list("tf"))
