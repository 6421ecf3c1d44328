"""Command-line tools: `residency` and `residency-opt`."""
