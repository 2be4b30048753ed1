"""Faults that the agent can be given on purpose, so that an evaluator can show that it finds them."""
