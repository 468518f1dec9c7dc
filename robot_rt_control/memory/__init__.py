"""The memory that the loop touches: its layout, access to it, shared segments, the channel, wake-ups and the clock."""
