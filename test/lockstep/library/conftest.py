"""Tests that take `simulator` run on both: those that show contact, grip and push."""

from simulations import engine, simulator  # noqa: F401  (fixtures)
