"""Simulations for tests of the simulated world: each test runs on each engine."""

from simulations import engine, start  # noqa: F401  (fixtures)
