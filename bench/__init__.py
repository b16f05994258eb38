"""Measures lrwr on real manuscripts, beside bare engines in the same run."""
