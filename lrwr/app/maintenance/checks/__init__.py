"""The doctor's checks, one module for each group of parts."""
