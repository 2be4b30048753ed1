"""The parts of the fault bench."""
