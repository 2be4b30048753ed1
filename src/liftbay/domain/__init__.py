"""Frozen data, no behaviour that needs input or output."""
