"""Benchmark code that runs in child processes."""
