"""Runs cases: plan → run → attempt → drive → collect → judge → decide. Knows ports, no adapter."""
