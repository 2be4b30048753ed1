"""Runs as jobs: submit, work, cancel, resume, decide anew."""
