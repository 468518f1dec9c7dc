"""The control server: sessions, definitions, preparation of parameters, events, and the builder beside it."""
