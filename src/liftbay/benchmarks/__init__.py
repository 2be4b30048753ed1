"""Public benchmarks that liftbay runs."""
