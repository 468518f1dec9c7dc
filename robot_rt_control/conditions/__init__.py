"""Conditions on state variables: grammar, types, the compiler, and the kernel that the tick runs."""
