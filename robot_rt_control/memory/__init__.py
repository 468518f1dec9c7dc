"""The loop's memory: its layout, access to it, shared segments, the channel, wake-ups and the clock."""
