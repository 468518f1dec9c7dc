"""Random tests run the same examples each time, and may wait for a compilation."""

from hypothesis import settings

settings.register_profile("deterministic", derandomize=True, deadline=None)
settings.load_profile("deterministic")
