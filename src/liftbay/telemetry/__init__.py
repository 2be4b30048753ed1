"""Spans of OpenTelemetry: decoded, correlated with trials, and read by dialects into an EvalTrace."""
