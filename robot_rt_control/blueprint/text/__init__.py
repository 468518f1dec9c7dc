"""The text of a blueprint: read, checked, drawn."""
