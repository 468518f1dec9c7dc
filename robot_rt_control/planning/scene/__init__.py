"""The scene of a task: its bodies, faces and shapes, as the engine takes them."""
