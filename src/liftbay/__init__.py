"""liftbay puts an AI agent on the lift: which module is at fault, how sure that is, and what to fix."""

__version__ = "0.1.0"
