"""Bringing a workcell up: which processes it needs, started, watched, restarted, ended."""
