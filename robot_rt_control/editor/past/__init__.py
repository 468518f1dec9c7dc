"""Recordings in the browser: moved through tick by tick, without a workcell."""
