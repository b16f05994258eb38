"""Benchmarks of lrwr on real manuscripts, next to bare engines in the same run."""
