"""YAML: read with limits as data with lines, checked by schemas, written."""
