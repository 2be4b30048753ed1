"""Pure arithmetic: comparison of calls, rates with intervals, paired comparison."""
