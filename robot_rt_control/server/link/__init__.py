"""The control server's end of the channel: commands, answers, installations, heartbeats."""
