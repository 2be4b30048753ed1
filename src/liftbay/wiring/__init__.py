"""The only place that chooses implementations: agents, what stands round them, stores."""
