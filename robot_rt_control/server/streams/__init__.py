"""Streams between applications and the loop: timing, checks, and the rings."""
