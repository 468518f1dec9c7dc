"""The demonstration that measures what it shows."""
