"""The tables of what can be evaluated: dataset types, metrics, probes, scopes; and what a scope selects."""
