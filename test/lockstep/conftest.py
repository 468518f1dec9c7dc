"""For all tests in lockstep."""

from watched_border import border_is_kept  # noqa: F401  (a fixture of all tests here)
