"""Programs by name, checked, added to sessions and watched."""
