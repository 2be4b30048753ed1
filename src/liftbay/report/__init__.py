"""Builds one Report value from results; renderers make text and JSON of it."""
