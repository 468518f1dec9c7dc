"""Fakes and helpers for users' own tests."""
