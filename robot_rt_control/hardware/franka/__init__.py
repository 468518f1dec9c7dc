"""Franka's robots over the FCI, by pylibfranka: the plugin `franka`."""
