"""Adapters, one a file: how each kind of agent is asked."""
