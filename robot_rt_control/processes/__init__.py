"""Processes beside this one: how they are started, limited and ended, and how one talks to them."""
