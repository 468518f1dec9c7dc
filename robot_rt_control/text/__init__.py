"""YAML: reading it with limits and lines, checking it by schemas, writing it."""
