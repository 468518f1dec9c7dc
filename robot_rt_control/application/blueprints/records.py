"""What a run's records say, in a line each: for `log`, and for a run that is rehearsed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def shown_record(record: Mapping[str, Any]) -> str:
    """One line; empty: nothing that a person asks for."""
    text = _said(record)
    return f"{record['time']:10.3f} {record['tick']:9d}  {text}" if text else ""


def _said(record: Mapping[str, Any]) -> str:
    path = record.get("path", "")
    match record["what"]:
        case "node":
            attempt = f", attempt {record['attempt']}" if record["attempt"] > 1 else ""
            visit = f" (visit {record['visit']}{attempt})" if record["visit"] > 1 or attempt else ""
            return f"{_indent(path)}{path}{visit}"
        case "start":
            given = ", ".join(f"{name}={value}" for name, value in record["arguments"].items())
            parts = ", ".join(f"{role}={part}" for role, part in record["parts"].items())
            return f"{_indent(path)}  {record['skill']} {' '.join(filter(None, (given, parts)))}".rstrip()
        case "ended":
            outputs = ", ".join(f"{name}={value}" for name, value in record["outputs"].items())
            cut = f" (cut: {record['cut']})" if record.get("cut") else ""
            return f"{_indent(path)}{path}: {_outcome(record)}{cut}" + (f"  {outputs}" if outputs else "")
        case "decided" if record["judged"]:
            decided = record["judged"][-1]
            values = ", ".join(f"{name} = {'unknown' if v is None else v}" for name, v in decided["values"].items())
            return f"{_indent(path)}  → {record.get('go') or record.get('end')}" + (f"  ({values})" if values else "")
        case "question":
            return f"{_indent(path)}{path} asks: {record['text']} ({' / '.join(record['answers'])})"
        case "log":
            return f"{_indent(path)}{path}: {record['text']}"
        case "set":
            return f"{_indent(path)}{path}: {', '.join(f'{name} := {v}' for name, v in record['values'].items())}"
        case "reaction":
            return f"{_indent(path)}reaction {record['when']}: {record['go']}"
        case "command":
            shown = ("number", "command", "source", "refused", "what", "tick", "time")
            given = ", ".join(f"{key}={value}" for key, value in record.items() if key not in shown and value)
            refused = f" refused: {record['refused']}" if record.get("refused") else ""
            return f"{record['command'].lower()} by {record['source'] or '?'} {given}{refused}".rstrip()
        case "end":
            return f"ended: {_outcome(record)}"
        case "decided" | "call":
            return ""
        case other:
            rest = {key: value for key, value in record.items() if key not in ("what", "tick", "time") and value}
            return f"{other.replace('_', ' ')} {', '.join(f'{key}={value}' for key, value in rest.items())}".rstrip()


def _outcome(record: Mapping[str, Any]) -> str:
    return f"{record['result']}: {record['reason']}" if record.get("reason") else str(record["result"])


def _indent(path: str) -> str:
    return "  " * path.count("/")
