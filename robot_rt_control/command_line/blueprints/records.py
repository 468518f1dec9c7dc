"""What a run's records say, in a line each: for `log`, and for a run that is rehearsed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from robot_rt_control.blueprint.graph.plan import ONLY


def shown_records(records: Sequence[Mapping[str, Any]]) -> str:
    """A whole log, from its first record on."""
    skill = next((str(record["skill"]) for record in records if record["what"] == "run"), "")
    return "\n".join(filter(None, (shown_record(record, skill) for record in records)))


def shown_record(record: Mapping[str, Any], skill: str = "") -> str:
    """One line; empty: nothing that a person asks for.

    Args:
        skill: whose run it is; if that is made of one call, its only node has this name for people.
    """
    if skill and record.get("path") == ONLY:
        record = {**record, "path": skill}
    text = _said(record)
    return f"{record['time']:10.3f} {record['tick']:9d}  {text}" if text else ""


def _said(record: Mapping[str, Any]) -> str:
    path = record.get("path", "")
    match record["what"]:
        case "node":
            attempt = f", attempt {record['attempt']}" if record["attempt"] > 1 else ""
            visit = f" (visit {record['visit']}{attempt})" if record["visit"] > 1 or attempt else ""
            title = f" “{record['title']}”" if record.get("title") else ""
            return f"{_indent(path)}{path}{title}{visit}"
        case "run":
            version = record.get("versions", {}).get(record["skill"])
            told = [f"run {record['run']} of {record['skill']}" + (f"@{version}" if version else "")]
            told += [_given(record["parameters"])] if record["parameters"] else []
            told += [f"parts {', '.join(record['parts'])}"] if record["parts"] else []
            told += [f"outputs of {record['outputs_of']}"] if record.get("outputs_of") else []
            return ", ".join([*told, "rehearsed"] if record.get("rehearsed") else told)
        case "start":
            given, parts = _given(record["arguments"]), _given(record["parts"])
            return f"{_indent(path)}  {record['skill']} {' '.join(filter(None, (given, parts)))}".rstrip()
        case "ended":
            outputs = _given(record["outputs"])
            cut = f" (cut: {record['cut']})" if record.get("cut") else ""
            return f"{_indent(path)}{path}: {_outcome(record)}{cut}" + (f"  {outputs}" if outputs else "")
        case "decided" if record["judged"]:
            decided = record["judged"][-1]
            values = ", ".join(f"{name} = {'unknown' if v is None else v}" for name, v in decided["values"].items())
            return f"{_indent(path)}  → {record.get('go') or record.get('end')}" + (f"  ({values})" if values else "")
        case "question":
            titles = record.get("titles", {})
            answers = " / ".join(titles.get(answer, answer) for answer in record["answers"])
            return f"{_indent(path)}{path} asks: {record['text']} ({answers})"
        case "log":
            return f"{_indent(path)}{path}: {record['text']}"
        case "set":
            return f"{_indent(path)}{path}: {', '.join(f'{name} := {v}' for name, v in record['values'].items())}"
        case "reaction":
            return f"{_indent(path)}reaction {record['when']}: {record['go']}"
        case "command":
            shown = ("number", "command", "source", "refused", "what", "tick", "time")
            given = _given({key: value for key, value in record.items() if key not in shown and value})
            refused = f" refused: {record['refused']}" if record.get("refused") else ""
            return f"{record['command'].lower()} by {record['source'] or '?'} {given}{refused}".rstrip()
        case "end":
            return f"ended: {_outcome(record)}"
        case "decided" | "call":
            return ""
        case other:
            rest = {key: value for key, value in record.items() if key not in ("what", "tick", "time") and value}
            return f"{other.replace('_', ' ')} {_given(rest)}".rstrip()


def _given(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={_value(value)}" for name, value in values.items())


def _value(value: Any) -> str:
    """A value as a person writes it."""
    if isinstance(value, Mapping) and set(value) == {"name", "value", "unit"}:  # a parameter
        return f"{value['name']}={_value(value['value'])} {value['unit']}".rstrip()
    if isinstance(value, Mapping):
        return _given(value)
    if isinstance(value, list | tuple) and len(value) == 1:
        return _value(value[0])
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def _outcome(record: Mapping[str, Any]) -> str:
    return f"{record['result']}: {record['reason']}" if record.get("reason") else str(record["result"])


def _indent(path: str) -> str:
    return "  " * path.count("/")
