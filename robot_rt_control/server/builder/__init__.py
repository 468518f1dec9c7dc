"""The builder: checks action types for real-time safety and compiles them to native code, in a process of its own."""
