"""Runs: one action or one program in a session of its own; recovery is one of them."""
