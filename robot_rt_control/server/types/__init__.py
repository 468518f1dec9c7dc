"""The action types that a control server knows, and how they are loaded, replaced and unloaded."""
