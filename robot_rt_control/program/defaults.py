"""Defaults, in one place. The same table stands in docs/semantics.md."""

PERIOD_S = 0.001
LEASE_S = 1.0
"""A session whose client has not renewed it for so long is lost; 0 means: until closed."""
SERVER_NATIVE_SILENCE_S = 0.2
"""Silence of the server's GIL-free heartbeat after which it counts as hung."""
SERVER_PYTHON_SILENCE_S = 2.0
"""Silence of the server's Python heartbeat after which it counts as hung."""
MAX_AGE_TICKS_COMPILED = 1
MAX_AGE_TICKS_DRIVER = 50
REST_SPEED_FRACTION = 0.01
"""At rest: every joint's commanded and measured speed below this fraction of its limit."""
REST_TIME_S = 0.5
"""Aim: at rest within this time from full speed, with the default limits."""
