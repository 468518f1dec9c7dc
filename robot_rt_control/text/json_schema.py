"""JSON Schemas of documents, for editors: generated from the models that read them, and shipped with the package."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from robot_rt_control.text.schema import Model


def json_schema(model: type[Model]) -> dict[str, Any]:
    """The JSON Schema of a document."""
    schema = model.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **_without_titles(schema)}


def write_json_schema(model: type[Model], path: Path) -> None:
    """Write the JSON Schema of a document."""
    path.write_text(json.dumps(json_schema(model), indent=2) + "\n", encoding="utf-8")


def _without_titles(value: Any) -> Any:
    """Remove titles that only repeat the key and would clutter an editor."""
    if isinstance(value, dict):
        kept = {k: v for k, v in value.items() if k != "title" or not isinstance(v, str) or v.startswith("robot_rt")}
        return {k: _without_titles(v) for k, v in kept.items()}
    return [_without_titles(v) for v in value] if isinstance(value, list) else value
