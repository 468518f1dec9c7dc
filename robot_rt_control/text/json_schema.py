"""JSON Schemas of documents, for editors: generated from the models that read them, and shipped with the package."""

from __future__ import annotations

import ast
import functools
import inspect
import json
import textwrap
from itertools import pairwise
from pathlib import Path
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from robot_rt_control.text.schema import Model


def json_schema(model: type[Model]) -> dict[str, Any]:
    """The JSON Schema of a document."""
    schema = model.model_json_schema(schema_generator=_Described)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **_without_titles(schema)}


def write_json_schema(model: type[Model], path: Path) -> None:
    """Write the JSON Schema of a document."""
    path.write_text(json.dumps(json_schema(model), indent=2) + "\n", encoding="utf-8")


@functools.cache
def descriptions_of_keys(model: type[Model]) -> dict[str, str]:
    """The text below each attribute of a model that has one, by the attribute's name. The first call for a model parses
    its source."""
    texts: dict[str, str] = {}
    for each in reversed(model.__mro__):
        if issubclass(each, Model):
            try:
                source = inspect.getsource(each)
            except OSError:  # made by `create_model`: its fields carry their descriptions
                continue
            (tree,) = ast.parse(textwrap.dedent(source)).body
            assert isinstance(tree, ast.ClassDef)
            for attribute, text in pairwise(tree.body):
                if isinstance(attribute, ast.AnnAssign) and isinstance(attribute.target, ast.Name):
                    match text:
                        case ast.Expr(value=ast.Constant(value=str(words))):
                            texts[attribute.target.id] = inspect.cleandoc(words)
    return texts


class _Described(GenerateJsonSchema):
    """Describes each key by the text below its attribute.

    pydantic's `use_attribute_docstrings` would parse the source of each model in each process that reads a document.
    """

    def model_schema(self, schema: Any) -> dict[str, Any]:
        """The JSON Schema of one model."""
        described = super().model_schema(schema)
        kind = schema["cls"]
        for name, text in descriptions_of_keys(kind).items():
            field = kind.model_fields.get(name)
            key = described.get("properties", {}).get((field and field.alias) or name)
            if key is not None:
                key.setdefault("description", text)
        return described


def _without_titles(value: Any) -> Any:
    """Remove titles that only repeat the key and would clutter an editor."""
    if isinstance(value, dict):
        kept = {k: v for k, v in value.items() if k != "title" or not isinstance(v, str) or v.startswith("robot_rt")}
        return {k: _without_titles(v) for k, v in kept.items()}
    return [_without_titles(v) for v in value] if isinstance(value, list) else value
